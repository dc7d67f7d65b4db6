import PageFile

/// The messages of one conversation in their order, seen at one moment.
///
/// A thread belongs to the snapshot or writer it came from and is of no use after it. Reading one is
/// a walk along neighbouring cells: its cost depends on how many messages are asked for, not on how
/// many there are. A conversation that is not there reads as an empty one.
///
/// All slices are oldest first and hold exactly as many messages as asked for, or fewer where the
/// thread ends. `older` and `newer` of a slice say whether more lie beyond. All functions throw
/// `invalidCount` for a count below 1, `corruptRecord`, and `storage`.
public struct Thread: ~Copyable {
  private let reader: StoreReader
  private let conversation: ConversationID
  /// nil: there is no such conversation.
  private let number: UInt32?

  init(_ reader: StoreReader, _ conversation: ConversationID, _ number: UInt32?) {
    self.reader = reader
    self.conversation = conversation
    self.number = number
  }

  /// The newest messages, pending ones last.
  public func tail(_ count: Int) throws(StoreError) -> Slice { try before(.end, count: count) }

  /// The messages just before a position.
  public func before(_ position: Position, count: Int) throws(StoreError) -> Slice {
    try slice(at: position, count: count) { (walk, cursor, key) throws(StoreError) in
      try walk.copyBackward(&cursor, from: key, limit: count)
    }
  }

  /// The messages just after a position.
  public func after(_ position: Position, count: Int) throws(StoreError) -> Slice {
    try slice(at: position, count: count) { (walk, cursor, key) throws(StoreError) in
      _ = try walk.copyForward(&cursor, from: key, isSkipped: true, limit: count)
    }
  }

  /// A message with half of the rest before it and half after it; where one side has fewer, the
  /// other gives more.
  ///
  /// - Throws: Also `messageNotFound`.
  public func around(_ id: MessageID, count: Int) throws(StoreError) -> Slice {
    guard let number,
      let position = try reader.within({ () throws(StoreError) in
        try reader.position(of: id, in: number)
      })
    else { throw .messageNotFound(id, in: conversation) }
    return try around(position, count: count)
  }

  /// The first message of a server time or later, among its neighbours as with `around`.
  ///
  /// Where there is none, the first pending message takes its part, else the end of the thread.
  public func at(_ time: Timestamp, count: Int) throws(StoreError) -> Slice {
    // The least sequence, and a name before all names: the first place of this time.
    let place = Place.acknowledged(time.microseconds, sequence: .min)
    return try around(Position(place, ""), count: count)
  }

  private func around(_ position: Position, count: Int) throws(StoreError) -> Slice {
    try slice(at: position, count: count) { (walk, cursor, key) throws(StoreError) in
      let before = try walk.countBackward(&cursor, from: key, limit: count / 2)
      let taken = try walk.copyForward(
        &cursor, from: key, isSkipped: false, limit: count - before)
      try walk.copyBackward(&cursor, from: key, limit: count - taken)
    }
  }

  private func slice(
    at position: Position, count: Int,
    _ body: (inout ThreadWalk, inout Cursor, Bytes) throws(StoreError) -> Void
  ) throws(StoreError) -> Slice {
    guard count >= 1 else { throw .invalidCount(count) }
    guard let number else {
      return SliceBuilder(reader, conversation, 0, count: 0)
        .finish(forwardCount: 0, hasOlder: false, hasNewer: false)
    }
    return try reader.within { () throws(StoreError) in
      let key = KeyEncoding.key(number, position)
      var cursor = Cursor(reader.source, Schema.messages)
      var walk = ThreadWalk(reader, conversation, number, count: count)
      try body(&walk, &cursor, key.bytes)
      return try walk.finish(&cursor, from: key.bytes)
    }
  }
}

/// One slice in the making: what a cursor has met, and what lies beyond.
///
/// The cursor is passed in at each step, as it is too large to be moved about.
///
/// Messages from the given key onwards are copied first, then those before it; see `SliceContent`.
private struct ThreadWalk: ~Copyable {
  private var builder: SliceBuilder
  private let prefix: ByteBuffer
  private var forwardCount = 0
  private var hasOlder: Bool?
  private var hasNewer: Bool?

  init(_ reader: StoreReader, _ conversation: ConversationID, _ number: UInt32, count: Int) {
    builder = SliceBuilder(reader, conversation, number, count: count)
    prefix = KeyEncoding.key(number)
  }

  private func isInThread(_ cursor: borrowing Cursor) -> Bool {
    cursor.isAtCell && cursor.keyHasPrefix(prefix.bytes)
  }

  /// How many messages lie before a key, counted up to a limit.
  mutating func countBackward(
    _ cursor: inout Cursor, from key: Bytes, limit: Int
  ) throws(StoreError) -> Int {
    try storage { () throws(PageFileError) in
      _ = try cursor.seek(key)
      var count = 0
      while count < limit, try cursor.previous(), isInThread(cursor) { count += 1 }
      return count
    }
  }

  /// Adds the messages from a key on; with `isSkipped` not the one at the key itself.
  ///
  /// Returns how many there were.
  mutating func copyForward(
    _ cursor: inout Cursor, from key: Bytes, isSkipped: Bool, limit: Int
  ) throws(StoreError) -> Int {
    try storage { () throws(PageFileError) in
      if try cursor.seek(key) && isSkipped {
        hasOlder = true
        _ = try cursor.next()
      }
    }
    while forwardCount < limit, try builder.append(cursor) {
      forwardCount += 1
      try storage { () throws(PageFileError) in _ = try cursor.next() }
    }
    hasNewer = isInThread(cursor)
    return forwardCount
  }

  /// Adds the messages before a key, newest first.
  mutating func copyBackward(
    _ cursor: inout Cursor, from key: Bytes, limit: Int
  ) throws(StoreError) {
    guard limit > 0 else { return }
    try storage { () throws(PageFileError) in
      _ = try cursor.seek(key)
      if hasNewer == nil { hasNewer = isInThread(cursor) }
      _ = try cursor.previous()
    }
    while builder.count < forwardCount + limit, try builder.append(cursor) {
      try storage { () throws(PageFileError) in _ = try cursor.previous() }
    }
    hasOlder = isInThread(cursor)
  }

  /// The slice, after a look at what lies before it if nothing has told yet.
  consuming func finish(_ cursor: inout Cursor, from key: Bytes) throws(StoreError) -> Slice {
    if hasOlder == nil {
      try storage { () throws(PageFileError) in
        _ = try cursor.seek(key)
        _ = try cursor.previous()
      }
      hasOlder = isInThread(cursor)
    }
    return builder.finish(
      forwardCount: forwardCount, hasOlder: hasOlder ?? false, hasNewer: hasNewer ?? false)
  }
}
