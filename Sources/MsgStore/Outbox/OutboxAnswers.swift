import PageFile

/// Takes answers about work that was handed out: that it continues, is done, has failed, or was not
/// begun.
///
/// See docs/message-format.md, O-19 … O-24.
struct OutboxAnswers: TransactionPart {
  let transaction: Transaction

  /// Returns the entry of an item if the item's lease is the newest; otherwise nil.
  @inline(never)
  private func held(_ item: OutboxItem) throws(StoreError) -> OutboxRecord? {
    guard let record = try transaction.outboxSweeps.currentEntry(item.id.rawValue),
      case .running(item.lease, _, _) = record.state
    else { return nil }
    return record
  }

  func renew(_ item: OutboxItem, lease: Duration) throws(StoreError) -> OutboxItem? {
    guard let old = try held(item) else { return nil }
    let range = OutboxOptions.leaseRange
    let length = min(max(lease.microseconds, range.lowerBound), range.upperBound)
    let expiry = OutboxLeases.time(transaction.clock().microseconds, plus: length)
    var new = old
    new.state = .running(lease: item.lease, expiry: expiry, owner: item.owner)
    try transaction.outboxEntries.replace(entry: item.id.rawValue, old, with: new)
    return OutboxItem(
      id: item.id, token: item.token, conversation: item.conversation, task: item.task,
      serverName: item.serverName, retractedAt: item.retractedAt, attempt: item.attempt,
      expiry: Timestamp(microseconds: expiry), owner: item.owner,
      lease: item.lease)
  }

  /// Notes that the server has the work, and removes its entry.
  ///
  /// Returns false if the entry is gone or has another token by now, or no receipt changed.
  func finish(
    _ item: OutboxItem, serverTime: Timestamp?, serverName: MessageID?
  ) throws(StoreError) -> Bool {
    try serverTime?.validate()
    try serverName?.validate()
    transaction.isDurabilityWanted = true
    let ordinal = item.id.rawValue
    let record = try transaction.outboxSweeps.currentEntry(ordinal)
    if case .receipt(let receipt) = item.task { return try finish(item, receipt) }
    guard let record else { return try noteAnswer(item, serverTime) }
    guard record.token == item.token else { return false }
    if case .setOwnField(let told, _) = item.task, let serverTime {
      try transaction.outboxEntering.confirmField(
        record, ordinal, told.register, at: serverTime.microseconds)
    } else if let id = item.conversation {
      switch record.subject {
      case .send(let message):
        _ = try transaction.messageUpdates.receiveStatus(.sent, of: message, in: id, at: nil)
        // Facts change no entry before their effects are settled.
        try transaction.outboxEntries.remove(entry: ordinal, record)
        return true
      case .edit(let message, let time):
        _ = try transaction.messageUpdates.confirmEdit(
          of: message, in: id, at: Timestamp(microseconds: time), serverTime: serverTime,
          serverName: serverName)
      case .retract(let message):
        _ = try transaction.messageUpdates.confirmRetraction(
          of: message, in: id, serverTime: serverTime)
      case .react(let message, let emoji, let isRemoved):
        guard let serverTime else { break }
        try transaction.outboxAnswers.confirmReaction(
          emoji, isRemoved: isRemoved, to: message, in: record.conversation, ordinal, serverTime)
      case .setTitle, .setAvatar, .createConversation, .changeMembers,
        .leaveConversation, .deleteConversation:
        guard let serverTime else { break }
        try transaction.outboxAnswers.confirm(
          record, ordinal, item.task, at: serverTime.microseconds)
      case .upload(let message, let attachment):
        _ = try transaction.messageUpdates.setTransfer(
          .upload, to: .done, of: attachment, message: message, in: id)
      case .receipt, .client, .setMessageField, .setConversationField, .setMemberField: break
      }
    }
    try transaction.outboxEntries.remove(entry: ordinal)
    return true
  }

  /// Notes what only the answer tells of work that other news has settled before.
  ///
  /// Returns false if that is nothing.
  private func noteAnswer(
    _ item: OutboxItem, _ serverTime: Timestamp?
  ) throws(StoreError) -> Bool {
    guard let id = item.conversation else { return false }
    switch item.task {
    case .upload(let state):
      return try transaction.messageUpdates.setTransfer(
        .upload, to: .done, of: state.attachment.id, message: state.message, in: id)
    case .createConversation(let told):
      guard let serverTime, let number = try view.number(of: id) else { return false }
      return try transaction.outboxAnswers.confirmCreation(
        of: number, told, at: serverTime.microseconds)
    case .retract(let message):
      guard let serverTime, let given = item.retractedAt else { return false }
      return try transaction.messageUpdates.replaceRetractionTime(
        given, of: message, in: id, by: serverTime.microseconds)
    default: return false
    }
  }

  /// Confirms a receipt.
  ///
  /// Messages marked meanwhile stay to be told, under another token.
  ///
  /// If another owner has the entry by now, it stays theirs.
  private func finish(
    _ item: OutboxItem, _ receipt: PendingReceipt
  ) throws(StoreError) -> Bool {
    let isHolder = try held(item) != nil
    let isChanged = try transaction.pendingReceipts.confirm(receipt)
    try transaction.outboxFollowing.settle()
    guard isHolder, let left = try held(item) else { return isChanged }
    try begin(anew: item.id.rawValue, left)
    return true
  }

