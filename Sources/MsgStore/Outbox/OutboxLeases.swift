import PageFile

/// Hands out work under leases.
///
/// See docs/message-format.md, O-19 … O-24.
///
///  1. Work under a lease that has not expired is handed to no other owner.
///  2. Any report that work is done is accepted, even if the lease has expired and another owner
///     has the work: the token is the same. Only the holder may report a failure, or renew the
///     lease.
///  3. Of a lane only the first entry is handed out and, if a run is requested, the sends right
///     behind it, in the same commit.
struct OutboxLeases: TransactionPart {
  let transaction: Transaction

  /// Hands out the entry that is due first; returns nil if none is due.
  func nextWork(for owner: String, lease: Duration) throws(StoreError) -> OutboxItem? {
    try Identifier.validate("owner", byteCount: owner.utf8.count)
    let range = OutboxOptions.leaseRange
    let length = min(max(lease.microseconds, range.lowerBound), range.upperBound)
    // Entries of deleted conversations are not counted, and go in steps.
    if transaction.outboxEntries.isEmpty, !transaction.outboxTotals.hasSteps { return nil }
    // The content to be told is read from the trees.
    try transaction.summaries.flush()
    let now = transaction.clock().microseconds
    try transaction.outboxEntries.queueDue(at: now)
    var endedCount = 0
    while let due = try nextDue(at: now) {
      let ordinal = due.ordinal
      let record = try view.outbox.indexedEntry(ordinal)
      // Whatever ends the turn of an entry removes it from the index at the entry's own due time.
      // An entry indexed elsewhere would come up again endlessly.
      guard record.isActive, record.dueTime == due.time else {
        throw view.corrupt(
          Schema.work, "outbox entry \(ordinal): not due at \(due.time)")
      }
      // Whatever is due and ends without being handed out is a part of a step.
      if transaction.isStepFull(endedCount, of: transaction.maximumEntryCount) {
        return try handOutPastEnding(at: now, to: owner, until: Self.time(now, plus: length))
      }
      guard let task = try taskOrEnd(ordinal, record, at: now) else {
        endedCount += 1
        continue
      }
      return try handOut(ordinal, record, task, to: owner, until: Self.time(now, plus: length))
    }
    return nil
  }

  /// Returns an entry that may be handed out now.
  ///
  /// Without a due entry, runs one step of the outbox's pending work first.
  private func nextDue(
    at now: Int64
  ) throws(StoreError) -> (time: Int64, ordinal: UInt64)? {
    if let due = try dueEntry(at: now) { return due }
    guard transaction.outboxTotals.hasSteps else { return nil }
    try transaction.outboxSweeps.stepOutbox()
    return try dueEntry(at: now)
  }

  /// A task, with what was read for it.
  private final class ReadTask {
    let task: OutboxTask
    let conversation: ConversationID?
    let found: LocatedMessage?

    init(_ task: OutboxTask, in conversation: ConversationID?, of found: LocatedMessage?) {
      self.task = task
      self.conversation = conversation
      self.found = found
    }
  }

  /// Returns the task of a due entry; nil if its turn ends without one, or it was not its turn.
  private func taskOrEnd(
    _ ordinal: UInt64, _ record: OutboxRecord, at now: Int64
  ) throws(StoreError) -> ReadTask? {
    if try transaction.outboxSweeps.isLeft(ordinal, record) { return nil }
    if try isSuperseded(ordinal, record) {
      try transaction.outboxEntries.remove(entry: ordinal)
      return nil
    }
    if let reason = reasonToGiveUp(record, at: now) {
      try transaction.outboxAnswers.fail(
        ordinal, record, because: reason, retryAt: nil, isFinal: true)
      return nil
    }
    let task = try readTask(of: record)
    if task == nil { try drop(entry: ordinal, record) }
    return task
  }

  private func readTask(of record: OutboxRecord) throws(StoreError) -> ReadTask? {
    let number = record.conversation
    let conversation = number == 0 ? nil : try transaction.name(of: number)
    let found = try record.subject.message.flatMap { (id) throws(StoreError) in
      try flushed().messages.found(id, in: number)
    }
    let task = try flushed().tasks.task(
      record, in: conversation, of: found, form: rules.outbox.receiptForm,
      doneByteCount: transaction.messageFacts.doneByteCount)
    return task.map { ReadTask($0, in: conversation, of: found) }
  }

