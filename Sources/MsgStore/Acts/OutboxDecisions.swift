import PageFile

/// Carries out what people decide about outbox entries: hold, release, retry, change, remove.
///
/// See docs/message-format.md, O-25 … O-29.
struct OutboxDecisions: TransactionPart {
  let transaction: Transaction

  private func existingEntry(_ id: OutboxEntry.ID) throws(StoreError) -> OutboxRecord {
    guard let record = try transaction.outboxSweeps.currentEntry(id.rawValue) else {
      throw .outbox(.notFound, id)
    }
    return record
  }

  func setHoldsNewEntries(_ holdsNewEntries: Bool) throws(StoreError) -> Bool {
    if holdsNewEntries { try transaction.outboxReleases.stopReleases() }
    guard transaction.outboxTotals.holdsNewEntries != holdsNewEntries else { return false }
    transaction.outboxEntries.setHoldsNewEntries(totals: holdsNewEntries)
    return true
  }

  func hold(_ id: OutboxEntry.ID) throws(StoreError) -> Bool {
    let old = try existingEntry(id)
    if old.isRunning { throw .outbox(.leased, id) }
    if old.state == .held {
      // A release of many entries may be about to queue it.
      try transaction.outboxReleases.noteDecision(on: id.rawValue, .held)
      return false
    }
    var new = old
    new.state = .held
    try transaction.outboxEntries.replace(entry: id.rawValue, old, with: new)
    try transaction.outboxFollowing.show(.held, of: new)
    return true
  }

  func release(_ id: OutboxEntry.ID) throws(StoreError) -> Bool {
    let record = try existingEntry(id)
    if record.scheduledTime != nil {
      try transaction.outboxEntries.queue(id.rawValue, record)
      return true
    }
    return try transaction.outboxReleases.letGo(id.rawValue, record, if: .held)
  }

  func releaseAll(in id: ConversationID?) throws(StoreError) -> Int {
    try transaction.outboxReleases.release(.held, in: id)
  }

  func retry(_ id: OutboxEntry.ID) throws(StoreError) -> Bool {
    let record = try existingEntry(id)
    var ordinals: [UInt64] = []
    if case .send(let message) = record.subject {
      for (ordinal, other) in try view.outbox.entries(of: message, in: record.conversation) {
        if case .upload = other.subject { ordinals.append(ordinal) }
      }
    }
    ordinals.append(id.rawValue)
    var isChanged = false
    for ordinal in ordinals {
      guard let record = try view.outbox.entry(ordinal) else { continue }
      if try transaction.outboxReleases.letGo(ordinal, record, if: [.waiting, .failed]) {
        isChanged = true
      }
    }
    return isChanged
  }

  /// Queues waiting entries, and on request failed ones, to go as soon as possible.
  ///
  /// Returns their number.
  func retryAll(in id: ConversationID?, includesFailed: Bool) throws(StoreError) -> Int {
    try transaction.outboxReleases.release(
      includesFailed ? [.waiting, .failed] : .waiting, in: id)
  }

  func releaseAndRetryAll() throws(StoreError) -> Int {
    if transaction.outboxTotals.holdsNewEntries {
      transaction.outboxEntries.setHoldsNewEntries(totals: false)
    }
    return try transaction.outboxReleases.release(.all, in: nil)
  }

  /// Changes the text of a message, or of an edit, that cannot have left.
  func setText(
    _ text: String, mentions: [MemberID], of id: OutboxEntry.ID
  ) throws(StoreError) -> Bool {
    try ReceivedMessages.validate(mentions: mentions)
    let record = try existingEntry(id)
    if record.isRunning { throw .outbox(.leased, id) }
    if record.mayHaveLeft { throw .outbox(.mayHaveLeft, id) }
    guard let conversation = try view.outbox.conversationName(of: record) else {
      throw .outbox(.hasNoText, id)
    }
    switch record.subject {
    case .send(let message):
      return try rewrite(
        message, in: conversation, text: text, mentions: mentions, id, record)
    case .edit(let message, let time):
      return try rewrite(
        editAt: time, of: message, in: conversation, text: text, mentions: mentions, id, record)
    default: throw .outbox(.hasNoText, id)
    }
  }

  private func rewrite(
    _ message: MessageID, in conversation: ConversationID, text: String, mentions: [MemberID],
    _ id: OutboxEntry.ID, _ record: OutboxRecord
  ) throws(StoreError) -> Bool {
    let target = try transaction.composing.ownMessage(message, in: conversation)
    let old = target.message
    // The shown version may be an edit from elsewhere; then there is an original beside it.
    if !old.traits.pendingEdits.isEmpty || old.traits.marks.contains(.versions) {
      throw .outbox(.hasNoText, id)
    }
    try transaction.composing.check(text, hasAttachment: old.traits.marks.contains(.attachments))
    var new = old
    new.version = TextVersion(
      editTime: nil, text: text, mentions: try transaction.memberNumbers(of: mentions).sorted())
    guard new != old else { return false }
    view.source.isErasing = true
    try transaction.messages.replace(
      old, at: target.position, with: new, at: target.position, in: target.conversation)
    try giveToken(to: id, record)
    return true
  }

