/// Settles the outbox with the facts: answers their effects, as when the server's word comes by
/// another way or the subject of an entry is gone.
///
/// See docs/message-format.md, O-16 and O-17.
struct OutboxFollowing: TransactionPart {
  let transaction: Transaction

  /// Answers all effects of the operation so far, and the effects that the answers cause.
  func settle() throws(StoreError) {
    var roundCount = 0
    while transaction.hasEffects {
      roundCount += 1
      guard roundCount <= Self.maximumRoundCount else {
        throw view.corrupt(Schema.work, "outbox: effects do not settle")
      }
      for effect in transaction.takeEffects() { try follow(effect) }
    }
  }

  /// The limit on rounds.
  ///
  /// An answer moves an entry at most, and its consequences take one more round. Only a damaged
  /// store needs more.
  private static var maximumRoundCount: Int { 8 }

  private func follow(_ effect: Effect) throws(StoreError) {
    switch effect {
    case .messageSettled(let id, let conversation, let settlement):
      try follow(settlement, of: id, in: conversation)
    case .messageRemoved(let id, let conversation):
      // Others still have the message, so its retraction still has to be told.
      try removeEntriesAnywhere(of: id, in: conversation) { !$0.isRetraction }
    case .goneRetracted(let id, let conversation):
      try removeEntriesAnywhere(of: id, in: conversation) { $0.isRetraction }
    case .messageExpired(let id, let conversation):
      if try transaction.outboxEntering.mayHaveLeft(id, in: conversation) == true { return }
      try removeEntries(of: id, in: conversation) { _ in true }
    case .messageReturned(let id, let conversation):
      try transaction.outboxEntering.holdReturned(id, in: conversation)
    case .messageMoved(let id, let conversation, let other, let target):
      try moveEntries(of: id, in: conversation, to: other, in: target)
    case .conversationMoved(let conversation, let target):
      try transaction.outboxSweeps.mergeEntries(of: conversation, to: target)
    case .conversationDeleted(let conversation, let target):
      try transaction.outboxSweeps.keepEntries(of: conversation, for: target)
    case .conversationKnown(let conversation): try settleCreation(of: conversation)
    case .receipts(let kind, let conversation, let isPending):
      try transaction.outboxEntering.enterReceipt(kind, isPending: isPending, in: conversation)
    case .uploaded(let attachment, let id, let conversation):
      try removeEntries(of: id, in: conversation) { subject in
        guard case .upload(_, let other) = subject else { return false }
        return other.hasSameBytes(as: attachment)
      }
    }
  }

  /// Removes the entries of a message that are settled.
  ///
  /// A message that the server has, it has with its files: whoever uploads one need not say so.
  private func follow(
    _ settlement: MessageSettlement, of id: MessageID, in number: UInt32
  ) throws(StoreError) {
    if transaction.outboxEntries.isEmpty { return }
    let entries = try view.outbox.entries(of: id, in: number)
    if settlement.isSent, !settlement.isErased {
      for (_, record) in entries {
        // A conversation that was deleted meanwhile has another number, of which a later effect
        // tells.
        guard case .upload(_, let attachment) = record.subject, try transaction.isStored(number)
        else { continue }
        _ = try transaction.messageUpdates.setTransfer(
          .upload, to: .done, of: attachment, message: id,
          in: try view.conversations.details(number).id)
      }
    }
    for (ordinal, record) in entries where settlement.settles(record.subject) {
      try transaction.outboxEntries.remove(entry: ordinal)
    }
  }

  /// Removes entries of a message, also where those of a conversation that becomes this one, or was
  /// deleted, are still to come.
  @inline(never)
  private func removeEntriesAnywhere(
    of id: MessageID, in conversation: UInt32, where isSettled: (OutboxSubject) -> Bool
  ) throws(StoreError) {
    try removeEntries(of: id, in: conversation, where: isSettled)
    for number in try transaction.outboxSweeps.merging(into: conversation) {
      try removeEntries(of: id, in: number, where: isSettled)
    }
    for number in try transaction.outboxSweeps.expected(by: conversation) {
      for (ordinal, record) in try view.outbox.entries(of: id, in: number)
      where isSettled(record.subject) {
        try transaction.outboxEntries.take(entry: ordinal, record, isCounted: false)
      }
    }
  }

  /// Removes the entries of a message that have nothing to tell any more.
  @inline(never)
  private func removeEntries(
    of id: MessageID, in conversation: UInt32, where isSettled: (OutboxSubject) -> Bool
  ) throws(StoreError) {
    if transaction.outboxEntries.isEmpty { return }
    for (ordinal, record) in try view.outbox.entries(of: id, in: conversation)
    where isSettled(record.subject) {
      try transaction.outboxEntries.remove(entry: ordinal)
    }
  }

