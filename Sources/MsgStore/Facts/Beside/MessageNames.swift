import PageFile

package struct MessageNames: TransactionPart {
  package let transaction: Transaction

  init(_ transaction: Transaction) { self.transaction = transaction }

  /// What the ids tree has for a name of a message, or nil.
  ///
  /// Most names come in their order, whether a clock or a counter makes them: one that is greater than
  /// all others is not looked for.
  func entry(
    of id: MessageID, in conversation: OpenConversation
  ) throws(StoreError) -> IDEntry? {
    if let greatest = conversation.greatestName {
      if greatest < id { return nil }
    } else {
      conversation.greatestName = try view.ids.lastName(in: conversation.number) ?? ""
    }
    return try view.ids.entry(of: id, in: conversation.number)
  }

  /// Writes the ids tree's entry of a name.
  package func writeEntry(
    _ entry: IDEntry, of id: MessageID, in conversation: UInt32
  ) throws(StoreError) {
    memory.conversations[conversation]?.raiseGreatestName(to: id)
    let key = KeyEncoding.key(conversation, id)
    var value = ByteBuffer()
    entry.append(for: id, to: &value)
    try transaction.insert(key.bytes, value.bytes, in: Schema.ids)
  }

  /// Writes where a message is under the name in its key.
  func writeEntry(
    at position: Position, in conversation: OpenConversation
  ) throws(StoreError) {
    conversation.raiseGreatestName(to: position.id)
    let key = KeyEncoding.key(conversation.number, position.id)
    var value = ByteBuffer()
    IDEntry.append(position.place, to: &value)
    try transaction.insert(key.bytes, value.bytes, in: Schema.ids)
  }

  /// Forgets a name that the ids tree has.
  func removeEntry(of id: MessageID, in conversation: UInt32) throws(StoreError) {
    let key = KeyEncoding.key(conversation, id)
    try transaction.remove(key.bytes, in: Schema.ids)
  }
}

extension MessageNames {
  /// Forgets what names led to that are nobody's any more, as far as they led to something.
  func forget(_ names: [MessageID], in conversation: UInt32) throws(StoreError) {
    for name in names where try view.ids.entry(of: name, in: conversation) != nil {
      try removeEntry(of: name, in: conversation)
    }
  }
}

extension Transaction {
  package var messageNames: MessageNames { MessageNames(self) }
}

extension MessageNames {
  /// The name that facts about a message are kept under, and where it is; nil when it was deleted.
  func resolve(
    _ id: MessageID, in conversation: UInt32
  ) throws(StoreError) -> (id: MessageID, position: Position?)? {
    switch try view.ids.entry(of: id, in: conversation) {
    case .deleted?: nil
    case .alias(let own)?: (own, nil)
    case nil: (id, nil)
    case .here(let position)?:
      (try flushed().messages.message(at: position, in: conversation).id(at: position), position)
    }
  }
}
