import PageFile

/// The local member's side of the receipts of a conversation, cached in the open conversation.
extension Receipts {
  package func own(_ conversation: OpenConversation) throws(StoreError) -> ConversationReceipts {
    try readOwn(of: conversation)
    return conversation.receipts ?? ConversationReceipts()
  }

  /// Reads the local member's side of receipts, unless it was read before.
  func readOwn(of conversation: OpenConversation) throws(StoreError) {
    if case .some = conversation.receipts { return }
    conversation.receipts = try view.receipts.receipts(conversation.number)
  }

  /// Keeps a changed side, to be written with the summary, which lies beside it.
  package func keepOwn(_ record: ConversationReceipts, _ conversation: OpenConversation) {
    conversation.receipts = record
    conversation.hasUnwrittenReceipts = true
    memory.hasUnwrittenReceipts = true
  }

  /// Returns the mark of the local member that the server knows of.
  func told(
    _ kind: ReceiptKind, _ conversation: OpenConversation
  ) throws(StoreError) -> MessagePosition? {
    try view.pendingReceipts.told(kind, conversation.number, conversation.summary)
  }
}
