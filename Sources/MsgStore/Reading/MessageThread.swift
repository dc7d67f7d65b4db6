import PageFile

/// The messages of one conversation in order, as of one moment.
///
/// A thread belongs to the snapshot or writer that it came from, and throws `transactionEnded`
/// after that has ended. Reading is a walk along neighbouring cells: the cost depends on the number
/// of messages requested, not on the length of the thread. An unknown conversation reads as an
/// empty one.
///
/// All slices are oldest first. A slice has exactly as many messages as requested, or fewer if the
/// thread ends or sequence numbers are missing. Its `older` and `newer` say what lies beyond. All
/// functions throw `input(.count)` for a count below 1, `corruptRecord`, and `storage`.
///
/// No slice reaches across a sequence gap: two messages are neighbours only if the numbers between
/// theirs are known, see `StoreReading.gaps(in:count:after:)`. Messages without a sequence neither
/// form a gap nor hide one. To continue on the gap's far side, read on from the position that the
/// edge gives. Reading on from the message before the gap gives an empty slice with the gap as its
/// edge. Numbers are looked up only where those of neighbours are not consecutive. The same holds
/// where messages were pruned, see ``Retention``.
public struct MessageThread: ~Copyable {
  private let view: StoreView
  private let conversation: ConversationID
  /// nil if there is no such conversation.
  private let number: UInt32?

  init(
    _ view: StoreView, _ conversation: ConversationID, _ number: UInt32?
  ) {
    self.view = view
    self.conversation = conversation
    self.number = number
  }

  /// Returns the newest `count` messages, pending ones last.
  public func tail(_ count: Int) throws(StoreError) -> MessageSlice {
    try before(.end, count: count)
  }

  /// Returns the `count` messages just before a position.
  public func before(_ position: MessagePosition, count: Int) throws(StoreError) -> MessageSlice {
    try slice(at: position, count: count) { (walk, cursor, key) throws(StoreError) in
      try walk.copyBackward(&cursor, from: key, limit: count)
    }
  }

  /// Returns the `count` messages just after a position.
  public func after(_ position: MessagePosition, count: Int) throws(StoreError) -> MessageSlice {
    try slice(at: position, count: count) { (walk, cursor, key) throws(StoreError) in
      _ = try walk.copyForward(&cursor, from: key, isSkipped: true, limit: count)
    }
  }

  /// Returns a message with its neighbours, half of the rest before it and half after it.
  ///
  /// If one side has fewer, the other gives more.
  ///
  /// Neither side reaches across a gap.
  ///
  /// - Throws: `message(.notFound)`, besides the errors of all functions.
  public func around(_ id: MessageID, count: Int) throws(StoreError) -> MessageSlice {
    guard let position = try position(of: id) else {
      throw .message(.notFound, id, in: conversation)
    }
    return try around(position, count: count)
  }

  /// Returns the messages of the thread that have a tag, as a thread of their own.
  ///
  /// Costs no lookup, and for a tag of the client's own a walk along the names of these.
  public func tagged(_ tag: MessageTag) throws(StoreError) -> TaggedMessages {
    guard let number else { return TaggedMessages(view, conversation, nil, tag) }
    return try view.within { () throws(StoreError) in
      TaggedMessages(view, conversation, (number, try view.tags.number(of: tag)), tag)
    }
  }

  /// Returns the position of a message, or nil if the message is not here.
  func position(of id: MessageID) throws(StoreError) -> MessagePosition? {
    guard let number else { return nil }
    return try view.within { () throws(StoreError) in try view.ids.position(of: id, in: number)
    }
  }

  /// Returns the first message at or after a server time, with its neighbours as in `around`.
  ///
  /// If there is no such message, the first pending message takes its place, or else the end of the
  /// thread.
  public func at(_ time: Timestamp, count: Int) throws(StoreError) -> MessageSlice {
    try around(.start(of: time), count: count)
  }

  /// Returns the first message that the local member has not read, with its neighbours as in
  /// `around`.
  ///
  /// Returns the newest messages if all are read.
  ///
  /// The message is found by a walk from the read mark or from the end, whichever is nearer.
  public func firstUnread(count: Int) throws(StoreError) -> MessageSlice {
    guard let first = try firstUnread() else { return try tail(count) }
    return try around(first, count: count)
  }

  /// Returns the position of the first message that the local member has not read, or nil if all
  /// are read.
  func firstUnread() throws(StoreError) -> MessagePosition? {
    try number.flatMap { (number) throws(StoreError) in
      try view.within { () throws(StoreError) in
        try view.delivery.firstUnread(number, try view.conversations.summary(number))
      }
    }
  }

  /// Returns the first unread message that mentions the local member, or nil if all mentions are
  /// read.
  ///
  /// `Conversation.unreadMentionCount` counts them. `around(_:count:)` shows the message with its
  /// neighbours.
  ///
  /// Costs nothing if that number is 0; else a walk along the messages from the read mark on, or
  /// from `position` on, up to the mention.
  ///
  /// - Parameter position: Only later messages count; nil for all.
  public func nextUnreadMention(
    after position: MessagePosition? = nil
  ) throws(StoreError) -> Message? {
    guard let number else { return nil }
    let mention = try view.within { () throws(StoreError) in
      try view.delivery.nextUnreadMention(
        number, after: position, try view.conversations.summary(number))
    }
    return try mention.flatMap { (mention) throws(StoreError) in try around(mention, count: 1).first
    }
  }

  /// Returns the neighbours of a place, as for a message, and more of them on either side.
  ///
  /// - Parameters:
  ///   - count: The maximum number of messages, 1 or more.
  ///   - older: The number of messages to add before these.
  ///   - newer: The number of messages to add after these.
  func around(
    _ position: MessagePosition, count: Int, older: Int = 0, newer: Int = 0
  ) throws(StoreError) -> MessageSlice {
    try slice(at: position, count: count) { (walk, cursor, key) throws(StoreError) in
      let before = try walk.countBackward(&cursor, from: key, limit: count / 2)
      let limit = count - before
      let taken = try walk.copyForward(
        &cursor, from: key, isSkipped: false, limit: limit + newer)
      try walk.copyBackward(&cursor, from: key, limit: count - min(taken, limit) + older)
    }
  }

  private func slice(
    at position: MessagePosition, count: Int,
    _ body: (inout ThreadWalk, inout MessageCursor, Bytes) throws(StoreError) -> Void
  ) throws(StoreError) -> MessageSlice {
    let count = try count.validatedRequest()
    guard let number else {
      return SliceBuilder(view, conversation, 0, count: 0)
        .finish(forwardCount: 0, hasOlder: false, hasNewer: false)
    }
    return try view.within { () throws(StoreError) in
      let key = KeyEncoding.key(number, position)
      var cursor = MessageCursor(view)
      var walk = ThreadWalk(
        SliceBuilder(view, conversation, number, count: count), at: position,
        ThreadSequences(view, number), try view.retention.floor(of: number).map(PrunedPart.init))
      try body(&walk, &cursor, key.bytes)
      return try walk.finish(&cursor, from: key.bytes)
    }
  }
}
