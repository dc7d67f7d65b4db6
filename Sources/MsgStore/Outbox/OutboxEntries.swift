import PageFile

/// Keeps the entries of the outbox, with their indexes and counts.
///
/// All changes go through `change(entry:from:to:)`, which maintains the rules of
/// docs/message-format.md, O-1 … O-9.
struct OutboxEntries: TransactionPart {
  let transaction: Transaction

  func setHoldsNewEntries(totals holdsNewEntries: Bool) {
    view.source[.holdsNewEntries] = holdsNewEntries ? 1 : 0
    transaction.noteOutboxChange()
  }

  /// Returns the number of a new lease.
  func takeLease() throws(StoreError) -> UInt64 {
    let lease = transaction.outboxTotals.nextLease
    guard lease < .max else { throw .numbersExhausted(what: "lease") }
    view.source[.nextLease] = lease + 1
    transaction.firstLease = transaction.firstLease ?? lease
    return lease
  }

  /// True if the outbox has no entry, so that no lookup is needed.
  var isEmpty: Bool { transaction.outboxTotals.counts.total == 0 }

  /// Returns the lane of a conversation, which the writer remembers from act to act.
  @inline(never)
  func lane(_ conversation: UInt32) throws(StoreError) -> OutboxLane {
    if let known = memory.lane, known.conversation == conversation { return known.lane }
    let lane = try view.outbox.lane(conversation)
    memory.lane = (conversation, lane)
    return lane
  }

  /// Enters something that the server has to be told.
  @discardableResult
  func enter(
    _ subject: OutboxSubject, of conversation: UInt32, isHeld: Bool? = nil
  ) throws(StoreError) -> UInt64 {
    var record = OutboxRecord(
      subject, of: conversation, token: .random(), created: transaction.recordedTime())
    let holdsNewEntries = transaction.outboxTotals.holdsNewEntries
    if isHeld ?? (holdsNewEntries && !subject.isReceipt) { record.state = .held }
    return try enter(record)
  }

  /// Adds an entry behind all others.
  @discardableResult
  func enter(_ record: OutboxRecord) throws(StoreError) -> UInt64 {
    let ordinal = transaction.outboxTotals.nextOrdinal
    guard ordinal < .max else { throw .numbersExhausted(what: "entry of the outbox") }
    view.source[.nextEntry] = ordinal + 1
    var record = record
    record.isBlocked = try isUnprepared(record)
    try put(record, at: ordinal)
    return ordinal
  }

  /// Stores an entry at a free ordinal.
  func put(_ record: OutboxRecord, at ordinal: UInt64) throws(StoreError) {
    transaction.hasAdded = true
    let count = try change(entry: ordinal, from: nil, to: record)
    if count > 1 || record.isBlocked { try follow(record) }
  }

  /// Replaces an entry.
  @inline(never)
  func replace(
    entry ordinal: UInt64, _ old: OutboxRecord, with new: OutboxRecord
  ) throws(StoreError) {
    guard new != old else { return }
    let count = try change(entry: ordinal, from: old, to: new)
    // No other entry depends on the only one of its conversation.
    if count == 1, !new.isBlocked { return }
    // A running entry is left alone until it stops.
    let hasStopped = old.isRunning && !new.isRunning
    if hasStopped || new.isAside != old.isAside && new.subject.isNeeded { try follow(new) }
  }

  /// Removes an entry in its current state, which earlier changes may have altered.
  @inline(never)
  func remove(entry ordinal: UInt64) throws(StoreError) {
    try remove(entry: ordinal, try view.outbox.indexedEntry(ordinal))
  }

  /// Removes an entry, given its current state.
  @inline(never)
  func remove(entry ordinal: UInt64, _ record: OutboxRecord) throws(StoreError) {
    let count = try change(entry: ordinal, from: record, to: nil)
    if record.subject.isNeeded, count > 0 { try follow(record) }
  }

  /// Removes an entry from a conversation that is no longer used, whose other entries do not depend
  /// on it.
  ///
  /// - Parameter isCounted: True if the totals count it.
  func take(
    entry ordinal: UInt64, _ record: OutboxRecord, isCounted: Bool
  ) throws(StoreError) {
    _ = try change(entry: ordinal, from: record, to: nil, isCounted: isCounted)
  }

  /// Changes an entry, and what follows from it: its keys, the counts, and the lane.
  ///
  /// Returns the number of the conversation's entries.
  private func change(
    entry ordinal: UInt64, from old: OutboxRecord?, to new: OutboxRecord?, isCounted: Bool = true
  ) throws(StoreError) -> Int {
    guard let record = new ?? old else { return 0 }
    transaction.noteOutboxChange()
    var cells = memory.takeCells()
    let key = OutboxKey.entry(ordinal)
    var isLong = false
    if let new {
      var value = ByteBuffer(capacity: 128)
      new.appendChecked(to: &value)
      isLong = value.count > 4096
      cells.append(key.bytes, value.bytes)
    } else {
      // The content of the entry is stored nowhere else, and must be nowhere after its removal.
      if record.subject.hasContent { view.source.isErasing = true }
      cells.appendRemoval(of: key.bytes)
    }
    try cells.change(
      EntryIndex.self, from: old.map { (ordinal, $0) }, to: new.map { (ordinal, $0) })
    let stored = try lane(record.conversation)
    var lane = stored
    if old?.state != new?.state {
      if old != nil, let new {
        try transaction.outboxReleases.noteDecision(on: ordinal, new.state)
      }
      if let old { try count(-1, old, &lane, isCounted: isCounted) }
      if let new { try count(1, new, &lane, isCounted: isCounted) }
    }
    if let newest = lane[record.subject] {
      if new == nil {
        if newest == ordinal { lane[record.subject] = 0 }
      } else if old == nil {
        // An entry that comes from another conversation may be older.
        lane[record.subject] = max(newest, ordinal)
      }
    }
    try settle(record.conversation, &lane, stored, after: new, at: ordinal, &cells)
    // The writer does not keep the room for a payload of up to a megabyte.
    if !isLong { memory.giveBack(cells) }
    return lane.counts.total
  }

