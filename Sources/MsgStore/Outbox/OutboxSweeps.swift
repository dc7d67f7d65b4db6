import PageFile

/// Sweeps the entries of a conversation that was deleted here, and whose name has another number
/// now.
///
/// Many entries are swept in steps. See docs/message-format.md, O-18 and O-30.
///
///  1. Entries left under the old number are not counted, not shown, and not handed out.
///  2. Until all of them were swept, the lane of the new number hands out nothing: entries that
///     come over go before those entered since.
///  3. An operation that names one of these entries first moves it to where it belongs.
struct OutboxSweeps: TransactionPart {
  let transaction: Transaction

  /// Moves those entries of a deleted conversation that are still to be told to its new number, and
  /// removes the others.
  ///
  /// Entries about its messages are removed, except retractions. Acts on the conversation itself
  /// are still to be told, above all that it was left. A conversation whose creation may be on its
  /// way is created again first, as its deletion has to name it.
  func keepEntries(of conversation: UInt32, for number: UInt32) throws(StoreError) {
    let isUnknown = try transaction.outboxEntering.isUnknownToServer(conversation)
    let target = isUnknown ? 0 : number
    try redirectSweeps(of: conversation, to: target)
    try transaction.outboxReleases.redirectReleases(of: conversation, to: target)
    if try transaction.outboxEntries.isEmpty { return }
    let lane = try view.outbox.lane(conversation)
    guard lane.counts.total > transaction.maximumEntryCount else {
      for (ordinal, record) in try view.outbox.entries(in: conversation) {
        try bring(entry: ordinal, record, to: target)
      }
      return
    }
    // Entries that a lane names are moved at once, since they are looked up there.
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

  /// Returns an entry of a deleted conversation in the form in which it continues; nil if it has
  /// nothing to tell any more.
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
    try writeSweep(of: conversation, to: target)
    var totals = try transaction.outboxTotals
    totals.counts.subtract(try view.outbox.lane(conversation).counts)
    totals.hasSteps = true
    transaction.outboxEntries.setTotals(totals)
    try updateStop(of: conversation)
    if target != 0 { try updateStop(of: target) }
  }

  private func writeSweep(of conversation: UInt32, to target: UInt32) throws(StoreError) {
    let key = OutboxKey.sweep(conversation)
    var value = ByteBuffer()
    value.append(littleEndian: target)
    try transaction.insert(key.bytes, value.bytes, in: Schema.work)
  }

  /// Sweeps some of the entries that a deleted conversation has left.
  ///
  /// Returns true when none is left.
  private func sweepEntries(
    of conversation: UInt32, to target: UInt32
  ) throws(StoreError) -> Bool {
    try check(target, of: conversation)
    let prefix = OutboxKey.listed(conversation)
    var lane = try view.outbox.lane(conversation)
    var count = 0
    while !transaction.isStepFull(count, of: transaction.maximumEntryCount) {
      guard let ordinal = try view.outbox.ordinals(prefix, maximumCount: 1).first else {
        try endSweep(of: conversation, to: target)
        return true
      }
      let record = try view.outbox.indexedEntry(ordinal)
      guard record.conversation == conversation else {
        throw view.corrupt(
          Schema.work, "outbox entry \(ordinal): listed under another conversation")
      }
      try sweep(ordinal, record, &lane, to: target)
      count += 1
    }
    try transaction.outboxEntries.settle(conversation, &lane)
    return false
  }

  /// Checks that the target of a sweep exists and is not swept itself; otherwise entries would
  /// circulate for ever.
  private func check(_ target: UInt32, of conversation: UInt32) throws(StoreError) {
    guard target != 0 else { return }
    if try transaction.isStored(target), try view.outbox.sweepTarget(of: target) == nil { return }
    throw view.corrupt(
      Schema.work, "rest of conversation \(conversation): unknown target (conversation \(target))")
  }

