import PageFile

/// Handing work out under leases, and taking it back.
///
/// See docs/message-format.md, O-19 … O-24.
///
///  1. Nobody gets what somebody else has whose lease has not expired.
///  2. Whoever says that work is done is believed, also when the lease has expired and another has the
///     work: the token is the same. What failed, and how long it goes on, only the holder says.
struct OutboxLeases: TransactionPart {
  let transaction: Transaction

  init(_ transaction: Transaction) { self.transaction = transaction }

  /// Hands out what is due first; nil when nothing is.
  func nextWork(for owner: String, lease: Duration) throws(StoreError) -> OutboxItem? {
    try Identifier.validate("owner", byteCount: owner.utf8.count)
    let range = OutboxOptions.leaseRange
    let length = min(max(lease.microseconds, range.lowerBound), range.upperBound)
    if try transaction.outboxEntries.isEmpty { return nil }
    // What is told is read from the trees.
    try transaction.summaries.flush()
    let now = transaction.clock().microseconds
    var leftCount = 0
    while let due = try nextDue(at: now) {
      let ordinal = due.ordinal
      let record = try view.outbox.indexedEntry(ordinal)
      // What ends the turn of an entry takes it out of the index where the entry says that it is. One
      // that is elsewhere would come again without end.
      guard record.isActive, record.dueTime == due.time else {
        throw view.corrupt(
          Schema.work, "entry \(ordinal) of the outbox is not due at \(due.time)")
      }
      if try transaction.outboxSweeps.isLeft(ordinal, record) {
        leftCount += 1
        if transaction.isStepFull(leftCount, of: transaction.entryCountMax) { return nil }
        continue
      }
      if try isSuperseded(ordinal, record) {
        try transaction.outboxEntries.remove(entry: ordinal)
        continue
      }
      if let reason = reasonToGiveUp(record, at: now) {
        try transaction.outboxAnswers.fail(
          ordinal, record, because: reason, retryAt: nil, isFinal: true)
        continue
      }
      let task = try flushed().tasks.task(
        record, form: rules.outbox.receiptForm,
        doneByteCount: transaction.attachments.doneByteCount)
      guard let task else {
        try drop(entry: ordinal, record)
        continue
      }
      return try handOut(ordinal, record, task, to: owner, until: Self.time(now, plus: length))
    }
    return nil
  }

  /// What may be handed out now; where nothing may, after what is done in steps has gone on by one.
  private func nextDue(
    at now: Int64
  ) throws(StoreError) -> (time: Int64, ordinal: UInt64)? {
    if let due = try dueEntry(at: now) { return due }
    guard try transaction.outboxTotals.hasSteps else { return nil }
    try transaction.outboxSweeps.stepOutbox()
    return try dueEntry(at: now)
  }

  /// Whether a newer entry tells of all that this one would.
  private func isSuperseded(
    _ ordinal: UInt64, _ record: OutboxRecord
  ) throws(StoreError) -> Bool {
    switch record.subject {
    case .setTitle, .setAvatar:
      let newest = try view.outbox.lane(record.conversation)[record.subject] ?? 0
      return newest > ordinal && !StoreDefect.supersededHandedOut.isPlanted
    default: return false
    }
  }

  /// Takes out what does not hold any more.
  ///
  /// What was handed out before its message was to be taken back waits for how that ends.
  private func drop(entry ordinal: UInt64, _ record: OutboxRecord) throws(StoreError) {
    if record.subject.needsMessage, !record.subject.isUnsend, let id = record.subject.message,
      let (_, message, _) = try flushed().messages.found(id, in: record.conversation),
      message.traits.marks.contains(.hidden), record.isRunning
    {
      var new = record
      new.state = .queued
      return try transaction.outboxEntries.replace(entry: ordinal, record, with: new)
    }
    try transaction.outboxEntries.remove(entry: ordinal)
  }

  /// A time so much later, or the last there is.
  static func time(_ time: Int64, plus length: Int64) -> Int64 {
    let (sum, isOverflow) = time.addingReportingOverflow(length)
    return isOverflow ? .max : sum
  }

  /// What may be handed out now: the oldest of what is queued and of what has been due longest.
  ///
  /// What was queued has the time 0, and what waits or was handed out the time from when on it may go.
  /// Of the latter the first few are looked at, so that a retry goes before what was entered later,
  /// however much that is. Where the clock was set back, a wait or a lease may seem to end later than
  /// any can: that has ended too.
  private func dueEntry(
    at now: Int64
  ) throws(StoreError) -> (time: Int64, ordinal: UInt64)? {
    var found: [(time: Int64, ordinal: UInt64)] = []
    // Before 1970, by this clock, what waits has lesser times than what was queued.
    try view.outbox.forEachDue(from: .min) { (time, ordinal) in
      if time == 0 || time < 0 && time <= now { found.append((time, ordinal)) }
      return time < 0 && found.count < Self.waitedCountMax
    }
    try view.outbox.forEachDue(from: 1) { (time, ordinal) in
      guard time <= now else { return false }
      found.append((time, ordinal))
      return found.count < Self.waitedCountMax
    }
    let horizon = try transaction.outboxReleases.releaseHorizon
    if let oldest = found.min(by: { $0.ordinal < $1.ordinal }) {
      return oldest.ordinal < horizon ?? .max ? oldest : nil
    }
    let (limit, isOverflow) = now.addingReportingOverflow(OutboxOptions.leaseRange.upperBound)
    guard !isOverflow, limit < .max else { return nil }
    var seeming: (time: Int64, ordinal: UInt64)?
    try view.outbox.forEachDue(from: limit + 1) { (time, ordinal) in
      seeming = (time, ordinal)
      return false
    }
    return seeming
  }