  /// Queues an entry again that has something else to tell now.
  func begin(anew ordinal: UInt64, _ record: OutboxRecord) throws(StoreError) {
    var new = record
    new.state = .queued
    new.token = .random()
    new.attemptCount = 0
    new.failure = nil
    new.contentSum = 0
    transaction.outboxEntries.beginLimits(of: &new)
    try transaction.outboxEntries.replace(entry: ordinal, record, with: new)
  }

  func fail(
    _ item: OutboxItem, because failure: SendFailure, retryAt: Timestamp?
  ) throws(StoreError) -> Bool {
    guard let record = try held(item) else { return false }
    let isLast =
      rules.outbox.maximumAttemptCount.map { record.failureCount + 1 >= UInt64(max($0, 1)) }
      ?? false
    try fail(
      item.id.rawValue, record, because: failure, retryAt: retryAt,
      isFinal: failure.kind.isRefusal || isLast)
    return true
  }

  func fail(
    _ ordinal: UInt64, _ record: OutboxRecord, because failure: SendFailure, retryAt: Timestamp?,
    isFinal: Bool
  ) throws(StoreError) {
    var new = record
    new.failure = failure
    new.failureCount = min(new.failureCount + 1, OutboxRecord.maximumCount - 1)
    var time: Timestamp?
    if isFinal {
      new.state = .failed
    } else {
      let now = transaction.clock().microseconds
      let until = OutboxLeases.time(now, plus: rules.outbox.delay(afterFailures: new.failureCount))
      let limit = OutboxLeases.time(now, plus: OutboxOptions.leaseRange.upperBound)
      let wanted = retryAt.map { min(max($0.microseconds, now), limit) } ?? until
      new.state = .waiting(until: wanted, isOwn: retryAt == nil)
      time = Timestamp(microseconds: wanted).nearestPlausible
    }
    try transaction.outboxEntries.replace(entry: ordinal, record, with: new)
    guard let conversation = try view.outbox.conversationName(of: record) else { return }
    try transaction.outboxLeases.show(
      record, isFinal ? .failed : .retrying, retryAt: time, failure: failure, in: conversation)
    if case .upload(let id, let attachment) = record.subject {
      if isFinal {
        _ = try transaction.messageUpdates.setTransfer(
          .upload, to: .failed(failure, count: 1), of: attachment, message: id, in: conversation)
      } else {
        try transaction.outboxUploads.pauseUpload(of: attachment, message: id, in: conversation)
      }
    }
    if isFinal, record.subject.needsMessage, let id = record.subject.message {
      try noteFailure(failure, of: id, in: conversation)
    }
    // Messages marked while the receipt was on its way were not refused.
    if isFinal, case .receipt(let kind) = record.subject {
      try transaction.outboxEntering.renewReceipt(kind, in: record.conversation)
    }
  }

  /// Shows on a message why its edit or its retraction has failed.
  private func noteFailure(
    _ failure: SendFailure, of id: MessageID, in conversation: ConversationID
  ) throws(StoreError) {
    guard let open = try transaction.existingConversation(conversation),
      let (position, old, _) = try flushed().messages.found(id, in: open.number)
    else { return }
    var new = old
    new.traits.sending.failure = failure
    guard new != old else { return }
    try transaction.messages.replace(old, at: position, with: new, at: position, in: open)
  }

  /// Takes back work that was handed out and not begun.
  func returnWork(_ item: OutboxItem) throws(StoreError) -> Bool {
    guard let record = try held(item) else { return false }
    var new = record
    new.attemptCount -= min(new.attemptCount, 1)
    try requeue(item.id.rawValue, record, as: new)
    return true
  }

  /// Takes back the work of an owner that has a lease before a given one; returns the number of
  /// entries.
  ///
  /// The work may have been begun.
  func reclaimWork(of owner: String, before end: UInt64 = .max) throws(StoreError) -> Int {
    let totals = transaction.outboxTotals
    // The totals count nothing of a deleted conversation that is still to be swept.
    guard totals.counts.running > 0 || totals.hasSteps else { return 0 }
    var found: [UInt64] = []
    try view.outbox.forEachEntry { (ordinal, record) in
      if case .running(let lease, _, let other) = record.state, lease < end,
        other.hasSameBytes(as: owner)
      {
        found.append(ordinal)
      }
      return true
    }
    var count = 0
    for ordinal in found {
      guard let record = try transaction.outboxSweeps.currentEntry(ordinal) else { continue }
      try requeue(ordinal, record, as: record)
      count += 1
    }
    return count
  }

  private func requeue(
    _ ordinal: UInt64, _ old: OutboxRecord, as record: OutboxRecord
  ) throws(StoreError) {
    var new = record
    new.state = .queued
    try transaction.outboxEntries.replace(entry: ordinal, old, with: new)
    guard let conversation = try view.outbox.conversationName(of: record) else { return }
    try transaction.outboxLeases.show(new, .pending, retryAt: nil, failure: nil, in: conversation)
    if case .upload(let id, let attachment) = record.subject {
      try transaction.outboxUploads.pauseUpload(of: attachment, message: id, in: conversation)
    }
  }
}

extension Transaction {
  var outboxAnswers: OutboxAnswers { OutboxAnswers(transaction: self) }
}
