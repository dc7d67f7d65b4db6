import PageFile

/// The messages of one conversation that have one tag, in the order of the thread, as of one
/// moment.
///
/// They belong to the snapshot or writer that their thread came from, and throw `transactionEnded`
/// after that has ended. They read as a thread of their own: all slices are oldest first, and
/// their `older` and `newer` say if there are more such messages on that side. Sequence gaps do not
/// matter here. Each message costs a lookup of its time and a look at the messages of that time,
/// whatever the length of the thread. All functions throw `input(.count)` for a count below 1,
/// `corruptRecord`, and `storage`.
public struct TaggedMessages: ~Copyable {
  private let view: StoreView
  private let conversation: ConversationID
  /// The numbers of the conversation and the tag; nil if there is no such conversation, the tag's
  /// also if the store does not know its name.
  private let numbers: (conversation: UInt32, tag: UInt8?)?
  /// The tag that all messages have.
  public let tag: MessageTag

  init(
    _ view: StoreView, _ conversation: ConversationID,
    _ numbers: (conversation: UInt32, tag: UInt8?)?, _ tag: MessageTag
  ) {
    self.view = view
    self.conversation = conversation
    self.numbers = numbers
    self.tag = tag
  }

  /// The number of messages with the tag.
  ///
  /// Costs one lookup.
  public var count: Int {
    get throws(StoreError) {
      // Until the local member is known, its mentions are entered in part.
      guard let numbers, let number = numbers.tag, tag != .mention || view.localMember != nil
      else { return 0 }
      return try view.within { () throws(StoreError) in
        try view.tags.count(number, in: numbers.conversation)
      }
    }
  }

  /// Returns the newest `count` messages, pending ones last.
  public func tail(_ count: Int) throws(StoreError) -> MessageSlice {
    try before(.end, count: count)
  }

  /// Returns the `count` messages just before a position, which need not be that of a message with
  /// the tag.
  public func before(_ position: MessagePosition, count: Int) throws(StoreError) -> MessageSlice {
    try slice(at: position, count: count) { (walk) throws(StoreError) in
      try walk.copyBackward(limit: count)
    }
  }

  /// Returns the `count` messages just after a position.
  public func after(_ position: MessagePosition, count: Int) throws(StoreError) -> MessageSlice {
    try slice(at: position, count: count) { (walk) throws(StoreError) in
      try walk.copyForward(isInclusive: false, limit: count)
    }
  }

  /// Returns a message with its neighbours that have the tag, half of the rest before it and half
  /// after it.
  ///
  /// If one side has fewer, the other gives more. A message without the tag is not part of the
  /// slice: its neighbours are those around its place.
  ///
  /// - Throws: `message(.notFound)`, besides the errors of all functions.
  public func around(_ id: MessageID, count: Int) throws(StoreError) -> MessageSlice {
    let position = try numbers.flatMap { (numbers) throws(StoreError) in
      try view.within { () throws(StoreError) in
        try view.ids.position(of: id, in: numbers.conversation)
      }
    }
    guard let position else { throw .message(.notFound, id, in: conversation) }
    return try around(position, count: count)
  }

  /// Returns the first message at or after a server time, with its neighbours as in `around`.
  ///
  /// If there is no such message, the first pending message takes its place, or else the end.
  public func at(_ time: Timestamp, count: Int) throws(StoreError) -> MessageSlice {
    try around(.start(of: time), count: count)
  }

  private func around(
    _ position: MessagePosition, count: Int
  ) throws(StoreError) -> MessageSlice {
    try slice(at: position, count: count) { (walk) throws(StoreError) in
      let before = try walk.countBackward(limit: count / 2)
      try walk.copyForward(isInclusive: true, limit: count - before)
      try walk.copyBackward(limit: count - walk.count)
    }
  }

  private func slice(
    at position: MessagePosition, count: Int,
    _ body: (inout TagWalk) throws(StoreError) -> Void
  ) throws(StoreError) -> MessageSlice {
    let count = try count.validatedRequest()
    guard let numbers, let tag = numbers.tag else {
      return SliceBuilder(view, conversation, 0, count: 0)
        .finish(forwardCount: 0, hasOlder: false, hasNewer: false)
    }
    return try view.within { () throws(StoreError) in
      let builder = SliceBuilder(view, conversation, numbers.conversation, count: count)
      var walk = TagWalk(view, builder, tag, at: position)
      try body(&walk)
      return try walk.makeSlice()
    }
  }
}

/// The walk that builds one slice of messages with a tag.
///
/// Messages from the position on are copied first, then those before it, see `SliceContent`.
private struct TagWalk: ~Copyable {
  private let view: StoreView
  private var builder: SliceBuilder
  private let tag: UInt8
  private let start: MessagePosition
  private var forwardCount = 0
  private var hasOlder: Bool?
  private var hasNewer: Bool?

  init(
    _ view: StoreView, _ builder: consuming SliceBuilder, _ tag: UInt8,
    at start: MessagePosition
  ) {
    self.view = view
    self.builder = builder
    self.tag = tag
    self.start = start
  }

  var count: Int { builder.count }

  private func scan(isInclusive: Bool, isForward: Bool) -> MomentScan<TagMoments> {
    MomentScan(
      view, builder.number, TagMoments(view, in: builder.number, tag), from: start,
      isInclusive: isInclusive, isForward: isForward)
  }

  /// Returns the number of messages before the position, counted up to a limit.
  mutating func countBackward(limit: Int) throws(StoreError) -> Int {
    var scan = scan(isInclusive: false, isForward: false)
    var count = 0
    while count < limit, try scan.next() { count += 1 }
    return count
  }

  mutating func copyForward(isInclusive: Bool, limit: Int) throws(StoreError) {
    var scan = scan(isInclusive: isInclusive, isForward: true)
    hasNewer = try copy(&scan, limit: limit)
    forwardCount = builder.count
    if !isInclusive { hasOlder = try isAny(isInclusive: true, isForward: false) }
  }

  mutating func copyBackward(limit: Int) throws(StoreError) {
    var scan = scan(isInclusive: false, isForward: false)
    hasOlder = try copy(&scan, limit: limit)
    if hasNewer == nil { hasNewer = try isAny(isInclusive: true, isForward: true) }
  }

  /// Appends messages up to a limit; returns true if there are more.
  private mutating func copy(_ scan: inout MomentScan<TagMoments>, limit: Int)
    throws(StoreError) -> Bool
  {
    var count = 0
    while try scan.next() {
      if count == limit { return true }
      count += 1
      if try scan.cursor.appendPacked(to: &builder) { continue }
      guard try builder.append(&scan.cursor) else { throw builder.corrupt }
    }
    return false
  }

  /// Returns true if there is a message with the tag on one side of the position.
  private mutating func isAny(isInclusive: Bool, isForward: Bool) throws(StoreError) -> Bool {
    // Nothing lies beyond the ends of the thread.
    if start.place.phase == (isForward ? .end : .start) { return false }
    var scan = scan(isInclusive: isInclusive, isForward: isForward)
    return try scan.next()
  }

  consuming func makeSlice() throws(StoreError) -> MessageSlice {
    builder.finish(
      forwardCount: forwardCount, hasOlder: hasOlder ?? false, hasNewer: hasNewer ?? false)
  }
}
