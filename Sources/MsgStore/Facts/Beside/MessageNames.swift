import PageFile

/// Keeps the names of messages in the ids tree.
package struct MessageNames: TransactionPart {
  package let transaction: Transaction

  /// Returns the entry of a message's name in the ids tree, or nil.
  ///
  /// Most names come in ascending order, whether a clock or a counter makes them. A name greater
  /// than all others is not looked up, but for the first of them.
  func entry(
    of id: MessageID, in conversation: OpenConversation
  ) throws(StoreError) -> IDEntry? {
    if let greatest = conversation.greatestName {
      return greatest < id ? nil : try view.ids.entry(of: id, in: conversation.number)
    }
    let (entry, isGreatest) = try view.ids.place(of: id, in: conversation.number)
    if isGreatest { conversation.greatestName = id }
    return entry
  }

  /// Writes the entry of a name to the ids tree.
  @inline(never)
  package func writeEntry(
    _ entry: IDEntry, of id: MessageID, in conversation: UInt32
  ) throws(StoreError) {
    memory.conversations[conversation]?.raiseGreatestName(to: id)
    let key = KeyEncoding.key(conversation, id)
    var value = ByteBuffer()
    entry.append(for: id, to: &value)
    try transaction.insert(key.bytes, value.bytes, in: Schema.ids)
  }

  /// Writes the place of a message under the name in its key.
  func writeEntry(
    at position: MessagePosition, in conversation: OpenConversation
  ) throws(StoreError) {
    conversation.raiseGreatestName(to: position.id)
    let key = KeyEncoding.key(conversation.number, position.id)
    var value = ByteBuffer()
    IDEntry.append(position.place, to: &value)
    try transaction.insert(key.bytes, value.bytes, in: Schema.ids)
  }

  /// Removes a name from the ids tree, where it must be.
  @inline(never)
  func removeEntry(of id: MessageID, in conversation: UInt32) throws(StoreError) {
    try transaction.remove(KeyEncoding.key(conversation, id), in: Schema.ids)
  }
}

extension MessageNames {
  /// Removes names that no longer belong to any message, if they are in the ids tree.
  func forget(_ names: [MessageID], in conversation: UInt32) throws(StoreError) {
    for name in names where try view.ids.entry(of: name, in: conversation) != nil {
      try removeEntry(of: name, in: conversation)
    }
  }
}

extension Transaction {
  package var messageNames: MessageNames { MessageNames(transaction: self) }
}

extension MessageNames {
  /// Returns the name under which the facts of a message are kept, and its position if it is here;
  /// nil if it was deleted.
  @inline(never)
  func resolve(
    _ id: MessageID, in conversation: UInt32
  ) throws(StoreError) -> (id: MessageID, position: MessagePosition?)? {
    switch try view.ids.entry(of: id, in: conversation) {
    case .deleted?: nil
    case .alias(let own)?: (own, nil)
    case nil: (id, nil)
    case .here(let position)?:
      (try flushed().messages.message(at: position, in: conversation).id(at: position), position)
    }
  }
}