  /// Moves the entries of a message to its new name or conversation.
  private func moveEntries(
    of id: MessageID, in conversation: UInt32, to other: MessageID, in target: UInt32
  ) throws(StoreError) {
    if transaction.outboxEntries.isEmpty { return }
    // A target that was deleted meanwhile has another number, of which a later effect tells; that
    // takes all entries there.
    guard try transaction.isStored(target) else { return }
    var isMoved = false
    // Entries of a conversation that becomes another one may have moved there before its messages.
    for number in conversation == target ? [target] : [conversation, target]
    where id != other || number != target {
      for (ordinal, _) in try view.outbox.entries(of: id, in: number) {
        guard let old = try view.outbox.entry(ordinal) else { continue }
        _ = try transaction.outboxSweeps.bring(ordinal, old)
        guard let record = try view.outbox.entry(ordinal) else { continue }
        isMoved = true
        var new = record
        new.conversation = target
        new.subject = record.subject.renamed(other)
        if new != record { try move(entry: ordinal, as: new) }
      }
    }
    // The server may have said there what the entries were to tell.
    guard isMoved || conversation != target,
      let (_, message, own) = try flushed().messages.found(other, in: target)
    else { return }
    try follow(MessageSettlement(of: message), of: own, in: target)
  }

  func move(entry ordinal: UInt64, as new: OutboxRecord) throws(StoreError) {
    try transaction.outboxEntries.remove(entry: ordinal)
    try transaction.outboxEntries.put(new, at: ordinal)
  }

  /// Queues an entry again that may have left, so that the entries behind it can go.
  func sendAgain(_ record: inout OutboxRecord) throws(StoreError) {
    record.state = transaction.outboxTotals.holdsNewEntries ? .held : .queued
    transaction.outboxEntries.beginLimits(of: &record)
  }

  /// Removes the entry that creates a conversation, because the server has it.
  private func settleCreation(of conversation: UInt32) throws(StoreError) {
    if transaction.outboxEntries.isEmpty { return }
    let lane = try transaction.outboxEntries.lane(conversation)
    guard lane.creation != 0 else { return }
    try transaction.outboxEntries.remove(entry: lane.creation)
  }

  /// Changes the sending status of a message, and holds or queues its entries accordingly.
  ///
  /// - Returns: False if there is no such message, or nothing changes.
  @inline(never)
  func setStatus(
    _ status: MessageStatus, of id: MessageID, in conversation: ConversationID,
    retryAt: Timestamp? = nil, failure: SendFailure? = nil
  ) throws(StoreError) -> Bool {
    let change = try transaction.messageUpdates.setStatus(
      status, of: id, in: conversation, retryAt: retryAt, failure: failure)
    guard let change else { return false }
    try followStatus(of: change.message, from: change.old, to: status, in: change.conversation)
    return true
  }

  /// Changes the sending status of a message that was found in a conversation.
  func setStatus(
    _ status: MessageStatus, of found: LocatedMessage, in number: UInt32
  ) throws(StoreError) {
    let change = try transaction.messageUpdates.setStatus(
      status, of: found, in: try transaction.conversation(number), retryAt: nil, failure: nil)
    guard let change else { return }
    try followStatus(of: change.message, from: change.old, to: status, in: number)
  }

  /// Holds or queues a message and its uploads when its status has become held, or is held no
  /// longer.
  private func followStatus(
    of id: MessageID, from old: MessageStatus, to new: MessageStatus, in conversation: UInt32
  ) throws(StoreError) {
    guard (old == .held) != (new == .held), !transaction.outboxEntries.isEmpty else { return }
    for (ordinal, record) in try view.outbox.entries(of: id, in: conversation) {
      switch record.subject {
      case .send, .upload: break
      default: continue
      }
      // The change of an earlier entry may have changed whether this one is blocked.
      let record = try view.outbox.indexedEntry(ordinal)
      var changed = record
      switch record.state {
      case .held where new != .held: changed.state = .queued
      case .queued where new == .held, .waiting where new == .held: changed.state = .held
      default: continue
      }
      try transaction.outboxEntries.replace(entry: ordinal, record, with: changed)
    }
  }
}

extension Transaction {
  var outboxFollowing: OutboxFollowing { OutboxFollowing(transaction: self) }
}

extension MessageSettlement {
  /// Returns true if an entry has nothing to tell any more.
  fileprivate func settles(_ subject: OutboxSubject) -> Bool {
    switch subject {
    case .send, .upload: isSent || isErased
    case .edit(_, let time): isErased || !pendingEdits.contains(time)
    case .retract: isErased || isShown
    default: isErased
    }
  }
}

extension OutboxFollowing {
  func show(_ status: MessageStatus, of record: OutboxRecord) throws(StoreError) {
    guard case .send(let id) = record.subject,
      let conversation = try view.outbox.conversationName(of: record)
    else { return }
    _ = try setStatus(status, of: id, in: conversation)
  }
}
