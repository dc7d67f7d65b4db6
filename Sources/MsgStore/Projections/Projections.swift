import PageFile

/// The consequences of a change of a message, listed in order in this one place.
///
/// A message changes through `Messages` alone, and `Messages` runs this list. A projection sees the
/// old and the new value and reads only its own data. Its cost does not depend on the length of the
/// thread, except where its comment says so. It changes no message, so the list runs once per
/// change. Changes that concern the outbox are emitted as effects, which the outbox answers when
/// the operation is over: see `Effect`.
struct Projections: TransactionPart {
  let transaction: Transaction

  /// Updates the projections after a message was inserted.
  func inserted(
    _ message: StoredMessage, at position: MessagePosition, in conversation: OpenConversation
  ) throws(StoreError) {
    try transaction.sequences.inserted(at: position, in: conversation)
    transaction.unreadCounts.inserted(message, at: position, in: conversation)
    try transaction.summaries.inserted(message, at: position, in: conversation)
    try transaction.replies.inserted(message, at: position, in: conversation.number)
    try transaction.tags.inserted(message, at: position, in: conversation.number)
    try transaction.expiries.inserted(message, at: position, in: conversation.number)
    conversation.placedCount += 1
    memory.noteCountChange(at: position, in: conversation.number)
    if transaction.hasListeners, !message.traits.isLetGo {
      transaction.notes.inserted(message.id(at: position), at: position, in: conversation.number)
    }
  }

  /// Updates the projections after a message was replaced, possibly at another place.
  func replaced(
    _ old: StoredMessage, at oldPosition: MessagePosition, by new: StoredMessage,
    at position: MessagePosition, in conversation: OpenConversation
  ) throws(StoreError) {
    try transaction.sequences.inserted(at: position, in: conversation)
    transaction.unreadCounts.replaced(old, at: oldPosition, by: new, at: position, in: conversation)
    try transaction.summaries.replaced(
      old, at: oldPosition, by: new, at: position, in: conversation)
    try transaction.replies.replaced(
      old, at: oldPosition, by: new, at: position, in: conversation.number)
    try transaction.tags.replaced(
      old, at: oldPosition, by: new, at: position, in: conversation.number)
    try transaction.expiries.replaced(
      old, at: oldPosition, by: new, at: position, in: conversation.number)
    if let settlement = MessageSettlement(from: old, to: new) {
      try transaction.emit(
        .messageSettled(new.id(at: position), in: conversation.number, settlement))
    }
    if transaction.hasListeners {
      transaction.notes.replaced(
        old, at: oldPosition, by: new, at: position, in: conversation.number)
    }
    if position != oldPosition || new.traits.isLetGo != old.traits.isLetGo {
      memory.noteCountChange(at: oldPosition, in: conversation.number)
      memory.noteCountChange(at: position, in: conversation.number)
    }
    if position != oldPosition || new.sender != old.sender
      || old.flags.contains(.history) && !new.flags.contains(.history)
    {
      try transaction.namedReceipts.noteLate(new, at: position, in: conversation)
    }
  }

  /// Updates the projections after a message was removed from its place.
  func removed(
    _ message: StoredMessage, from position: MessagePosition, in conversation: OpenConversation
  ) throws(StoreError) {
    transaction.unreadCounts.removed(message, from: position, in: conversation)
    try transaction.summaries.removed(message, from: position, in: conversation)
    try transaction.replies.removed(message, from: position, in: conversation.number)
    try transaction.tags.removed(message, from: position, in: conversation.number)
    try transaction.expiries.removed(message, from: position, in: conversation.number)
    memory.noteCountChange(at: position, in: conversation.number)
    if transaction.hasListeners, !message.traits.isLetGo {
      transaction.notes.removed(message.id(at: position), from: position, in: conversation.number)
    }
  }
}

extension Transaction {
  var projections: Projections { Projections(transaction: self) }
}
