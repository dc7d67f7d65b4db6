/// What takes entries out of the outbox beside the outbox itself: the server's word, whichever way it
/// came, and the end of what they are about.
///
/// See docs/message-format.md, O-16 and O-17.
struct OutboxFollowing: TransactionPart {
  let transaction: Transaction

  init(_ transaction: Transaction) { self.transaction = transaction }

  /// After a message has changed: takes out what need not be told any more.
  func settleEntries(
    of old: StoredMessage, as new: StoredMessage, at position: Position, in conversation: UInt32
  ) throws(StoreError) {
    let (was, marks) = (old.traits.marks, new.traits.marks)
    let isSent = new.status.isServerKnowledge && !old.status.isServerKnowledge
    let isErased = marks.contains(.unsent) && !was.contains(.unsent)
    let isShown = was.contains(.hidden) && !marks.contains(.hidden)
    let isEditSettled = new.traits.pendingEdits != old.traits.pendingEdits
    guard isSent || isErased || isShown || isEditSettled, try !transaction.outboxEntries.isEmpty
    else { return }
    for (ordinal, record) in try view.outbox.entries(
      of: new.id(at: position), in: conversation)
    {
      let isSettled =
        switch record.subject {
        case .send, .upload: isSent || isErased
        case .edit(_, let time): isErased || !new.traits.pendingEdits.contains(time)
        case .unsend: isErased || isShown
        default: isErased
        }
      if isSettled { try transaction.outboxEntries.remove(entry: ordinal) }
    }
  }

  /// A message is gone here, and so is all there was to tell of it, but that it was taken back: others
  /// still have it.
  func removeEntries(of id: MessageID, in conversation: UInt32) throws(StoreError) {
    if try transaction.outboxEntries.isEmpty { return }
    for (ordinal, record) in try view.outbox.entries(of: id, in: conversation)
    where !record.subject.isUnsend {
      try transaction.outboxEntries.remove(entry: ordinal)
    }
  }

  /// A message has another name now, or lies in another conversation.
  func moveEntries(
    of id: MessageID, in conversation: UInt32, to other: MessageID, in target: UInt32
  ) throws(StoreError) {
    if try transaction.outboxEntries.isEmpty { return }
    // Those of a conversation that becomes another one have gone there before its messages.
    for number in conversation == target ? [target] : [conversation, target]
    where id != other || number != target {
      for (ordinal, record) in try view.outbox.entries(of: id, in: number) {
        var new = record
        new.conversation = target
        new.subject = record.subject.renamed(other)
        try move(entry: ordinal, as: new)
      }
    }
  }

  /// A conversation has become another one.
  func moveEntries(of conversation: UInt32, to target: UInt32) throws(StoreError) {
    try transaction.outboxReleases.finishReleases(of: conversation)
    try transaction.outboxSweeps.redirectSweeps(of: conversation, to: target)
    if try transaction.outboxEntries.isEmpty { return }
    for (ordinal, record) in try view.outbox.entries(in: conversation) {
      // Entered anew where the other has something to tell.
      if record.subject.isReceipt || record.subject == .createConversation {
        try transaction.outboxEntries.remove(entry: ordinal)
        continue
      }
      var new = record
      new.conversation = target
      try move(entry: ordinal, as: new)
    }
  }

  func move(entry ordinal: UInt64, as new: OutboxRecord) throws(StoreError) {
    try transaction.outboxEntries.remove(entry: ordinal)
    try transaction.outboxEntries.put(new, at: ordinal)
  }

  /// Has what may have left go again, so that what comes behind it can go.
  func sendAgain(_ record: inout OutboxRecord) throws(StoreError) {
    record.state = try transaction.outboxEntries.totals.isHolding ? .held : .queued
    transaction.outboxDecisions.beginLimits(of: &record)
  }

  /// The server has a conversation that was made here.
  func settleCreation(of conversation: UInt32) throws(StoreError) {
    if try transaction.outboxEntries.isEmpty { return }
    let lane = try view.outbox.lane(conversation)
    guard lane.creation != 0 else { return }
    try transaction.outboxEntries.remove(entry: lane.creation)
  }

  /// An upload is done, whoever says so.
  func settleUpload(
    _ attachment: String, of id: MessageID, in conversation: ConversationID
  ) throws(StoreError) {
    guard try !transaction.outboxEntries.isEmpty,
      let number = try view.number(of: conversation),
      let (_, _, own) = try flushed().messages.found(id, in: number)
    else { return }
    for (ordinal, record) in try view.outbox.entries(of: own, in: number) {
      guard case .upload(_, let other) = record.subject, other.hasSameBytes(as: attachment)
      else { continue }
      try transaction.outboxEntries.remove(entry: ordinal)
    }
  }

  /// A message is held back, or is not any more, and its uploads with it.
  func followStatus(
    of id: MessageID, from old: MessageStatus, to new: MessageStatus, in conversation: UInt32
  ) throws(StoreError) {
    guard (old == .held) != (new == .held), try !transaction.outboxEntries.isEmpty else { return }
    for (ordinal, record) in try view.outbox.entries(of: id, in: conversation) {
      switch record.subject {
      case .send, .upload: break
      default: continue
      }
      // One before it may have changed whether it is blocked.
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
  var outboxFollowing: OutboxFollowing { OutboxFollowing(self) }
}
