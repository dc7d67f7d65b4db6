/// Receipts of the local member, and those that are received.
extension StoreWriter {
  /// Marks messages of a conversation as read by the local member.
  ///
  /// The mark goes to the newest acknowledged message that is not behind the position, and never
  /// back. It covers what is there: a message that comes later is unread wherever it lies. Up to the
  /// end of the thread this costs one small record; otherwise the messages before the mark or those
  /// behind it are read to count them, whichever are fewer.
  ///
  /// - Parameter position: The last message read; nil stands for everything.
  /// - Returns: Whether anything changed.
  @discardableResult
  public func markRead(
    _ conversation: ConversationID, upTo position: Position? = nil
  ) throws(StoreError) -> Bool {
    try transaction.perform(try transaction.localMarks.markRead(conversation, upTo: position))
  }

  /// Marks messages as read by the local member up to one of them.
  ///
  /// - Returns: Whether anything changed; false when there is no such message.
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
      try transaction.localMarks.markRead(conversation, upTo: position))
  }

  /// Marks messages as read by the local member, and no others.
  ///
  /// Each costs a change of its record. The local member's own, and those that are not here, are
  /// passed over.
  ///
  /// - Returns: Whether anything changed.
  /// - Throws: `invalidIdentifier`.
  @discardableResult
  public func markRead(
    _ ids: [MessageID], in conversation: ConversationID
  ) throws(StoreError) -> Bool {
    try transaction.perform(try transaction.localMarks.markRead(ids, in: conversation))
  }

  /// Marks messages of a conversation as delivered to the local member, as `markRead(_:upTo:)` does
  /// as read.
  ///
  /// - Parameter position: The last message delivered; nil stands for everything.
  /// - Returns: Whether anything changed.
  @discardableResult
  public func markDelivered(
    _ conversation: ConversationID, upTo position: Position? = nil
  ) throws(StoreError) -> Bool {
    try transaction.perform(try transaction.localMarks.markDelivered(conversation, upTo: position))
  }

  /// Marks messages as delivered to the local member up to one of them.
  ///
  /// - Returns: Whether anything changed; false when there is no such message.
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
      try transaction.localMarks.markDelivered(conversation, upTo: position))
  }

  /// Marks messages as delivered to the local member, and no others.
  ///
  /// The local member's own, those that came as history, and those that are not here, are passed
  /// over. Does nothing in a store without a local member.
  ///
  /// - Returns: Whether anything changed.
  /// - Throws: `invalidIdentifier`.
  @discardableResult
  public func markDelivered(
    _ ids: [MessageID], in conversation: ConversationID
  ) throws(StoreError) -> Bool {
    try transaction.perform(try transaction.localMarks.markDelivered(ids, in: conversation))
  }

  /// Takes a receipt that the server has told, be it of the local member's other devices or of
  /// anybody else.
  ///
  /// Receipts may come in any order, any number of times, and before the messages, members and
  /// conversations they are about. A mark covers all messages that lie up to it, also those that
  /// come later.
  ///
  /// - Returns: Whether anything changed.
  /// - Throws: `invalidIdentifier`.
  @discardableResult
  public func receive(_ receipt: ReceivedReceipt) throws(StoreError) -> Bool {
    try transaction.perform(try transaction.receipts.receiveReceipt(receipt))
  }

  /// Takes note that the server has what `pendingReceipts` has handed out.
  ///
  /// What was marked meanwhile stays to be told. Each may be confirmed by itself, in any order.
  ///
  /// - Returns: Whether anything changed.
  @discardableResult
  public func confirm(_ pending: PendingReceipt) throws(StoreError) -> Bool {
    try transaction.perform(try transaction.pendingReceipts.confirm(pending))
  }
}