  /// Hands out the oldest due entry that is to be told, passing over those whose turn ends: this
  /// commit has ended as many as it may.
  ///
  /// So what is given up in one conversation keeps nobody waiting in another.
  private func handOutPastEnding(
    at now: Int64, to owner: String, until expiry: Int64
  ) throws(StoreError) -> OutboxItem? {
    var ordinals: [UInt64] = []
    try view.outbox.forEachDue(from: .min) { (time, ordinal) in
      guard time <= now || time == 0 else { return time < 0 }
      ordinals.append(ordinal)
      return ordinals.count < Self.maximumPassedCount
    }
    let horizon = try transaction.outboxReleases.releaseHorizon ?? .max
    for ordinal in ordinals.sorted() where ordinal < horizon {
      let record = try view.outbox.indexedEntry(ordinal)
      guard try view.outbox.sweep(of: record.conversation) == nil,
        try !isSuperseded(ordinal, record), reasonToGiveUp(record, at: now) == nil,
        let task = try readTask(of: record)
      else { continue }
      return try handOut(ordinal, record, task, to: owner, until: expiry)
    }
    return nil
  }

  /// The number of due entries that are looked at for one that is to be told.
  private static var maximumPassedCount: Int { 1024 }

  /// Returns true if a newer entry tells everything that this one would.
  private func isSuperseded(
    _ ordinal: UInt64, _ record: OutboxRecord
  ) throws(StoreError) -> Bool {
    switch record.subject {
    case .setTitle, .setAvatar:
      let newest = try transaction.outboxEntries.lane(record.conversation)[record.subject] ?? 0
      return newest > ordinal && !StoreDefect.supersededHandedOut.isPlanted
    default: return false
    }
  }

  /// Removes an entry that has nothing to tell any more.
  ///
  /// An entry that was handed out before its message was to be retracted waits for the outcome of
  /// that.
  private func drop(entry ordinal: UInt64, _ record: OutboxRecord) throws(StoreError) {
    if record.subject.needsMessage, !record.subject.isRetraction, let id = record.subject.message,
      let (_, message, _) = try flushed().messages.found(id, in: record.conversation),
      message.traits.marks.contains(.hidden), record.isRunning
    {
      var new = record
      new.state = .queued
      return try transaction.outboxEntries.replace(entry: ordinal, record, with: new)
    }
    try transaction.outboxEntries.remove(entry: ordinal)
  }

  /// Returns a time later by a length, or the last possible time.
  static func time(_ time: Int64, plus length: Int64) -> Int64 {
    let (sum, isOverflow) = time.addingReportingOverflow(length)
    return isOverflow ? .max : sum
  }

  /// Returns an entry that may be handed out now: the oldest among the queued ones and those due
  /// longest.
  ///
  /// Queued entries have the time 0; waiting and running ones have the time from which on they may
  /// go. Of the latter the first few are compared, so that a retry goes before entries made later,
  /// however many these are. If none is due, one may seem to end too late, see `seemingDue(at:)`.
  private func dueEntry(
    at now: Int64
  ) throws(StoreError) -> (time: Int64, ordinal: UInt64)? {
    var found: [(time: Int64, ordinal: UInt64)] = []
    // If this clock shows a time before 1970, waiting entries have lesser times than queued ones.
    try view.outbox.forEachDue(from: .min) { (time, ordinal) in
      if time == 0 || time < 0 && time <= now { found.append((time, ordinal)) }
      return time < 0 && found.count < EntryReader.maximumWaitedCount
    }
    try view.outbox.forEachDue(from: 1) { (time, ordinal) in
      guard time <= now else { return false }
      found.append((time, ordinal))
      return found.count < EntryReader.maximumWaitedCount
    }
    let horizon = try transaction.outboxReleases.releaseHorizon
    if let oldest = found.min(by: { $0.ordinal < $1.ordinal }) {
      return oldest.ordinal < horizon ?? .max ? oldest : nil
    }
    return try view.outbox.seemingDue(at: now)
  }

  /// Hands out the entry that is due first, and if it is a send the sends right behind it.
  ///
  /// The run ends at anything else, at an entry that waits, runs, or has uploads, and at the count.
  func nextRun(
    for owner: String, lease: Duration, maximumCount: Int
  ) throws(StoreError) -> [OutboxItem] {
    let maximumCount = try maximumCount.validatedRequest()
    guard let first = try nextWork(for: owner, lease: lease) else { return [] }
    guard case .send = first.task, maximumCount > 1 else { return [first] }
    let number = try view.outbox.indexedEntry(first.id.rawValue).conversation
    let ordinals = try view.outbox.ordinals(
      inLane: number, behind: first.id.rawValue,
      maximumCount: min(maximumCount, OutboxOptions.maximumRunCount) - 1)
    let now = transaction.clock().microseconds
    let horizon = try transaction.outboxReleases.releaseHorizon ?? .max
    var run = [first]
    for ordinal in ordinals where ordinal < horizon {
      // Each message is written anew, with its state.
      if transaction.isStepFull(run.count, of: maximumCount) { break }
      guard let item = try handOut(ordinal, behind: first, at: now) else { break }
      run.append(item)
    }
    return run
  }

