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

  /// Keeps a changed side, to be written with the summary, which lies beside it.
  package func keepOwn(_ record: ConversationReceipts, _ conversation: OpenConversation) {
    conversation.receipts = record
    conversation.hasUnwrittenReceipts = true
    memory.hasUnwrittenReceipts = true
  }

  /// Writes what was kept, so that it can be read from the trees.
  func flush() throws(StoreError) {
    guard memory.hasUnwrittenReceipts else { return }
    memory.hasUnwrittenReceipts = false
    for conversation in memory.touched where conversation.hasUnwrittenReceipts {
      conversation.hasUnwrittenReceipts = false
      guard let receipts = conversation.receipts else { continue }
      try transaction.put(receipts, at: ReceiptKey.own(conversation.number))
    }
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
