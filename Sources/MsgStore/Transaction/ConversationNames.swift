import PageFile

package struct ConversationNames: TransactionPart {
  package let transaction: Transaction

  init(_ transaction: Transaction) { self.transaction = transaction }

  /// Has names lead to a number: the one that a conversation has now, or those it had before.
  package func lead(
    _ ids: [ConversationID], to number: UInt32, areFormer: Bool = false
  ) throws(StoreError) {
    memory.forgetNames()
    if !areFormer { memory.conversations[number]?.id = ids.last }
    for id in ids {
      try transaction.writeName(ConversationName(number: number, isFormer: areFormer), of: id)
      memory.numbers.insert(id, number)
    }
  }

  /// Has former names lead nowhere.
  func forget(names ids: [ConversationID]) throws(StoreError) {
    if ids.isEmpty { return }
    memory.forgetNames()
    for id in ids {
      let key = KeyEncoding.key(id.string)
      try transaction.remove(key.bytes, in: Schema.conversationNames)
      memory.numbers.remove(id)
    }
  }
}

extension Transaction {
  package var conversationNames: ConversationNames { ConversationNames(self) }
}
