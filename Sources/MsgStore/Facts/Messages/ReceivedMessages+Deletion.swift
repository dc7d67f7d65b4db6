import PageFile

/// Deletes messages for good, and takes them out without a trace.
extension ReceivedMessages {
  func delete(_ id: MessageID, in conversation: ConversationID) throws(StoreError) -> Bool {
    guard let conversation = try transaction.existingConversation(conversation),
      let position = try view.ids.position(of: id, in: conversation.number)
    else { return false }
    try delete(at: position, in: conversation)
    return true
  }

  /// Deletes a message for good, and keeps under all its names that it was deleted.
  func delete(
    at position: MessagePosition, in conversation: OpenConversation
  ) throws(StoreError) {
    view.source.isErasing = true
    let message = try flushed().messages.message(at: position, in: conversation.number)
    try transaction.messages.remove(message, at: position, in: conversation)
    let names = StoreDefect.otherNamesKept.isPlanted ? [] : message.traits.names
    for name in [position.id] + names {
      try transaction.messageNames.writeEntry(.deleted, of: name, in: conversation.number)
    }
    try transaction.messageFacts.removeFacts(of: message.id(at: position), in: conversation.number)
    try transaction.emit(.messageRemoved(message.id(at: position), in: conversation.number))
    try transaction.receipts.forgetLate(message.id(at: position), in: conversation)
    try transaction.pendingReceipts.updatePending(conversation)
  }

  /// Removes a message with all its facts, and returns the number of entries removed.
  func takeOut(
    _ position: MessagePosition, of conversation: OpenConversation
  ) throws(StoreError) -> Int {
    let message = try flushed().messages.message(at: position, in: conversation.number)
    let id = message.id(at: position)
    try transaction.messages.remove(message, at: position, in: conversation)
    for name in [position.id] + message.traits.names {
      try transaction.messageNames.removeEntry(of: name, in: conversation.number)
    }
    try transaction.receipts.forgetLate(id, in: conversation)
    try transaction.emit(.messageRemoved(id, in: conversation.number))
    return try 1 + transaction.messageFacts.removeFacts(of: id, in: conversation.number)
  }
}
