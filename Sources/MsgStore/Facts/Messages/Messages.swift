import PageFile

/// Keeps the trees of messages and ids, and runs the projections that follow from each change.
///
/// Every change of a stored message goes through `replace`, and every removal through `remove`.
/// They keep counters, preview, and activity right (docs/message-format.md, A-1 … A-4).
package struct Messages: TransactionPart {
  package let transaction: Transaction

  /// Stores a new message at its place.
  package func place(
    _ message: StoredMessage, at position: MessagePosition, in conversation: OpenConversation
  ) throws(StoreError) {
    transaction.hasAdded = true
    // Only a message that needs it is copied for its mark.
    guard Expiries.concern(message) else { return try put(message, at: position, in: conversation) }
    var marked = message
    try transaction.expiries.mark(&marked, at: position, in: conversation.number)
    try put(marked, at: position, in: conversation)
  }

  private func put(
    _ message: StoredMessage, at position: MessagePosition, in conversation: OpenConversation
  ) throws(StoreError) {
    if !position.place.isPending, try isBehindAll(position, in: conversation) {
      try append(message, at: position, to: conversation)
    } else {
      try write(message, at: position, in: conversation.number)
    }
    conversation.raiseGreatestPosition(to: position)
    try writeNames(of: message, at: position, in: conversation)
    try transaction.projections.inserted(message, at: position, in: conversation)
  }

  /// Replaces a stored message, moving it if its place changed.
  ///
  /// A move keeps the seen state of the message, even across the read mark.
  func replace(
    _ old: StoredMessage, at oldPosition: MessagePosition, with new: StoredMessage,
    at position: MessagePosition, in conversation: OpenConversation
  ) throws(StoreError) {
    let moves = position != oldPosition
    guard moves || Expiries.concern(new) else {
      return try put(new, at: position, over: old, at: oldPosition, in: conversation)
    }
    var new = new
    try transaction.expiries.mark(&new, at: position, in: conversation.number)
    if moves {
      // Other members may have taken part at the new place.
      new.traits.awaited = nil
      transaction.unreadCounts.carry(
        from: old, at: oldPosition, to: &new, at: position, conversation)
      try transaction.packer.removeRecord(at: oldPosition, in: conversation.number)
    }
    try put(new, at: position, over: old, at: oldPosition, in: conversation)
    if moves { try transaction.pendingReceipts.settleMoved(new, at: position, in: conversation) }
  }

  private func put(
    _ new: StoredMessage, at position: MessagePosition,
    over old: StoredMessage, at oldPosition: MessagePosition, in conversation: OpenConversation
  ) throws(StoreError) {
    try write(new, at: position, in: conversation.number)
    conversation.raiseGreatestPosition(to: position)
    if position != oldPosition || new.traits.names != old.traits.names {
      try writeNames(of: new, at: position, in: conversation)
    }
    try transaction.projections.replaced(
      old, at: oldPosition, by: new, at: position, in: conversation)
  }

  /// Removes a message from its place and keeps its names.
  func remove(
    _ message: StoredMessage, at position: MessagePosition, in conversation: OpenConversation
  ) throws(StoreError) {
    try transaction.packer.removeRecord(at: position, in: conversation.number)
    try transaction.projections.removed(message, from: position, in: conversation)
  }

  /// Returns true if an acknowledged place lies behind all messages of a conversation.
  ///
  /// The last message that counts does not tell it where others behind it were let go, because they
  /// have expired. Then the last one is looked up, once while the conversation is open.
  func isBehindAll(
    _ position: MessagePosition, in conversation: OpenConversation
  ) throws(StoreError) -> Bool {
    if let last = conversation.summary.last?.position, last >= position { return false }
    guard try transaction.expiries.haveLetGo else { return true }
    if conversation.greatestPosition == nil {
      conversation.greatestPosition =
        try flushed().messages.lastPosition(upTo: .firstPending, in: conversation.number) ?? .start
    }
    return conversation.greatestPosition.map { $0 < position } ?? true
  }

  private func write(
    _ message: StoredMessage, at position: MessagePosition, in conversation: UInt32
  ) throws(StoreError) {
    var value = ByteBuffer(capacity: message.text.utf8.count + 64)
    message.appendChecked(at: position.place, to: &value)
    try transaction.packer.writeRecord(value.bytes, at: position, in: conversation)
  }

  /// Adds a message behind all others to the unwritten messages.
  private func append(
    _ message: StoredMessage, at position: MessagePosition, to conversation: OpenConversation
  ) throws(StoreError) {
    let key = KeyEncoding.key(conversation.number, position)
    var value = ByteBuffer(capacity: message.text.utf8.count + 64)
    message.appendChecked(at: position.place, to: &value)
    memory.unwritten.append(key.bytes, value.bytes, to: conversation)
    if memory.unwritten.isFull { try transaction.packer.packGrown() }
  }

  /// Writes the position of a message under all its names.
  private func writeNames(
    of message: StoredMessage, at position: MessagePosition, in conversation: OpenConversation
  ) throws(StoreError) {
    try transaction.messageNames.writeEntry(at: position, in: conversation)
    for name in message.traits.names {
      try transaction.messageNames.writeEntry(.here(position), of: name, in: conversation.number)
    }
  }
}

extension Transaction {
  package var messages: Messages { Messages(transaction: self) }
}