  /// Moves one entry to where it belongs.
  ///
  /// Its old lane is no longer used, and no entry there depends on it.
  private func sweep(
    _ ordinal: UInt64, _ record: OutboxRecord, _ lane: inout OutboxLane, to target: UInt32
  ) throws(StoreError) {
    if record.subject.hasContent { view.source.isErasing = true }
    try transaction.remove(OutboxKey.entry(ordinal), in: Schema.work)
    try transaction.outboxEntries.unlist(record, at: ordinal)
    try transaction.outboxEntries.unindex(record, at: ordinal)
    lane.counts.add(-1, record.state)
    if let new = try kept(record, for: target) {
      try transaction.outboxEntries.put(new, at: ordinal)
    }
  }

  private func endSweep(of conversation: UInt32, to target: UInt32) throws(StoreError) {
    transaction.noteOutboxChange()
    try transaction.remove(OutboxKey.sweep(conversation), in: Schema.work)
    let lane = OutboxKey.laneRecord(conversation)
    _ = try storage { () throws(PageFileError) in
      try BTree(view.source, Schema.work).remove(lane.bytes)
    }
    if target != 0 { try updateStop(of: target) }
    try updateSteps()
  }

  /// Redirects the sweeps whose target conversation is deleted, or becomes another one.
  ///
  /// - Parameter target: The conversation that gets the entries now; 0 if nothing is left to tell.
  func redirectSweeps(of conversation: UInt32, to target: UInt32) throws(StoreError) {
    guard try transaction.outboxTotals.hasSteps else { return }
    var isChanged = false
    for sweep in try view.outbox.sweeps() where sweep.target == conversation {
      try writeSweep(of: sweep.conversation, to: target)
      isChanged = true
    }
    guard isChanged else { return }
    try updateStop(of: conversation)
    if target != 0 { try updateStop(of: target) }
  }

  /// Returns an entry, after moving it to where it belongs if its conversation was deleted.
  func currentEntry(_ ordinal: UInt64) throws(StoreError) -> OutboxRecord? {
    guard let record = try view.outbox.entry(ordinal) else { return nil }
    return try isLeft(ordinal, record) ? try view.outbox.entry(ordinal) : record
  }

  /// Returns true if a deleted conversation has left this entry, which is moved to where it belongs
  /// then.
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

  /// Runs one step of the outbox's pending work.
  func stepOutbox() throws(StoreError) {
    if let sweep = try view.outbox.sweeps(maximumCount: 1).first {
      _ = try sweepEntries(of: sweep.conversation, to: sweep.target)
    } else {
      try transaction.outboxReleases.stepRelease()
    }
  }

  /// Notes in the totals whether the outbox has pending work in steps.
  func updateSteps() throws(StoreError) {
    let hasSteps = try view.outbox.hasSteps()
    var totals = try transaction.outboxTotals
    guard totals.hasSteps != hasSteps else { return }
    totals.hasSteps = hasSteps
    transaction.outboxEntries.setTotals(totals)
  }

  /// Stops a lane, or starts it again, as its state requires.
  func updateStop(of conversation: UInt32) throws(StoreError) {
    var lane = try view.outbox.lane(conversation)
    let isStopped = try view.outbox.isLaneStopped(conversation)
    guard lane.isStopped != isStopped else { return }
    lane.isStopped = isStopped
    try transaction.outboxEntries.settle(conversation, &lane)
  }
}

extension OutboxSubject {
  /// True if the entry is still to be told after its conversation was deleted here.
  package var outlivesItsConversation: Bool {
    switch self {
    case .deleteConversation, .receipt, .send, .upload, .edit, .react, .setMessageField: false
    case .createConversation, .retract, .leaveConversation, .changeMembers, .setTitle, .setAvatar,
      .client, .setConversationField, .setMemberField:
      true
    }
  }
}

extension Transaction {
  var outboxSweeps: OutboxSweeps { OutboxSweeps(transaction: self) }
}
