import PageFile

/// The local member's side of the receipts of a conversation, cached in the open conversation.
package struct OwnReceipts: TransactionPart {
  package let transaction: Transaction

  package func receipts(_ conversation: OpenConversation) throws(StoreError) -> ConversationReceipts
  {
    try readReceipts(of: conversation)
    return conversation.receipts ?? ConversationReceipts()
  }

  /// Reads the local member's side of receipts, unless it was read before.
  func readReceipts(of conversation: OpenConversation) throws(StoreError) {
    if case .some = conversation.receipts { return }
    conversation.receipts = try view.receipts.receipts(conversation.number)
  }

  package func writeOwn(
    _ record: ConversationReceipts, _ conversation: OpenConversation
  ) throws(StoreError) {
    conversation.receipts = record
    try transaction.put(record, at: ReceiptKey.own(conversation.number))
  }

  /// Returns the mark of the local member that the server knows of.
  func told(
    _ kind: ReceiptKind, _ conversation: OpenConversation
  ) throws(StoreError) -> MessagePosition? {
    try view.pendingReceipts.told(kind, conversation.number, conversation.summary)
  }
}

extension Transaction {
  package var ownReceipts: OwnReceipts { OwnReceipts(transaction: self) }
}
