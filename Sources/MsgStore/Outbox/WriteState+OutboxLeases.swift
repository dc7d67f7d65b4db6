import PageFile

/// Handing work out under leases, and taking it back.
///
/// See docs/message-format.md, O-19 … O-24.
///
///  1. Nobody gets what somebody else has whose lease has not expired.
///  2. Whoever says that work is done is believed, also when the lease has expired and another has the
///     work: the token is the same. What failed, and how long it goes on, only the holder says.
extension WriteState {
  /// Hands out what is due first; nil when nothing is.
  func nextWork(for owner: String, lease: Duration) throws(StoreError) -> OutboxItem? {
    try Identifier.validate("owner", byteCount: owner.utf8.count)
    let range = OutboxOptions.leaseRange
    let length = min(max(lease.microseconds, range.lowerBound), range.upperBound)
    return try change { () throws(StoreError) in
      if try isOutboxEmpty { return nil }
      // What is told is read from the trees.
      try flush()
      let now = clock().microseconds
      while let ordinal = try dueEntry(at: now) {
        let record = try reader.indexedOutboxEntry(ordinal)
        if try isSuperseded(ordinal, record) {
          try remove(entry: ordinal)
          continue
        }
        if let reason = reasonToGiveUp(record, at: now) {
          try fail(ordinal, record, because: reason, retryAt: nil, isFinal: true)
          continue
        }
        let task = try reader.outboxTask(
          record, form: rules.outbox.receiptForm, doneByteCount: doneByteCount)
        guard let task else {
          try drop(entry: ordinal, record)
          continue
        }
        return try handOut(ordinal, record, task, to: owner, until: Self.time(now, plus: length))
      }
      return nil
    }
  }

  /// Whether a newer entry tells of all that this one would.
  private func isSuperseded(
    _ ordinal: UInt64, _ record: OutboxRecord
  ) throws(StoreError) -> Bool {
    switch record.subject {
    case .setTitle, .setAvatar:
      let newest = try reader.outboxLane(record.conversation)[record.subject] ?? 0
      return newest > ordinal
    default: return false
    }
  }

  /// Takes out what does not hold any more.
  ///
  /// What was handed out before its message was to be taken back waits for how that ends.
  private func drop(entry ordinal: UInt64, _ record: OutboxRecord) throws(StoreError) {
    if record.subject.needsMessage, !record.subject.isUnsend, let id = record.subject.message,
      let (_, message, _) = try reader.found(id, in: record.conversation),
      message.traits.marks.contains(.hidden), record.isRunning
    {
      var new = record
      new.state = .queued
      return try replace(entry: ordinal, record, with: new)
    }
    try remove(entry: ordinal)
  }

  /// A time so much later, or the last there is.
  private static func time(_ time: Int64, plus length: Int64) -> Int64 {
    let (sum, isOverflow) = time.addingReportingOverflow(length)
    return isOverflow ? .max : sum
  }

  /// What may be handed out now.
  ///
  /// Where the clock was set back, a wait or a lease may seem to end later than any can: that has
  /// ended too.
  private func dueEntry(at now: Int64) throws(StoreError) -> UInt64? {
    if let first = try reader.firstDue(from: .min), first.time <= now { return first.ordinal }
    let (limit, isOverflow) = now.addingReportingOverflow(OutboxOptions.leaseRange.upperBound)
    guard !isOverflow, limit < .max else { return nil }
    return try reader.firstDue(from: limit + 1)?.ordinal
  }

