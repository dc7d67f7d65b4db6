/// A change of facts that the outbox may have to answer.
///
/// Facts do not know the outbox. They emit effects, which are collected until the operation is over
/// and then answered by `OutboxFollowing` in order. No effect is kept while the outbox is empty.
package enum Effect {
  /// Something that an entry was to tell about a message is settled.
  case messageSettled(MessageID, in: UInt32, MessageSettlement)
  /// A message was removed from this store, with everything known of it.
  case messageRemoved(MessageID, in: UInt32)
  /// The server has told that a message is retracted that is not here.
  case goneRetracted(MessageID, in: UInt32)
  /// A pending message has expired.
  case messageExpired(MessageID, in: UInt32)
  /// A pending message that had expired is shown again.
  case messageReturned(MessageID, in: UInt32)
  /// A message got another name, or moved to another conversation.
  case messageMoved(MessageID, in: UInt32, to: MessageID, target: UInt32)
  /// Everything in a conversation moved to another one.
  case conversationMoved(UInt32, to: UInt32)
  /// A conversation was deleted here; its name has a new number.
  case conversationDeleted(UInt32, to: UInt32)
  /// The server knows of a conversation.
  case conversationKnown(UInt32)
  /// There may be receipts to tell, or no receipt is left to tell.
  case receipts(ReceiptKind, in: UInt32, isPending: Bool)
  /// The bytes of an attachment are on the server, or an edit has removed it.
  case uploaded(String, of: MessageID, in: UInt32)
}

/// The parts of a message that the server no longer has to be told about.
package struct MessageSettlement {
  /// The server has the message.
  let isSent: Bool
  /// The message was retracted for good.
  let isErased: Bool
  /// The server has refused to retract the message.
  let isShown: Bool
  /// The times of the edits that still await the server's answer.
  let pendingEdits: [Int64]

  /// Creates the settlement of a message that has come from elsewhere.
  init(of message: StoredMessage) {
    isSent = message.status.isServerKnowledge
    isErased = message.traits.marks.contains(.retracted)
    isShown = false
    pendingEdits = message.traits.pendingEdits
  }

  /// Compares two stored forms; returns nil if nothing is settled.
  init?(from old: StoredMessage, to new: StoredMessage) {
    let (was, marks) = (old.traits.marks, new.traits.marks)
    isSent = new.status.isServerKnowledge && !old.status.isServerKnowledge
    isErased = marks.contains(.retracted) && !was.contains(.retracted)
    isShown = was.contains(.hidden) && !marks.contains(.hidden)
    pendingEdits = new.traits.pendingEdits
    let isAnswered = old.traits.pendingEdits.contains { !new.traits.pendingEdits.contains($0) }
    guard isSent || isErased || isShown || isAnswered else { return nil }
  }
}

extension Transaction {
  /// The counts and numbers of all entries of the outbox.
  var outboxTotals: OutboxTotals { view.source.outboxTotals }

  /// True if acts of the local member are entered into the outbox.
  var isOutboxOn: Bool { rules.outbox.isEnabled && localMember != nil }

  /// Keeps an effect for the outbox, unless the outbox is empty and so cannot be affected.
  ///
  /// While a sweep has work left, the outbox may have entries that the totals do not count.
  @inline(never)
  func emit(_ effect: @autoclosure () -> Effect) throws(StoreError) {
    guard !hasEffects else { return collect(effect()) }
    let totals = outboxTotals
    if totals.counts.total > 0 || totals.hasSteps { collect(effect()) }
  }

  /// Keeps an effect that may enter a new entry.
  func emit(entering effect: @autoclosure () -> Effect) throws(StoreError) {
    if isOutboxOn { collect(effect()) } else { try emit(effect()) }
  }
}