  /// How many entries whose wait or lease has ended are looked at for the oldest.
  private static var waitedCountMax: Int { 64 }

  private func reasonToGiveUp(_ record: OutboxRecord, at now: Int64) -> Failure? {
    if let limit = rules.outbox.ageMax?.microseconds,
      case let (age, isOverflow) = now.subtractingReportingOverflow(record.created),
      now > record.created, isOverflow || age > limit
    {
      return record.failure ?? Failure(.other, text: "older than the outbox keeps trying")
    }
    let failureCount = record.failuresSoFar
    if let limit = rules.outbox.attemptCountMax, failureCount >= UInt64(max(limit, 1)),
      !StoreDefect.attemptsUnlimited.isPlanted
    {
      return record.failure ?? Failure(.other, text: "handed out as often as the outbox tries")
    }
    return nil
  }

  private func handOut(
    _ ordinal: UInt64, _ record: OutboxRecord, _ task: OutboxTask, to owner: String,
    until expiry: Int64
  ) throws(StoreError) -> OutboxItem {
    var new = record
    let sum = task.contentSum
    // The server may have had the token with other content.
    if sum != record.contentSum, record.attemptCount > 0, !StoreDefect.tokenKept.isPlanted {
      new.token = .random()
    }
    new.contentSum = sum
    new.failureCount = min(record.failuresSoFar, OutboxRecord.countMax - 1)
    new.failure = nil
    new.attemptCount = min(new.attemptCount + 1, OutboxRecord.countMax - 1)
    let lease = try transaction.outboxEntries.takeLease()
    new.state = .running(lease: lease, expiry: expiry, owner: owner)
    try transaction.outboxEntries.replace(entry: ordinal, record, with: new)
    let conversation = try view.outbox.conversationName(of: record)
    if let conversation {
      try show(new, .sending, retryAt: nil, failure: nil, in: conversation)
    }
    transaction.isDurabilityWanted = true
    var task = task
    if case .upload(let id, _) = record.subject, case .upload(let state) = task {
      task = .upload(try begin(state, of: id))
    }
    return OutboxItem(
      id: OutboxEntry.ID(rawValue: ordinal), token: new.token, conversation: conversation,
      task: task, attempt: Int(clamping: new.attemptCount),
      expiry: Timestamp(microseconds: expiry), owner: owner, lease: lease)
  }

  /// Has an upload run on from where it was.
  private func begin(
    _ state: AttachmentState, of id: MessageID
  ) throws(StoreError) -> AttachmentState {
    let byteCount = try transaction.outboxUploads.uploadedByteCount(
      state.attachment.id, of: id, in: state.conversation)
    let transfer = AttachmentTransfer.running(doneByteCount: byteCount)
    _ = try transaction.attachmentUpdates.setTransfer(
      .upload, to: transfer, of: state.attachment.id, message: id, in: state.conversation)
    return AttachmentState(
      conversation: state.conversation, message: state.message, attachment: state.attachment,
      upload: transfer, download: state.download)
  }

  /// Shows with a message how it stands.
  func show(
    _ record: OutboxRecord, _ status: MessageStatus, retryAt: Timestamp?, failure: Failure?,
    in conversation: ConversationID
  ) throws(StoreError) {
    guard case .send(let id) = record.subject else { return }
    _ = try transaction.outboxFollowing.setStatus(
      status, of: id, in: conversation, at: nil, retryAt: retryAt, failure: failure)
  }
}

extension OutboxTask {
  /// A checksum of what is told where it may be another thing on the next attempt; else 0.
  var contentSum: UInt64 {
    var buffer = ByteBuffer()
    switch self {
    case .receipt(let receipt):
      buffer.append(receipt.isMark ? 1 : 0)
      if let upTo = receipt.upTo { buffer.append(upTo) }
      for id in receipt.ids { buffer.append(id) }
    case .setTitle(let text), .setAvatar(let text):
      buffer.append(text == nil ? 0 : 1)
      buffer.append(text ?? "")
    default: return 0
    }
    return max(Checksum.of(buffer.bytes, seed: 0), 1)
  }
}

extension Transaction {
  var outboxLeases: OutboxLeases { OutboxLeases(self) }
}
