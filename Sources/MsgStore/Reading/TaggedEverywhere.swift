import PageFile

/// The messages of all conversations that have one tag, in the order of their times, as of one
/// moment: ``MessageTag/pinned`` and ``MessageTag/starred``.
///
/// They belong to the snapshot or writer that they came from, and throw `transactionEnded` after
/// that has ended. A pending message stands at the time at which it was written. Messages of one
/// time stand together by conversation. Each message costs a few lookups, however many
/// conversations there are. All functions throw `input(.count)` for a count below 1,
/// `corruptRecord`, and `storage`.
public struct TaggedEverywhere: ~Copyable {
  private let view: StoreView
  /// The tag that all messages have.
  public let tag: MessageTag

  init(_ view: StoreView, _ tag: MessageTag) {
    self.view = view
    self.tag = tag
  }

  /// The number of messages with the tag.
  ///
  /// Costs one lookup. Those of a conversation that was deleted count until it is removed from the
  /// store, which happens in the background.
  public var count: Int {
    get throws(StoreError) {
      try view.within { () throws(StoreError) in
        try view.tags.count(tag.fixedNumber ?? 0, in: TagKey.allConversations)
      }
    }
  }

  /// Returns the newest `count` messages.
  public func newest(_ count: Int) throws(StoreError) -> TaggedSlice {
    try before(nil, count: count)
  }

  /// Returns the `count` messages just before a position, or before the end if it is nil.
  public func before(_ position: TaggedPosition?, count: Int) throws(StoreError) -> TaggedSlice {
    try slice(from: position, count, isForward: false)
  }

  /// Returns the `count` messages just after a position, or after the beginning if it is nil.
  public func after(_ position: TaggedPosition?, count: Int) throws(StoreError) -> TaggedSlice {
    try slice(from: position, count, isForward: true)
  }

  private func slice(
    from position: TaggedPosition?, _ count: Int, isForward: Bool
  ) throws(StoreError) -> TaggedSlice {
    let count = try count.validatedRequest()
    return try view.within { () throws(StoreError) in
      var scan = TaggedEverywhereScan(view, tag, from: position, isForward: isForward)
      var found: [(position: TaggedPosition, message: Message)] = []
      var next = try scan.next()
      while let position = next, found.count < count {
        if let message = try scan.message(at: position) { found.append((position, message)) }
        next = try scan.next()
      }
      var isBeyond = false
      if let position {
        var back = TaggedEverywhereScan(
          view, tag, from: position, isForward: !isForward, isInclusive: true)
        isBeyond = try back.next() != nil
      }
      if !isForward { found.reverse() }
      let isMore = next != nil
      return TaggedSlice(
        found.map(\.message), found.first?.position, found.last?.position,
        hasOlder: isForward ? isBeyond : isMore, hasNewer: isForward ? isMore : isBeyond)
    }
  }
}

/// A place among the messages of all conversations that have a tag.
public struct TaggedPosition: Sendable, Hashable {
  let time: Int64
  let conversation: UInt32
  let position: MessagePosition
}

/// A part of the messages of all conversations that have a tag, oldest first.
public struct TaggedSlice: Sendable, RandomAccessCollection {
  private let messages: [Message]
  /// The position to read older messages from; nil at the oldest one.
  public let older: TaggedPosition?
  /// The position to read newer messages from; nil at the newest one.
  public let newer: TaggedPosition?

  init(
    _ messages: [Message], _ first: TaggedPosition?, _ last: TaggedPosition?, hasOlder: Bool,
    hasNewer: Bool
  ) {
    self.messages = messages
    older = hasOlder ? first : nil
    newer = hasNewer ? last : nil
  }

  /// Always 0.
  public var startIndex: Int { 0 }
  /// The number of messages.
  public var endIndex: Int { messages.count }
  /// The message at an index.
  ///
  /// Traps outside `indices`.
  public subscript(index: Int) -> Message { messages[index] }
}

/// A walk along the messages of all conversations that have a tag.
private struct TaggedEverywhereScan: ~Copyable {
  private let view: StoreView
  private let tag: MessageTag
  private let isForward: Bool
  private let isInclusive: Bool
  private let start: TaggedPosition?
  private var cursor: Cursor
  private var isBegun = false
  /// The messages of the entry at the cursor that are left, in the order of the walk reversed.
  private var positions: [TaggedPosition] = []
  /// The conversation that was looked up last.
  private var known: (number: UInt32, id: ConversationID?)?