  private func count(
    _ change: Int, _ record: OutboxRecord, _ lane: inout OutboxLane, isCounted: Bool
  ) throws(StoreError) {
    if change < 0, StoreDefect.entryCountKept.isPlanted { return }
    lane.counts.add(change, record.state)
    guard isCounted else { return }
    var counts = transaction.outboxTotals.counts
    counts.add(change, record.state)
    view.source.set(counts)
  }

  // MARK: The lane

  /// Determines the next entry of a lane, and writes the lane if it differs from the stored one.
  func settle(
    _ conversation: UInt32, _ lane: inout OutboxLane, _ stored: OutboxLane
  ) throws(StoreError) {
    var cells = memory.takeCells()
    try settle(conversation, &lane, stored, after: nil, at: 0, &cells)
    memory.giveBack(cells)
  }

  /// Does the same, with the changes of the entry that has come or changed, nil if one has gone.
  private func settle(
    _ conversation: UInt32, _ lane: inout OutboxLane, _ stored: OutboxLane,
    after changed: OutboxRecord?, at ordinal: UInt64, _ cells: inout CellRun
  ) throws(StoreError) {
    let due = try nextDue(conversation, lane, changed, at: ordinal, &cells)
    let isKept =
      StoreDefect.dueEntryKept.isPlanted
      || StoreDefect.asideEntryDue.isPlanted && changed?.isAside == true
    if lane.due == nil || !isKept { lane.due = due }
    if lane != stored {
      try cells.change(LaneIndex.self, from: stored, to: lane)
      memory.lane = (conversation, lane)
      let key = OutboxKey.lane(conversation)
      if lane == OutboxLane() {
        cells.appendRemoval(of: key.bytes)
      } else {
        var value = ByteBuffer(capacity: 128)
        lane.appendChecked(to: &value)
        cells.append(key.bytes, value.bytes)
      }
    }
    try transaction.apply(&cells, in: Schema.work)
  }

  private func settle(_ conversation: UInt32) throws(StoreError) {
    let stored = try lane(conversation)
    var lane = stored
    try settle(conversation, &lane, stored)
  }

  /// Returns what a lane has to hand out next.
  ///
  /// Nothing is read if the lane has no entry, or no other than the one that has changed; else the
  /// changes so far are made first.
  private func nextDue(
    _ conversation: UInt32, _ lane: OutboxLane, _ changed: OutboxRecord?, at ordinal: UInt64,
    _ cells: inout CellRun
  ) throws(StoreError) -> OutboxLane.Due? {
    if lane.isStopped || lane.counts.total == 0 { return nil }
    guard lane.counts.total == 1, let changed else {
      try transaction.apply(&cells, in: Schema.work)
      return try view.outbox.nextDue(conversation, lane)
    }
    guard changed.isActive, changed.subject.isInOrder else { return nil }
    return OutboxLane.Due(ordinal: ordinal, time: changed.dueTime)
  }

  // MARK: What waits for something else

  /// Returns true if an entry is an upload whose file, as described, exceeds the limits.
  ///
  /// It waits for `prepareUpload`.
  ///
  /// This is checked when the upload is entered, never when it is handed out: limits lowered by a
  /// later version of a program stop nothing that was accepted.
  private func isUnprepared(_ record: OutboxRecord) throws(StoreError) -> Bool {
    guard case .upload(let id, let attachment) = record.subject else { return record.isBlocked }
    let key = FactKey.key(record.conversation, id, attachment: attachment)
    guard let stored = try view.facts.attachmentRecord(key.bytes) else { return false }
    return rules.attachmentLimits.check(stored.attachment) != nil
  }

  /// Blocks or unblocks the entries that depend on an entry, after it has come, stepped aside, come
  /// back, or gone.
  ///
  /// A message depends on its uploads, and everything told of it later depends on the message.
  /// While the message is to be retracted nothing else is told of it; that comes back if the server
  /// refuses.
  private func follow(_ changed: OutboxRecord) throws(StoreError) {
    guard let id = changed.subject.message else { return }
    let conversation = changed.conversation
    let entries = try view.outbox.entries(of: id, in: conversation)
    let isTakenBack = entries.contains { (_, record) in
      record.subject.isRetraction && !StoreDefect.withdrawnStillTold.isPlanted
    }
    let isUploadAside = entries.contains { (_, record) in
      !record.subject.isInOrder && record.isAside && !StoreDefect.uploadsNotWaitedFor.isPlanted
    }
    var isSendAside = false
    var isSendThere = false
    for (ordinal, record) in entries {
      var new = record
      switch record.subject {
      case .upload: continue
      case .send:
        isSendThere = true
        if !record.isRunning { new.isBlocked = isUploadAside }
        isSendAside = new.isAside
      default:
        if !record.isRunning {
          new.isBlocked = isSendAside || isTakenBack && !record.subject.isRetraction
        }
      }
      if new != record { _ = try change(entry: ordinal, from: record, to: new) }
    }
    if case .upload = changed.subject, isSendThere { try settle(conversation) }
  }
}

extension Transaction {
  var outboxEntries: OutboxEntries { OutboxEntries(transaction: self) }
}

extension OutboxEntries {
  /// Restarts the limits on attempts and age, because the entry is to go now.
  func beginLimits(of record: inout OutboxRecord) {
    record.failureCount = 0
    if rules.outbox.maximumAge != nil { record.created = transaction.recordedTime() }
  }
}
