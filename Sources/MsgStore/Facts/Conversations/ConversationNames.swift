import PageFile

/// Keeps the names of conversations, current and former, and the numbers that they lead to.
extension Conversations {
  /// Makes names lead to a number, as current names of the conversation or as former ones.
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

  /// Removes former names.
  func forget(names ids: [ConversationID]) throws(StoreError) {
    if ids.isEmpty { return }
    memory.forgetNames()
    for id in ids {
      try transaction.remove(NameKey.conversation(id.string), in: Schema.names)
      memory.numbers.remove(id)
    }
  }
}
