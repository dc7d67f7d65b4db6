import PageFile

/// What was to be told of a conversation that was deleted here, and whose name has another number now.
///
/// Where there is much of it, it is gone through in steps. See docs/message-format.md, O-18 and O-30.
///
///  1. What is left under the old number is not counted, not shown, and not handed out.
///  2. Until all of it was gone through, nothing is handed out in the order of the new number: what
///     comes over goes before what was entered since.
///  3. Whoever names one of these entries brings it to where it belongs first.
struct OutboxSweeps: TransactionPart {
  let transaction: Transaction

  init(_ transaction: Transaction) { self.transaction = transaction }

  /// Has what is still to be told of a deleted conversation told of its new number, and the rest go.
  ///
  /// What was to be told of its messages goes, but that one was taken back. What was done to the
  /// conversation itself is still to be told: that it was left, above all. One that may be on its way
  /// to be made is made again first, as its deletion has to name it.
  func keepEntries(of conversation: UInt32, for number: UInt32) throws(StoreError) {
    let isUnknown = try transaction.outboxEntering.isUnknownToServer(conversation)
    let target = isUnknown ? 0 : number
    try redirectSweeps(of: conversation, to: target)
    try transaction.outboxReleases.redirectReleases(of: conversation, to: target)
    if try transaction.outboxEntries.isEmpty { return }
    let lane = try view.outbox.lane(conversation)
    guard lane.counts.total > transaction.entryCountMax else {
      for (ordinal, record) in try view.outbox.entries(in: conversation) {
        try bring(entry: ordinal, record, to: target)
      }
      return
    }
    // What a lane is asked for is at once where it is looked for.
    let newest = [
      lane.creation, lane.readReceipt, lane.deliveredReceipt, lane.title, lane.avatar,
    ]
    for ordinal in newest where ordinal != 0 {
      try bring(entry: ordinal, try view.outbox.indexedEntry(ordinal), to: target)
    }
    try beginSweep(of: conversation, to: target)
    _ = try sweepEntries(of: conversation, to: target)
  }

  private func bring(
    entry ordinal: UInt64, _ record: OutboxRecord, to target: UInt32
  ) throws(StoreError) {
    if let new = try kept(record, for: target) {
      try transaction.outboxFollowing.move(entry: ordinal, as: new)
    } else {
      try transaction.outboxEntries.remove(entry: ordinal)
    }
  }

  /// An entry of a deleted conversation as it goes on; nil: it has nothing to tell any more.
  private func kept(
    _ record: OutboxRecord, for target: UInt32
  ) throws(StoreError) -> OutboxRecord? {
    guard target != 0, record.subject.outlivesItsConversation else { return nil }
    var new = record
    new.conversation = target
    if case .createConversation = record.subject, !record.isRunning {
      try transaction.outboxFollowing.sendAgain(&new)
    }
    return new
  }

  private func beginSweep(of conversation: UInt32, to target: UInt32) throws(StoreError) {
    transaction.noteOutboxChange()
    try write(sweepOf: conversation, to: target)
    var totals = try transaction.outboxTotals
    totals.counts.subtract(try view.outbox.lane(conversation).counts)
    totals.hasSteps = true
    transaction.outboxEntries.setTotals(totals)
    try updateStop(of: conversation)
    if target != 0 { try updateStop(of: target) }
  }

  private func write(sweepOf conversation: UInt32, to target: UInt32) throws(StoreError) {
    let key = OutboxKey.sweep(conversation)
    var value = ByteBuffer()
    value.append(littleEndian: target)
    try transaction.insert(key.bytes, value.bytes, in: Schema.work)
  }

  /// Goes through some of the entries that a deleted conversation has left; true when none is left.
  private func sweepEntries(
    of conversation: UInt32, to target: UInt32
  ) throws(StoreError) -> Bool {
    try check(target, of: conversation)
    let prefix = OutboxKey.listed(conversation)
    var lane = try view.outbox.lane(conversation)
    var count = 0
    while !transaction.isStepFull(count, of: transaction.entryCountMax) {
      guard let ordinal = try view.outbox.ordinals(prefix, countMax: 1).first else {
        try endSweep(of: conversation, to: target)
        return true
      }
      let record = try view.outbox.indexedEntry(ordinal)
      guard record.conversation == conversation else {
        throw view.corrupt(
          Schema.work, "entry \(ordinal) of the outbox is listed with another conversation")
      }
      try sweep(ordinal, record, &lane, to: target)
      count += 1
    }
    try transaction.outboxEntries.settle(conversation, &lane)
    return false
  }