  /// Gives an entry a new token, because the server has refused the old one with another text.
  private func giveToken(to id: OutboxEntry.ID, _ old: OutboxRecord) throws(StoreError) {
    if old.attemptCount == 0 { return }
    var new = old
    new.token = .random()
    try transaction.outboxEntries.replace(entry: id.rawValue, old, with: new)
  }

  /// Changes the text of an edit, and keeps its time.
  private func rewrite(
    editAt time: Int64, of message: MessageID, in conversation: ConversationID, text: String,
    mentions: [MemberID], _ id: OutboxEntry.ID, _ record: OutboxRecord
  ) throws(StoreError) -> Bool {
    let target = try transaction.composing.ownMessage(message, in: conversation)
    let (old, number) = (target.message, target.conversation.number)
    try transaction.composing.check(text, hasAttachment: old.traits.marks.contains(.attachments))
    let known =
      old.traits.editTime == time
      ? old.version
      : try view.facts.versions(of: target.id, in: number).first { $0.editTime == time }
    guard let known else { throw .outbox(.hasNoText, id) }
    let version = TextVersion(
      editTime: time, text: text, mentions: try transaction.memberNumbers(of: mentions).sorted())
    if version.text.hasSameBytes(as: known.text), version.mentions == known.mentions {
      return false
    }
    var new = old
    guard
      try transaction.messageFacts.removeVersion(at: time, from: &new, named: target.id, in: number)
    else {
      throw .outbox(.hasNoText, id)
    }
    try transaction.messageFacts.mergeVersion(version, into: &new, named: target.id, in: number)
    try transaction.messages.replace(
      old, at: target.position, with: new, at: target.position, in: target.conversation)
    try giveToken(to: id, record)
    return true
  }

  /// Removes an entry, and undoes what it was to tell where that is possible.
  func removeEntry(_ id: OutboxEntry.ID, because failure: SendFailure?) throws(StoreError) {
    let record = try existingEntry(id)
    if record.isRunning { throw .outbox(.leased, id) }
    guard let conversation = try view.outbox.conversationName(of: record) else {
      return try transaction.outboxEntries.remove(entry: id.rawValue)
    }
    switch record.subject {
    case .send(let message):
      // A message that is to be retracted already is left to that entry.
      if let number = try view.number(of: conversation),
        let (_, stored, _) = try flushed().messages.found(message, in: number),
        !stored.traits.isRetracted
      {
        _ = try transaction.composing.retract(message, in: conversation)
        return
      }
    case .upload, .createConversation:
      throw .outbox(.needed, id)
    case .edit(let message, let time):
      _ = try transaction.messageUpdates.refuseEdit(
        of: message, in: conversation, at: Timestamp(microseconds: time), because: failure)
    case .retract(let message):
      _ = try transaction.messageUpdates.refuseRetraction(
        of: message, in: conversation, because: failure)
    case .react(let message, let emoji, let isRemoved):
      try revert(emoji, isRemoved: isRemoved, of: message, in: conversation)
    case .receipt(let kind):
      try confirmAll(kind, in: conversation)
    // Their facts stay here, though the server is not told.
    case .deleteConversation, .leaveConversation, .changeMembers, .setTitle, .setAvatar, .client,
      .setMessageField, .setConversationField, .setMemberField:
      break
    }
    try transaction.outboxEntries.remove(entry: id.rawValue)
  }

  /// Confirms all receipts as told.
  ///
  /// Messages below a range are told by name once the range was told, so there are two rounds, and
  /// a third that finds nothing. The round limit keeps a damaged store from looping forever.
  private func confirmAll(_ kind: ReceiptKind, in conversation: ConversationID) throws(StoreError) {
    for _ in 0..<Self.maximumConfirmedRoundCount {
      var isChanged = false
      for receipt in try flushed().pendingReceipts.pendingReceipts(
        in: conversation, kind, as: .mark)
      {
        if try transaction.pendingReceipts.confirm(receipt) { isChanged = true }
      }
      if !isChanged { return }
    }
    throw view.corrupt(Schema.conversations, "conversation \"\(conversation)\": endless receipts")
  }

  private static var maximumConfirmedRoundCount: Int { 8 }

  /// Undoes an addition or a removal of a reaction by the local member.
  private func revert(
    _ emoji: String, isRemoved: Bool, of message: MessageID, in conversation: ConversationID
  ) throws(StoreError) {
    guard let member = localMember, let open = try transaction.existingConversation(conversation),
      let (_, _, own) = try flushed().messages.found(message, in: open.number)
    else { return }
    let known = try transaction.messageFacts.reaction(emoji, of: member, to: own, in: open.number)
    guard let old = known, old.isRemoved == isRemoved else { return }
    let time = Conversations.provisionalTime(
      after: old.time, try transaction.conversations.newestServerTime(in: open))
    let record = ReactionRecord(time: time, isRemoved: !isRemoved)
    _ = try transaction.messageUpdates.merge(record, emoji, of: member, to: message, in: open)
  }
}

extension Transaction {
  var outboxDecisions: OutboxDecisions { OutboxDecisions(transaction: self) }
}
