import PageFile

/// The messages of one conversation in their order, seen at one moment.
///
/// A thread belongs to the snapshot or writer it came from, and throws `transactionEnded` after it.
/// Reading one is a walk along neighbouring cells: its cost depends on how many messages are asked for, not on how
/// many there are. A conversation that is not there reads as an empty one.
///
/// All slices are oldest first and hold exactly as many messages as asked for, or fewer where the
/// thread ends or sequence numbers are missing. `older` and `newer` of a slice say what lies beyond.
/// All functions throw `invalidCount` for a count below 1, `corruptRecord`, and `storage`.
///
/// No slice reaches across a gap: two messages stand beside each other only if the numbers between
/// theirs are known, see `StoreSnapshot.gaps(in:count:after:)`. Messages without a sequence are no
/// gap and hide none. Reading on from the position that the edge gives begins on the gap's far side;
/// reading on from the message before the gap gives an empty slice with the gap as its edge. Numbers
/// are looked up only where those of neighbours do not follow each other.
public struct Thread: ~Copyable {
  private let view: StoreView
  private let conversation: ConversationID
  /// nil: there is no such conversation.
  private let number: UInt32?

  init(
    _ view: StoreView, _ conversation: ConversationID, _ number: UInt32?
  ) {
    self.view = view
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
  /// Neither side reaches across a gap.
  ///
  /// - Throws: Also `messageNotFound`.
  public func around(_ id: MessageID, count: Int) throws(StoreError) -> Slice {
    guard let position = try position(of: id) else {
      throw .messageNotFound(id, in: conversation)
    }
    return try around(position, count: count)
  }

  /// Where a message is; nil when it is not there.
  func position(of id: MessageID) throws(StoreError) -> Position? {
    guard let number else { return nil }
    return try view.within { () throws(StoreError) in try view.ids.position(of: id, in: number)
    }
  }

  /// The first message of a server time or later, among its neighbours as with `around`.
  ///
  /// Where there is none, the first pending message takes its part, else the end of the thread.
  public func at(_ time: Timestamp, count: Int) throws(StoreError) -> Slice {
    // The least sequence, and a name before all names: the first place of this time.
    let place = Place.acknowledged(time.microseconds, sequence: .min)
    return try around(Position(place, ""), count: count)
  }

  /// The first message that the local member has not read, among its neighbours as with `around`;
  /// the newest messages when all are read.
  ///
  /// It is found from the read mark on, or from the end, whichever is nearer.
  public func firstUnread(count: Int) throws(StoreError) -> Slice {
    let first = try number.flatMap { (number) throws(StoreError) in
      try view.within { () throws(StoreError) in
        var cursor = Cursor(view.source, Schema.conversations)
        return try view.delivery.firstUnread(
          number, try view.conversations.summary(number, &cursor))
      }
    }
    guard let first else { return try tail(count) }
    return try around(first, count: count)
  }

  /// A place among the messages around it, as with a message.
  func around(_ position: Position, count: Int) throws(StoreError) -> Slice {
    try slice(at: position, count: count) { (walk, cursor, key) throws(StoreError) in
      let before = try walk.countBackward(&cursor, from: key, limit: count / 2)
      let taken = try walk.copyForward(
        &cursor, from: key, isSkipped: false, limit: count - before)
      try walk.copyBackward(&cursor, from: key, limit: count - taken)
    }
  }

  private func slice(
    at position: Position, count: Int,
    _ body: (inout ThreadWalk, inout MessageCursor, Bytes) throws(StoreError) -> Void
  ) throws(StoreError) -> Slice {
    guard count >= 1 else { throw .invalidCount(count) }
    guard let number else {
      return SliceBuilder(view, conversation, 0, count: 0)
        .finish(forwardCount: 0, hasOlder: false, hasNewer: false)
    }
    return try view.within { () throws(StoreError) in
      let key = KeyEncoding.key(number, position)
      var cursor = MessageCursor(view)
      var walk = ThreadWalk(
        SliceBuilder(view, conversation, number, count: count), at: position,
        ThreadSequences(view, number))
      try body(&walk, &cursor, key.bytes)
      return try walk.finish(&cursor, from: key.bytes)
    }
  }
}
