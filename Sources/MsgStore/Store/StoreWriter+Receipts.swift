/// Receipts, both the local member's and received ones.
extension StoreWriter {
  /// Marks messages of a conversation as read by the local member.
  ///
  /// The mark moves to the newest acknowledged message at or before the position, and never back.
  /// It covers present messages only: a message that comes later is unread wherever it lies. A mark
  /// up to the end of the thread costs one small record; otherwise the messages before or behind
  /// the mark are read to count them, whichever are fewer.
  ///
  /// A conversation that the local member has left can be marked to its end; nothing is told of
  /// that.
  ///
  /// - Parameters:
  ///   - conversation: The conversation.
  ///   - position: The last message read; nil means all messages.
  /// - Returns: True if anything changed.
  /// - Throws: `conversation(.notAMember)` if the local member is known never to have taken part.
  @discardableResult
  public func markRead(
    _ conversation: ConversationID, upTo position: MessagePosition? = nil
  ) throws(StoreError) -> Bool {
    try transaction.perform(try transaction.localMarks.markRead(conversation, upTo: position))
  }

  /// Marks messages as read by the local member, up to and including one of them.
  ///
  /// - Returns: True if anything changed; false if there is no such message.
  /// - Throws: `conversation(.notAMember)` if the local member is known never to have taken part.
  @discardableResult
  public func markRead(
    _ conversation: ConversationID, upTo id: MessageID
  ) throws(StoreError) -> Bool {
    guard
      let position = try transaction.perform(
        try transaction.localMarks.position(of: id, in: conversation))
    else {
      return false
    }
    return try transaction.perform(
      try transaction.localMarks.markRead(conversation, upTo: position, isMessage: true))
  }

  /// Marks exactly the given messages as read by the local member.
  ///
  /// Each costs a change of its record. The local member's own messages, and absent ones, are
  /// skipped.
  ///
  /// - Returns: True if anything changed.
  /// - Throws: `input(.identifier)`; `conversation(.notAMember)` as above.
  @discardableResult
  public func markRead(
    _ ids: [MessageID], in conversation: ConversationID
  ) throws(StoreError) -> Bool {
    try transaction.perform(try transaction.localMarks.markRead(ids, in: conversation))
  }

  /// Marks messages of a conversation as delivered to the local member.
  ///
  /// Works as `markRead(_:upTo:)` does for reading.
  ///
  /// - Parameters:
  ///   - conversation: The conversation.
  ///   - position: The last message delivered; nil means all messages.
  /// - Returns: True if anything changed.
  @discardableResult
  public func markDelivered(
    _ conversation: ConversationID, upTo position: MessagePosition? = nil
  ) throws(StoreError) -> Bool {
    try transaction.perform(try transaction.localMarks.markDelivered(conversation, upTo: position))
  }

  /// Marks messages as delivered to the local member, up to and including one of them.
  ///
  /// - Returns: True if anything changed; false if there is no such message.
  @discardableResult
  public func markDelivered(
    _ conversation: ConversationID, upTo id: MessageID
  ) throws(StoreError) -> Bool {
    guard
      let position = try transaction.perform(
        try transaction.localMarks.position(of: id, in: conversation))
    else {
      return false
    }
    return try transaction.perform(
      try transaction.localMarks.markDelivered(conversation, upTo: position, isMessage: true))
  }

  /// Marks exactly the given messages as delivered to the local member.
  ///
  /// The local member's own messages, those that came as history, and absent ones are skipped. Does
  /// nothing in a store without a local member.
  ///
  /// - Returns: True if anything changed.
  /// - Throws: `input(.identifier)`.
  @discardableResult
  public func markDelivered(
    _ ids: [MessageID], in conversation: ConversationID
  ) throws(StoreError) -> Bool {
    try transaction.perform(try transaction.localMarks.markDelivered(ids, in: conversation))
  }

  /// Merges a receipt from the server, from the local member's other devices or from any other
  /// member.
  ///
  /// Receipts may come in any order, any number of times, and before the messages, members and
  /// conversations they are about. A mark covers all messages up to it, including those that come
  /// later.
  ///
  /// - Returns: True if anything changed.
  /// - Throws: `input(.identifier)`, `input(.implausibleTime)`.
  @discardableResult
  public func receive(_ receipt: ReceivedReceipt) throws(StoreError) -> Bool {
    try transaction.perform(try transaction.receipts.receiveReceipt(receipt))
  }
}
