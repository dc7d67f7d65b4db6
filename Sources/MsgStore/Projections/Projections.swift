import PageFile

/// The consequences of a change of a message, in their order: the one list of them.
///
/// A message changes through `Messages` alone, and `Messages` runs this list. A projection sees the
/// old and the new value, and reads only its own data; its cost does not depend on the length of the
/// thread, except where its comment says so. It changes no message, so the list runs once a change.
/// Changes that concern the outbox are emitted as effects, which the outbox answers when the
/// operation is over: see `Effect`.
struct Projections: TransactionPart {
  let transaction: Transaction

  init(_ transaction: Transaction) { self.transaction = transaction }

  /// Follows a message that was inserted.
  func inserted(
    _ message: StoredMessage, at position: Position, in conversation: OpenConversation
  ) throws(StoreError) {
    try transaction.sequences.inserted(at: position, in: conversation)
    transaction.unreadCounts.inserted(message, at: position, in: conversation)
    try transaction.summaries.inserted(message, at: position, in: conversation)
    conversation.placedCount += 1
    if transaction.isHeard {
      transaction.notes.inserted(message.id(at: position), at: position, in: conversation.number)
    }
  }

  /// Follows a message that was replaced, perhaps at another place.
  func replaced(
    _ old: StoredMessage, at oldPosition: Position, by new: StoredMessage,
    at position: Position, in conversation: OpenConversation
  ) throws(StoreError) {
    try transaction.sequences.inserted(at: position, in: conversation)
    transaction.unreadCounts.replaced(old, at: oldPosition, by: new, at: position, in: conversation)
    try transaction.summaries.replaced(
      old, at: oldPosition, by: new, at: position, in: conversation)
    if let settlement = MessageSettlement(from: old, to: new) {
      try transaction.emit(
        .messageSettled(new.id(at: position), in: conversation.number, settlement))
    }
    if transaction.isHeard {
      transaction.notes.replaced(
        old, at: oldPosition, by: new, at: position, in: conversation.number)
    }
    if position != oldPosition || new.sender != old.sender {
      try transaction.namedReceipts.noteLate(new, at: position, in: conversation)
    }
  }

  /// Follows a message that was removed from its place.
  func removed(
    _ message: StoredMessage, from position: Position, in conversation: OpenConversation
  ) throws(StoreError) {
    transaction.unreadCounts.removed(message, from: position, in: conversation)
    try transaction.summaries.removed(from: position, in: conversation)
    if transaction.isHeard {
      transaction.notes.removed(message.id(at: position), from: position, in: conversation.number)
    }
  }
}

extension Transaction {
  var projections: Projections { Projections(self) }
}