  init(
    _ view: StoreView, _ tag: MessageTag, from start: TaggedPosition?, isForward: Bool,
    isInclusive: Bool = false
  ) {
    self.view = view
    self.tag = tag
    self.start = start
    self.isForward = isForward
    self.isInclusive = isInclusive
    cursor = Cursor(view.source, Schema.index)
  }

  /// Returns the next message, or nil after the last one.
  mutating func next() throws(StoreError) -> TaggedPosition? {
    while positions.isEmpty {
      guard let (time, conversation) = try nextEntry() else { return nil }
      guard try id(of: conversation) != nil else { continue }
      positions = try messages(at: time, in: conversation)
      if isForward { positions.reverse() }
    }
    return positions.popLast()
  }

  /// Reads the message at a position.
  mutating func message(at position: TaggedPosition) throws(StoreError) -> Message? {
    guard let id = try id(of: position.conversation) else { return nil }
    var builder = SliceBuilder(view, id, position.conversation, count: 1)
    guard try builder.append(at: position.position) else { throw builder.corrupt }
    return builder.finishOne()
  }

  /// Returns the name of a conversation, or nil if it was deleted or has become part of another.
  private mutating func id(of number: UInt32) throws(StoreError) -> ConversationID? {
    if let known, known.number == number { return known.id }
    let isStored = try view.contains(KeyEncoding.key(number), in: Schema.conversations)
    let id = isStored ? try view.conversations.details(number).id : nil
    known = (number, id)
    return id
  }

  /// Returns the time and the conversation of the next entry.
  private mutating func nextEntry() throws(StoreError) -> (time: Int64, conversation: UInt32)? {
    let number = tag.fixedNumber ?? 0
    let prefix = TagKey.count(TagKey.allConversations, number)
    if isBegun {
      try storage { () throws(PageFileError) in
        _ = isForward ? try cursor.next() : try cursor.previous()
      }
    } else {
      isBegun = true
      let edge = isForward ? (time: Int64.min, conversation: UInt32(0)) : (.max, .max)
      let key = TagKey.everywhere(
        number, start?.time ?? edge.time, start?.conversation ?? edge.conversation)
      try storage { () throws(PageFileError) in
        _ = isForward ? try cursor.seek(key.bytes) : try cursor.seekBack(key.bytes)
      }
    }
    guard cursor.isAtCell, cursor.keyHasPrefix(prefix.bytes) else { return nil }
    var key = ByteBuffer(capacity: 32)
    cursor.appendKey(to: &key)
    switch TagKey.parts(key.bytes) {
    case .everywhere(_, let time, let conversation): return (time, conversation)
    // Lies before all entries.
    case .count: return nil
    default: throw view.corrupt(Schema.index, "malformed key (\(key.count) bytes)")
    }
  }

  /// Returns the messages of an entry, in order, that belong to the walk.
  private func messages(
    at time: Int64, in conversation: UInt32
  ) throws(StoreError) -> [TaggedPosition] {
    var found: [TaggedPosition] = []
    for place in [Place.acknowledged(time, sequence: .min), .pending(time, localOrder: .min)] {
      var scan = MomentScan(
        view, conversation, TagMoments(view, in: conversation, tag.fixedNumber ?? 0),
        from: MessagePosition(place, ""), isInclusive: true, isForward: true)
      while try scan.next() {
        let position = try scan.cursor.position()
        guard ThreadMoment(position.place) == ThreadMoment(place) else { break }
        let tagged = TaggedPosition(time: time, conversation: conversation, position: position)
        if isInWalk(tagged) { found.append(tagged) }
      }
    }
    return found
  }

  private func isInWalk(_ tagged: TaggedPosition) -> Bool {
    guard let start, tagged.time == start.time, tagged.conversation == start.conversation else {
      return true
    }
    if tagged.position == start.position { return isInclusive }
    return isForward == (start.position < tagged.position)
  }
}

extension ThreadReader {
  func taggedEverywhere(_ tag: MessageTag) throws(StoreError) -> TaggedEverywhere {
    guard tag == .pinned || tag == .starred else { throw .input(.tag(tag)) }
    return TaggedEverywhere(view, tag)
  }
}