  /// Hands out an entry behind another of its lane; returns nil if it has to wait for its turn.
  private func handOut(
    _ ordinal: UInt64, behind first: OutboxItem, at now: Int64
  ) throws(StoreError) -> OutboxItem? {
    let record = try view.outbox.indexedEntry(ordinal)
    guard case .send(let id) = record.subject, record.isActive,
      record.state == .queued || record.dueTime <= now,
      try !view.outbox.hasUploads(id, in: record.conversation),
      reasonToGiveUp(record, at: now) == nil, let task = try readTask(of: record)
    else { return nil }
    return try handOut(
      ordinal, record, task, to: first.owner, until: first.expiry.microseconds)
  }

  private func reasonToGiveUp(_ record: OutboxRecord, at now: Int64) -> SendFailure? {
    // As in the record, or a clock far ahead would give up everything at once.
    let now = Timestamp(microseconds: now).nearestPlausible.microseconds
    if let limit = rules.outbox.maximumAge?.microseconds,
      case let (age, isOverflow) = now.subtractingReportingOverflow(record.created),
      now > record.created, isOverflow || age > limit
    {
      return record.failure ?? SendFailure(.other, text: "entry is older than the age limit")
    }
    let failureCount = record.failuresSoFar
    if let limit = rules.outbox.maximumAttemptCount, failureCount >= UInt64(max(limit, 1)),
      !StoreDefect.attemptsUnlimited.isPlanted
    {
      return record.failure ?? SendFailure(.other, text: "entry has used all its attempts")
    }
    return nil
  }

  private func handOut(
    _ ordinal: UInt64, _ record: OutboxRecord, _ read: ReadTask, to owner: String,
    until expiry: Int64
  ) throws(StoreError) -> OutboxItem {
    var new = record
    let sum = read.task.contentSum
    // The server may have received the token with other content.
    if sum != record.contentSum, record.attemptCount > 0, !StoreDefect.tokenKept.isPlanted {
      new.token = .random()
    }
    new.contentSum = sum
    new.failureCount = min(record.failuresSoFar, OutboxRecord.maximumCount - 1)
    new.failure = nil
    new.attemptCount = min(new.attemptCount + 1, OutboxRecord.maximumCount - 1)
    let lease = try transaction.outboxEntries.takeLease()
    new.state = .running(lease: lease, expiry: expiry, owner: owner)
    try transaction.outboxEntries.replace(entry: ordinal, record, with: new)
    if case .send = record.subject, let found = read.found {
      try transaction.outboxFollowing.setStatus(.sending, of: found, in: record.conversation)
    }
    transaction.isDurabilityWanted = true
    var task = read.task
    if case .upload(let id, _) = record.subject, case .upload(let state) = task {
      task = .upload(try begin(state, of: id))
    }
    return OutboxItem(
      id: OutboxEntry.ID(rawValue: ordinal), token: new.token, conversation: read.conversation,
      task: task, serverName: serverName(record, read.found),
      retractedAt: record.subject.isRetraction ? read.found?.message.traits.retractedAt : nil,
      attempt: Int(clamping: new.attemptCount), expiry: Timestamp(microseconds: expiry),
      owner: owner, lease: lease)
  }

  /// Returns the server's name of an entry's message, if that is not its own.
  private func serverName(
    _ record: OutboxRecord, _ found: LocatedMessage?
  ) -> MessageID? {
    guard let own = record.subject.message, let name = found?.position.id, name != own else {
      return nil
    }
    return name
  }

  /// Starts an upload, or continues it from its last progress.
  private func begin(
    _ state: AttachmentState, of id: MessageID
  ) throws(StoreError) -> AttachmentState {
    let byteCount = try transaction.outboxUploads.uploadedByteCount(
      state.attachment.id, of: id, in: state.conversation)
    let transfer = AttachmentTransfer.running(doneByteCount: byteCount)
    _ = try transaction.messageUpdates.setTransfer(
      .upload, to: transfer, of: state.attachment.id, message: id, in: state.conversation)
    return AttachmentState(
      conversation: state.conversation, message: state.message, attachment: state.attachment,
      upload: transfer, download: state.download)
  }

  /// Shows the state of an entry as the status of its message.
  func show(
    _ record: OutboxRecord, _ status: MessageStatus, retryAt: Timestamp?, failure: SendFailure?,
    in conversation: ConversationID
  ) throws(StoreError) {
    guard case .send(let id) = record.subject else { return }
    _ = try transaction.outboxFollowing.setStatus(
      status, of: id, in: conversation, retryAt: retryAt, failure: failure)
  }
}

extension OutboxTask {
  /// A checksum of the content told if it may differ on the next attempt; otherwise 0.
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
  var outboxLeases: OutboxLeases { OutboxLeases(transaction: self) }
}