  /// What is still to be told goes to a conversation that is there: else it would go round for ever.
  private func check(_ target: UInt32, of conversation: UInt32) throws(StoreError) {
    guard target != 0 else { return }
    if try transaction.isStored(target), try view.outbox.sweepTarget(of: target) == nil { return }
    throw view.corrupt(
      Schema.work, "rest of conversation \(conversation): unknown target (conversation \(target))")
  }

  /// Brings one entry to where it belongs: its old lane is not looked at any more, and nothing there
  /// waits for it.
  private func sweep(
    _ ordinal: UInt64, _ record: OutboxRecord, _ lane: inout OutboxLane, to target: UInt32
  ) throws(StoreError) {
    if record.subject.hasContent { view.source.isErasing = true }
    let key = OutboxKey.entry(ordinal)
    try transaction.remove(key.bytes, in: Schema.work)
    try transaction.outboxEntries.unlist(record, at: ordinal)
    try transaction.outboxEntries.unindex(record, at: ordinal)
    lane.counts.add(-1, record.state)
    if let new = try kept(record, for: target) {
      try transaction.outboxEntries.put(new, at: ordinal)
    }
  }

  private func endSweep(of conversation: UInt32, to target: UInt32) throws(StoreError) {
    transaction.noteOutboxChange()
    let sweep = OutboxKey.sweep(conversation)
    try transaction.remove(sweep.bytes, in: Schema.work)
    let lane = OutboxKey.laneRecord(conversation)
    _ = try storage { () throws(PageFileError) in
      try BTree(view.source, Schema.work).remove(lane.bytes)
    }
    if target != 0 { try updateStop(of: target) }
    try updateSteps()
  }

  /// The conversation that entries are on their way to goes itself, or becomes another.
  ///
  /// - Parameter target: Who gets them now; 0: there is nothing to tell any more.
  func redirectSweeps(of conversation: UInt32, to target: UInt32) throws(StoreError) {
    guard try transaction.outboxTotals.hasSteps else { return }
    var isChanged = false
    for sweep in try view.outbox.sweeps() where sweep.target == conversation {
      try write(sweepOf: sweep.conversation, to: target)
      isChanged = true
    }
    guard isChanged else { return }
    try updateStop(of: conversation)
    if target != 0 { try updateStop(of: target) }
  }

  /// An entry, which is brought to where it belongs before if its conversation was deleted.
  func currentEntry(_ ordinal: UInt64) throws(StoreError) -> OutboxRecord? {
    guard let record = try view.outbox.entry(ordinal) else { return nil }
    return try isLeft(ordinal, record) ? try view.outbox.entry(ordinal) : record
  }

  /// Whether an entry is one that a deleted conversation has left; then it is brought to where it
  /// belongs.
  func isLeft(_ ordinal: UInt64, _ record: OutboxRecord) throws(StoreError) -> Bool {
    guard try transaction.outboxTotals.hasSteps,
      let target = try view.outbox.sweepTarget(of: record.conversation)
    else { return false }
    try check(target, of: record.conversation)
    transaction.noteOutboxChange()
    var lane = try view.outbox.lane(record.conversation)
    try sweep(ordinal, record, &lane, to: target)
    try transaction.outboxEntries.settle(record.conversation, &lane)
    return true
  }

  // MARK: Steps

  /// Does a part of what the outbox does in steps.
  func stepOutbox() throws(StoreError) {
    if let sweep = try view.outbox.sweeps(countMax: 1).first {
      _ = try sweepEntries(of: sweep.conversation, to: sweep.target)
    } else {
      try transaction.outboxReleases.stepRelease()
    }
  }

  /// Notes whether there is something left that is done in steps.
  func updateSteps() throws(StoreError) {
    let hasSteps = try view.outbox.hasSteps()
    var totals = try transaction.outboxTotals
    guard totals.hasSteps != hasSteps else { return }
    totals.hasSteps = hasSteps
    transaction.outboxEntries.setTotals(totals)
  }

  /// Stops a lane, or has it go on, as it has to be by now.
  func updateStop(of conversation: UInt32) throws(StoreError) {
    var lane = try view.outbox.lane(conversation)
    let isStopped = try view.outbox.isLaneStopped(conversation)
    guard lane.isStopped != isStopped else { return }
    lane.isStopped = isStopped
    try transaction.outboxEntries.settle(conversation, &lane)
  }
}

extension OutboxSubject {
  /// Whether it is still to be told when its conversation was deleted here.
  package var outlivesItsConversation: Bool {
    switch self {
    case .deleteConversation, .receipt, .send, .upload, .edit, .react: false
    case .createConversation, .unsend, .leaveConversation, .changeMembers, .setTitle, .setAvatar,
      .client:
      true
    }
  }
}

extension Transaction {
  var outboxSweeps: OutboxSweeps { OutboxSweeps(self) }
}