  private func reasonToGiveUp(_ record: OutboxRecord, at now: Int64) -> Failure? {
    if let limit = rules.outbox.ageMax?.microseconds,
      case let (age, isOverflow) = now.subtractingReportingOverflow(record.created),
      now > record.created, isOverflow || age > limit
    {
      return record.failure ?? Failure(.other, text: "older than the outbox keeps trying")
    }
    let failureCount = record.failuresSoFar
    if let limit = rules.outbox.attemptCountMax, failureCount >= UInt64(max(limit, 1)) {
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
    if sum != record.contentSum, record.attemptCount > 0 { new.token = .random() }
    new.contentSum = sum
    new.failureCount = record.failuresSoFar
    new.failure = nil
    new.attemptCount += 1
    let lease = try takeLease()
    new.state = .running(lease: lease, expiry: expiry, owner: owner)
    try replace(entry: ordinal, record, with: new)
    let conversation = try reader.conversationName(of: record)
    if let conversation {
      try show(new, .sending, retryAt: nil, failure: nil, in: conversation)
    }
    isDurabilityWanted = true
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
    let byteCount = try uploadedByteCount(state.attachment.id, of: id, in: state.conversation)
    let transfer = AttachmentTransfer.running(doneByteCount: byteCount)
    _ = try setTransfer(
      .upload, to: transfer, of: state.attachment.id, message: id, in: state.conversation)
    return AttachmentState(
      conversation: state.conversation, message: state.message, attachment: state.attachment,
      upload: transfer, download: state.download)
  }

  /// Shows with a message how it stands.
  private func show(
    _ record: OutboxRecord, _ status: MessageStatus, retryAt: Timestamp?, failure: Failure?,
    in conversation: ConversationID
  ) throws(StoreError) {
    guard case .send(let id) = record.subject else { return }
    _ = try setStatus(
      status, of: id, in: conversation, at: nil, retryAt: retryAt, failure: failure)
  }

  // MARK: What the holder says

  /// The entry of an item while its lease is the newest one.
  private func held(_ item: OutboxItem) throws(StoreError) -> OutboxRecord? {
    guard let record = try reader.outboxEntry(item.id.rawValue),
      case .running(item.lease, _, _) = record.state
    else { return nil }
    return record
  }

  func renew(_ item: OutboxItem, lease: Duration) throws(StoreError) -> OutboxItem? {
    try change { () throws(StoreError) in
      guard let old = try held(item) else { return nil }
      let range = OutboxOptions.leaseRange
      let length = min(max(lease.microseconds, range.lowerBound), range.upperBound)
      let expiry = Self.time(clock().microseconds, plus: length)
      var new = old
      new.state = .running(lease: item.lease, expiry: expiry, owner: item.owner)
      try replace(entry: item.id.rawValue, old, with: new)
      return OutboxItem(
        id: item.id, token: item.token, conversation: item.conversation, task: item.task,
        attempt: item.attempt, expiry: Timestamp(microseconds: expiry), owner: item.owner,
        lease: item.lease)
    }
  }

  /// The server has it.
  func finish(_ item: OutboxItem, serverTime: Timestamp?) throws(StoreError) -> Bool {
    try change { () throws(StoreError) in
      isDurabilityWanted = true
      let ordinal = item.id.rawValue
      let record = try reader.outboxEntry(ordinal)
      if case .receipt(let receipt) = item.task { return try finish(item, receipt) }
      guard let record, record.token == item.token else { return false }
      if let id = item.conversation {
        switch (record.subject, item.task) {
        case (.send(let message), _):
          _ = try receiveStatus(.sent, of: message, in: id, at: nil)
        case (.edit(let message, let time), _):
          _ = try confirmEdit(
            of: message, in: id, at: Timestamp(microseconds: time), serverTime: serverTime)
        case (.unsend(let message), _):
          _ = try confirmUnsend(of: message, in: id)
        case (.upload(let message, let attachment), _):
          _ = try setTransfer(.upload, to: .done, of: attachment, message: message, in: id)
        default: break
        }
      }
      // Most are settled by what they have led to.
      if try reader.outboxEntry(ordinal) != nil { try remove(entry: ordinal) }
      return true
    }
  }

  /// What was marked meanwhile stays to be told, under another token.
  ///
  /// Where another has the work by now, it stays theirs.
  private func finish(
    _ item: OutboxItem, _ receipt: PendingReceipt
  ) throws(StoreError) -> Bool {
    let isHolder = try held(item) != nil
    let isChanged = try confirm(receipt)
    guard isHolder, let left = try held(item) else { return isChanged }
    try begin(anew: item.id.rawValue, left)
    return true
  }

  /// Has an entry go that has something else to tell now.
  func begin(anew ordinal: UInt64, _ record: OutboxRecord) throws(StoreError) {
    var new = record
    new.state = .queued
    new.token = .random()
    new.attemptCount = 0
    new.failureCount = 0
    new.failure = nil
    new.contentSum = 0
    try replace(entry: ordinal, record, with: new)
  }

  func fail(
    _ item: OutboxItem, because failure: Failure, retryAt: Timestamp?
  ) throws(StoreError) -> Bool {
    try change { () throws(StoreError) in
      guard let record = try held(item) else { return false }
      let isLast =
        rules.outbox.attemptCountMax.map { record.failureCount + 1 >= UInt64(max($0, 1)) } ?? false
      try fail(
        item.id.rawValue, record, because: failure, retryAt: retryAt,
        isFinal: failure.kind.isRefusal || isLast)
      return true
    }
  }

  private func fail(
    _ ordinal: UInt64, _ record: OutboxRecord, because failure: Failure, retryAt: Timestamp?,
    isFinal: Bool
  ) throws(StoreError) {
    var new = record
    new.failure = failure
    new.failureCount += 1
    var time: Timestamp?
    if isFinal {
      new.state = .failed
    } else {
      let now = clock().microseconds
      let until = Self.time(now, plus: rules.outbox.delay(afterFailures: new.failureCount))
      let limit = Self.time(now, plus: OutboxOptions.leaseRange.upperBound)
      let wanted = retryAt.map { min(max($0.microseconds, now), limit) } ?? until
      new.state = .waiting(until: wanted)
      time = Timestamp(microseconds: wanted)
    }
    try replace(entry: ordinal, record, with: new)
    guard let conversation = try reader.conversationName(of: record) else { return }
    try show(
      record, isFinal ? .failed : .retrying, retryAt: time, failure: failure, in: conversation)
    if case .upload(let id, let attachment) = record.subject {
      if isFinal {
        _ = try setTransfer(
          .upload, to: .failed(failure, count: 1), of: attachment, message: id, in: conversation)
      } else {
        try pauseUpload(of: attachment, message: id, in: conversation)
      }
    }
    if isFinal, record.subject.needsMessage, let id = record.subject.message {
      try note(failure, of: id, in: conversation)
    }
  }

  /// Shows with a message why an edit of it, or taking it back, has failed.
  private func note(
    _ failure: Failure, of id: MessageID, in conversation: ConversationID
  ) throws(StoreError) {
    guard let open = try existingConversation(conversation),
      let (position, old, _) = try reader.found(id, in: open.number)
    else { return }
    var new = old
    new.traits.sending.failure = failure
    guard new != old else { return }
    try replace(old, at: position, with: new, at: position, in: open)
  }

  /// Takes back what was handed out and not begun.
  func giveBack(_ item: OutboxItem) throws(StoreError) -> Bool {
    try change { () throws(StoreError) in
      guard let record = try held(item) else { return false }
      var new = record
      new.attemptCount -= min(new.attemptCount, 1)
      try requeue(item.id.rawValue, record, as: new)
      return true
    }
  }

  /// Takes back all that an owner had, which may have been begun; returns how much that was.
  func giveBackAll(of owner: String) throws(StoreError) -> Int {
    try change { () throws(StoreError) in
      guard try outbox.counts.running > 0 else { return 0 }
      var found: [(UInt64, OutboxRecord)] = []
      try reader.forEachOutboxEntry { (ordinal, record) in
        if case .running(_, _, let other) = record.state, other.hasSameBytes(as: owner) {
          found.append((ordinal, record))
        }
        return true
      }
      for (ordinal, record) in found { try requeue(ordinal, record, as: record) }
      return found.count
    }
  }

  private func requeue(
    _ ordinal: UInt64, _ old: OutboxRecord, as record: OutboxRecord
  ) throws(StoreError) {
    var new = record
    new.state = .queued
    try replace(entry: ordinal, old, with: new)
    guard let conversation = try reader.conversationName(of: record) else { return }
    try show(new, .pending, retryAt: nil, failure: nil, in: conversation)
    if case .upload(let id, let attachment) = record.subject {
      try pauseUpload(of: attachment, message: id, in: conversation)
    }
  }
}

extension OutboxTask {
  /// A checksum of what is told where it may be another thing on the next attempt; else 0.
  var contentSum: UInt64 {
    var buffer = ByteBuffer()
    switch self {
    case .receipt(let receipt):
      buffer.append(receipt.isMark ? 1 : 0)
      if let after = receipt.after { buffer.append(after) }
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
