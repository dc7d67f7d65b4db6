import PageFile

/// The trees of messages and ids, and what a change of a message does to its conversation's summary.
///
/// All changes of a message that is there go through `replace`, all removals through `remove`: they
/// keep counters, preview and activity right (docs/message-format.md, A-1 … A-4).
package struct Messages: TransactionPart {
  package let transaction: Transaction

  init(_ transaction: Transaction) { self.transaction = transaction }

  /// Puts a new message to its place.
  package func place(
    _ message: StoredMessage, at position: Position, in conversation: OpenConversation
  ) throws(StoreError) {
    transaction.hasAdded = true
    let isLast = conversation.summary.last.map { $0.position < position } ?? true
    if isLast, !position.place.isPending {
      try append(message, at: position, to: conversation)
    } else {
      try write(message, at: position, in: conversation.number)
    }
    try writeNames(of: message, at: position, in: conversation)
    try transaction.projections.inserted(message, at: position, in: conversation)
  }

  /// Puts a message in the stead of what was stored of it, to the same place or another.
  ///
  /// A move keeps whether the message has been seen, also across the read mark.
  func replace(
    _ old: StoredMessage, at oldPosition: Position, with new: StoredMessage,
    at position: Position, in conversation: OpenConversation
  ) throws(StoreError) {
    var new = new
    if position != oldPosition {
      transaction.unreadCounts.carry(
        from: old, at: oldPosition, to: &new, at: position, conversation)
      try transaction.packer.removeRecord(at: oldPosition, in: conversation.number)
    }
    try write(new, at: position, in: conversation.number)
    if position != oldPosition || new.traits.names != old.traits.names {
      try writeNames(of: new, at: position, in: conversation)
    }
    try transaction.projections.replaced(
      old, at: oldPosition, by: new, at: position, in: conversation)
  }

  /// Takes a message out of its place, its names left as they are.
  func remove(
    _ message: StoredMessage, at position: Position, in conversation: OpenConversation
  ) throws(StoreError) {
    try transaction.packer.removeRecord(at: position, in: conversation.number)
    try transaction.projections.removed(message, from: position, in: conversation)
  }

  private func write(
    _ message: StoredMessage, at position: Position, in conversation: UInt32
  ) throws(StoreError) {
    var value = ByteBuffer(capacity: message.text.utf8.count + 64)
    message.appendChecked(at: position.place, to: &value)
    try transaction.packer.writeRecord(value.bytes, at: position, in: conversation)
  }

  /// Has a message written that lies behind all others.
  private func append(
    _ message: StoredMessage, at position: Position, to conversation: OpenConversation
  ) throws(StoreError) {
    let key = KeyEncoding.key(conversation.number, position)
    var value = ByteBuffer(capacity: message.text.utf8.count + 64)
    message.appendChecked(at: position.place, to: &value)
    memory.unwritten.append(key.bytes, value.bytes, to: conversation)
    if memory.unwritten.isFull { try transaction.packer.packGrown() }
  }

  /// Writes where a message is under all its names.
  private func writeNames(
    of message: StoredMessage, at position: Position, in conversation: OpenConversation
  ) throws(StoreError) {
    try transaction.messageNames.writeEntry(at: position, in: conversation)
    for name in message.traits.names {
      try transaction.messageNames.writeEntry(.here(position), of: name, in: conversation.number)
    }
  }
}

extension Transaction {
  package var messages: Messages { Messages(self) }
}
