import PageFile

/// Reads of receipts.
///
/// All functions throw `storage` and `corruptRecord`.
extension StoreSnapshot {
  /// Returns how far a message has come among its recipients, or nil if it is not here.
  ///
  /// The cost depends on the number of members.
  public func delivery(
    of id: MessageID, in conversation: ConversationID
  ) throws(StoreError) -> Delivery? {
    try within { (view) throws(StoreError) in try view.delivery.delivery(of: id, in: conversation) }
  }

  /// Returns the members who have received or read a message, in the order in which they came to
  /// this store.
  ///
  /// Members not known to take part are included; the sender is not. Of each member's marks the
  /// last eight are kept: a message below all of them shows the time of the lowest. The cost
  /// depends on the number of members.
  public func readers(
    of id: MessageID, in conversation: ConversationID
  ) throws(StoreError) -> [MemberReceipt] {
    try within { (view) throws(StoreError) in try view.delivery.readers(of: id, in: conversation) }
  }

  /// Returns the local member's receipts that the server has still to be told of in a conversation.
  ///
  /// They come in the order in which they may be sent, and each is confirmed on its own. As names,
  /// this reads all messages to be told of. A conversation that the local member has left has no
  /// pending receipts.
  ///
  /// - Throws: Also `invalidCount` for names, if the count at a time is not 1 to 500.
  public func pendingReceipts(
    in conversation: ConversationID, _ kind: ReceiptKind, as form: PendingReceipt.Form
  ) throws(StoreError) -> [PendingReceipt] {
    try within { (view) throws(StoreError) in
      try view.pendingReceipts.pendingReceipts(in: conversation, kind, as: form)
    }
  }

  /// Returns the conversations with receipts that the server has still to be told of.
  ///
  /// The cost depends on the number of conversations returned.
  ///
  /// - Parameters:
  ///   - kind: The kind of receipt.
  ///   - countMax: The maximum number of conversations, 1 or more. Confirmed ones make way for
  ///     others.
  /// - Throws: Also `invalidCount`.
  public func conversationsWithPendingReceipts(
    _ kind: ReceiptKind, maximumCount: Int = .max
  ) throws(StoreError) -> [ConversationID] {
    try within { (view) throws(StoreError) in
      try view.pendingReceipts.conversationsWithPendingReceipts(kind, maximumCount: maximumCount)
    }
  }
}

extension StoreSnapshot {
  /// Returns the number of unread messages that mention the local member, or nil without the
  /// conversation.
  ///
  /// Costs one lookup.
  package func unreadMentionCount(
    _ conversation: ConversationID
  ) throws(StoreError) -> Int? {
    try within { (view) throws(StoreError) in
      guard let number = try view.number(of: conversation)
      else { return nil }
      return try view.conversations.summary(number).mentionCount
    }
  }
}
