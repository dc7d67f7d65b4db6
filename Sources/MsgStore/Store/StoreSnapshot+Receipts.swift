import PageFile

/// Reading receipts.
///
/// All functions throw `storage` and `corruptRecord`.
extension StoreSnapshot {
  /// How far a message has come among those it was sent to; nil when it is not here.
  ///
  /// Its cost depends on the number of members.
  public func delivery(
    of id: MessageID, in conversation: ConversationID
  ) throws(StoreError) -> Delivery? {
    try within { (view) throws(StoreError) in try view.delivery.delivery(of: id, in: conversation) }
  }

  /// Who has a message, and who has read it, in the order in which the members came to this store.
  ///
  /// Members that are not known to take part are among them, the message's sender is not. Of marks
  /// the last eight of each member are kept: a message below all of them shows the time of the
  /// lowest. Its cost depends on the number of members.
  public func readers(
    of id: MessageID, in conversation: ConversationID
  ) throws(StoreError) -> [MemberReceipt] {
    try within { (view) throws(StoreError) in try view.delivery.readers(of: id, in: conversation) }
  }

  /// What has to go to the server of the local member's receipts in a conversation, in the order in
  /// which it may be sent; each is confirmed on its own.
  ///
  /// As names this reads all messages that have to be told. Nothing has to be told of a conversation
  /// that the local member has left.
  ///
  /// - Throws: Also `invalidCount` for names at another number than 1 to 500 a time.
  public func pendingReceipts(
    in conversation: ConversationID, _ kind: ReceiptKind, as form: PendingReceipt.Form
  ) throws(StoreError) -> [PendingReceipt] {
    try within { (view) throws(StoreError) in
      try view.pendingReceipts.pendingReceipts(in: conversation, kind, as: form)
    }
  }

  /// Conversations of which the server has something to be told.
  ///
  /// Its cost depends on how many it returns.
  ///
  /// - Parameters:
  ///   - kind: What has to be told.
  ///   - countMax: How many at most, 1 or more. Those that are confirmed make room for the others.
  /// - Throws: Also `invalidCount`.
  public func conversationsWithPendingReceipts(
    _ kind: ReceiptKind, countMax: Int = .max
  ) throws(StoreError) -> [ConversationID] {
    try within { (view) throws(StoreError) in
      try view.pendingReceipts.conversationsWithPendingReceipts(kind, countMax: countMax)
    }
  }
}

extension StoreSnapshot {
  /// How many unread messages of a conversation name the local member; nil when it is not there.
  ///
  /// One lookup.
  package func unreadMentionCount(
    _ conversation: ConversationID
  ) throws(StoreError) -> Int? {
    try within { (view) throws(StoreError) in
      guard let number = try view.number(of: conversation)
      else { return nil }
      var cursor = Cursor(view.source, Schema.conversations)
      return try view.conversations.summary(number, &cursor).mentionCount
    }
  }
}
