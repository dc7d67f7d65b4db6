import PageFile

/// A conversation's own side of receipts, kept with the open conversation.
package struct OwnReceipts: TransactionPart {
  package let transaction: Transaction

  init(_ transaction: Transaction) { self.transaction = transaction }

  package func receipts(_ conversation: OpenConversation) throws(StoreError) -> ConversationReceipts
  {
    try readReceipts(of: conversation)
    return conversation.receipts ?? ConversationReceipts()
  }

  /// Reads a conversation's own side of receipts, unless that was done.
  func readReceipts(of conversation: OpenConversation) throws(StoreError) {
    if case .some = conversation.receipts { return }
    conversation.receipts = try view.receipts.receipts(conversation.number)
  }

  package func writeOwn(
    _ record: ConversationReceipts, _ conversation: OpenConversation
  ) throws(StoreError) {
    conversation.receipts = record
    let key = ReceiptKey.own(conversation.number)
    var value = ByteBuffer(capacity: 256)
    record.appendChecked(to: &value)
    try transaction.insert(key.bytes, value.bytes, in: Schema.receipts)
  }

  /// The mark of the local member that the server knows of.
  func told(
    _ kind: ReceiptKind, _ conversation: OpenConversation
  ) throws(StoreError) -> Position? {
    try flushed().pendingReceipts.told(kind, conversation.number, conversation.summary)
  }
}

extension Transaction {
  package var ownReceipts: OwnReceipts { OwnReceipts(self) }
}
