import PageFile

/// The messages that answer one message, in the order of their thread, as of one moment.
///
/// They belong to the snapshot or writer that they came from, and throw `transactionEnded` after
/// that has ended. A message answers another if its ``Message/replyTo`` is any of that one's names:
/// the one that it was written under, or one of the server's. The answered message may not have
/// come yet, or may be gone; one that was deleted has only the name that it is asked for by. A
/// retracted message answers nothing, from the moment of its retraction here. An edited one stays.
///
/// All slices are oldest first, and their edges say if there are more replies on that side;
/// sequence gaps do not matter here. Each reply costs a lookup of its time and a look at the
/// messages of that time, whatever the length of the thread. All functions throw `input(.count)`
/// for a count below 1, `corruptRecord`, and `storage`.
public struct MessageReplies: ~Copyable {
  private let view: StoreView
  private let conversation: ConversationID
  /// nil if there is no such conversation.
  private let number: UInt32?
  private let names: [MessageID]

  fileprivate init(
    _ view: StoreView, _ conversation: ConversationID, _ number: UInt32?, _ names: [MessageID]
  ) {
    self.view = view
    self.conversation = conversation
    self.number = number
    self.names = names
  }

  /// Returns the number of replies.
  ///
  /// - Parameter limit: The number to stop at, as for a label that says "99+". The cost is that of
  ///   a slice of as many messages.
  public func count(atMost limit: Int = .max) throws(StoreError) -> Int {
    guard let number else { return 0 }
    return try view.within { () throws(StoreError) in
      var scan = MomentScan(
        view, number, ReplyMoments(view, names), from: .start, isForward: true)
      var count = 0
      while count < limit, try scan.next() { count += 1 }
      return count
    }
  }

  /// Returns the oldest `count` replies.
  public func oldest(_ count: Int) throws(StoreError) -> MessageSlice {
    try slice(from: .start, count, isForward: true)
  }

  /// Returns the newest `count` replies, pending ones last.
  public func newest(_ count: Int) throws(StoreError) -> MessageSlice {
    try slice(from: .end, count, isForward: false)
  }

  /// Returns the `count` replies just after a position, such as that of a slice's last message.
  public func after(_ position: MessagePosition, count: Int) throws(StoreError) -> MessageSlice {
    try slice(from: position, count, isForward: true)
  }

  /// Returns the `count` replies just before a position, such as that of a slice's first message.
  public func before(_ position: MessagePosition, count: Int) throws(StoreError) -> MessageSlice {
    try slice(from: position, count, isForward: false)
  }

  private func slice(
    from position: MessagePosition, _ count: Int, isForward: Bool
  ) throws(StoreError) -> MessageSlice {
    let count = try count.validatedRequest()
    guard let number else {
      return SliceBuilder(view, conversation, 0, count: 0)
        .finish(forwardCount: 0, hasOlder: false, hasNewer: false)
    }
    return try view.within { () throws(StoreError) in
      var builder = SliceBuilder(view, conversation, number, count: count)
      var scan = MomentScan(
        view, number, ReplyMoments(view, names), from: position, isForward: isForward)
      var isThere = try scan.next()
      while isThere, builder.count < count {
        guard try builder.append(&scan.cursor) else { throw builder.corrupt }
        isThere = try scan.next()
      }
      let isBeyond = try hasReply(on: position, number, isForward: !isForward)
      return builder.finish(
        forwardCount: isForward ? builder.count : 0, hasOlder: isForward ? isBeyond : isThere,
        hasNewer: isForward ? isThere : isBeyond)
    }
  }

  /// Returns true if there is a reply at a position or on one side of it.
  private func hasReply(
    on position: MessagePosition, _ number: UInt32, isForward: Bool
  ) throws(StoreError) -> Bool {
    // Nothing lies beyond the ends of the thread.
    if position.place.phase == (isForward ? .end : .start) { return false }
    var scan = MomentScan(
      view, number, ReplyMoments(view, names), from: position, isInclusive: true,
      isForward: isForward)
    return try scan.next()
  }
}

extension ThreadReader {
  func replies(
    to id: MessageID, in conversation: ConversationID
  ) throws(StoreError) -> MessageReplies {
    guard let found = try view.find(conversation) else {
      return MessageReplies(view, conversation, nil, [])
    }
    let names = try view.answeredNames(of: id, in: found.number)
    return MessageReplies(view, found.id, found.number, names)
  }
}
