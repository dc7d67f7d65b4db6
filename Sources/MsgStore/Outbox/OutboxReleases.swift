import PageFile

/// Releases all entries that are held, wait, or have failed, in steps if there are many.
///
/// See docs/message-format.md, O-26 and O-31.
///
///  1. The oldest goes first. Until all entries were looked at, nothing behind the current one is
///     handed out: otherwise later entries would go before earlier ones.
///  2. Entries that are held, wait, or fail after the release began stay as they are, because that
///     was decided later.
struct OutboxReleases: TransactionPart {
  let transaction: Transaction

  /// Queues all entries in some states, and returns their number.
  func release(
    _ states: OutboxRelease.States, in id: ConversationID?
  ) throws(StoreError) -> Int {
    var number: UInt32 = 0
    if let id {
      guard let known = try view.number(of: id) else { return 0 }
      number = known
    }
    let total = states.count(try counts(of: number))
    if total == 0, try !isExpecting(number) { return 0 }
    var release = OutboxRelease(
      states, of: number, next: 0, end: transaction.outboxTotals.nextOrdinal)
    if !transaction.outboxTotals.hasSteps {
      let (count, isDone) = try advance(&release, ordinal: 0)
      if isDone { return count }
    }
    let scheduled = states.contains(.held) ? try scheduledCount(of: number) : 0
    try begin(release)
    if number != 0 {
      // Release the entries still on their way, too, under the number that they have.
      for source in try transaction.outboxSweeps.merging(into: number) {
        try begin(OutboxRelease(states, of: source, next: 0, end: release.end))
      }
    }
    try transaction.outboxSweeps.updateSteps()
    return total - scheduled
  }

  private func begin(_ release: OutboxRelease) throws(StoreError) {
    for (ordinal, older) in try view.outbox.releases() where release.covers(older) {
      try end(older, ordinal)
    }
    transaction.noteOutboxChange()
    // Leases are numbered in the order in which they were given, and so are releases.
    try writeRelease(release, at: try transaction.outboxEntries.takeLease())
    guard release.conversation != 0 else { return }
    try transaction.outboxSweeps.updateStop(of: release.conversation)
  }

  /// Returns true if entries of a deleted conversation, which the counts leave out, are still to
  /// come.
  private func isExpecting(_ number: UInt32) throws(StoreError) -> Bool {
    guard transaction.outboxTotals.hasSteps else { return false }
    return try view.outbox.sweeps().contains {
      !$0.isMerge && $0.target != 0 && (number == 0 || $0.target == number)
    }
  }

  /// Returns the number of scheduled entries, which count as held but keep their time.
  private func scheduledCount(of conversation: UInt32) throws(StoreError) -> Int {
    var count = 0
    let sources = try transaction.outboxSweeps.merging(into: conversation)
    for (_, ordinal) in try view.outbox.scheduled(until: .max, maximumCount: .max) {
      let record = try view.outbox.indexedEntry(ordinal)
      let isCounted =
        conversation == 0
        ? try view.outbox.sweep(of: record.conversation)?.isMerge ?? true
        : record.conversation == conversation || sources.contains(record.conversation)
      if isCounted { count += 1 }
    }
    return count
  }

  private func counts(of conversation: UInt32) throws(StoreError) -> OutboxCounts {
    if conversation == 0 { return transaction.outboxTotals.counts }
    var counts = try transaction.outboxEntries.lane(conversation).counts
    for number in try transaction.outboxSweeps.merging(into: conversation) {
      counts.add(try transaction.outboxEntries.lane(number).counts)
    }
    return counts
  }

  @inline(never)
  private func writeRelease(_ release: OutboxRelease, at ordinal: UInt64) throws(StoreError) {
    let key = OutboxKey.release(ordinal)
    var value = ByteBuffer()
    release.append(to: &value)
    try transaction.insert(key.bytes, value.bytes, in: Schema.work)
  }

  @inline(never)
  private func end(_ release: OutboxRelease, _ ordinal: UInt64) throws(StoreError) {
    transaction.noteOutboxChange()
    try transaction.remove(OutboxKey.release(ordinal), in: Schema.work)
    if release.conversation != 0 {
      try transaction.outboxSweeps.updateStop(of: release.conversation)
    }
    try transaction.outboxSweeps.updateSteps()
  }

  /// Advances a release by one step.
  ///
  /// Returns the number of entries queued, and whether the release is done.
  private func advance(
    _ release: inout OutboxRelease, ordinal: UInt64
  ) throws(StoreError) -> (count: Int, isDone: Bool) {
    var (count, seenCount) = (0, 0)
    while release.states.count(try counts(of: release.conversation)) > 0 {
      if transaction.isStepFull(count, of: transaction.maximumEntryCount)
        || transaction.isStepFull(seenCount, of: maximumSeenCount)
      {
        return (count, false)
      }
      let (found, last) = try entries(
        of: release, maximumCount: transaction.maximumEntryCount - count,
        maximumSeenCount: maximumSeenCount - seenCount,
        &seenCount)
      for entry in found {
        if transaction.isStepFull(count, of: transaction.maximumEntryCount) {
          return (count, false)
        }
        release.next = entry + 1
        if try letGo(entry, by: release, ordinal) { count += 1 }
      }
      guard let last else { break }
      release.next = last + 1
    }
    return (count, true)
  }

  /// The number of entries that one step looks at, which costs much less than changing them.
  private var maximumSeenCount: Int { min(transaction.maximumEntryCount, .max / 16) * 16 }

  /// Returns the next entries that a release covers, and the last one looked at; nil if none is
  /// left.
  private func entries(
    of release: OutboxRelease, maximumCount: Int, maximumSeenCount: Int, _ seenCount: inout Int
  ) throws(StoreError) -> (found: [UInt64], last: UInt64?) {
    var found: [UInt64] = []
    var last: UInt64?
    var left = min(maximumSeenCount, Self.maximumBatchCount)
    func look(_ ordinal: UInt64, _ record: OutboxRecord) -> Bool {
      guard ordinal < release.end else { return false }
      last = ordinal
      left -= 1
      if !release.states.isDisjoint(with: .init(record.state)) { found.append(ordinal) }
      return left > 0 && found.count < maximumCount
    }
    let seenBefore = left
    if release.conversation == 0 {
      try view.outbox.forEachEntry(from: release.next, look)
    } else {
      let ordinals = try view.outbox.ordinals(
        in: release.conversation, from: release.next, maximumCount: left)
      for ordinal in ordinals {
        guard look(ordinal, try view.outbox.indexedEntry(ordinal)) else { break }
      }
    }
    seenCount += seenBefore - left
    return (found, last)
  }

  private static var maximumBatchCount: Int { 256 }

  /// Queues an entry if a release covers it.
  ///
  /// Returns true if it does.
  private func letGo(
    _ entry: UInt64, by release: OutboxRelease, _ ordinal: UInt64
  ) throws(StoreError) -> Bool {
    guard let record = try transaction.outboxSweeps.currentEntry(entry),
      release.conversation == 0 || release.conversation == record.conversation
    else { return false }
    // The entry was decided about since.
    if ordinal > 0, try view.outbox.decision(on: entry) >= ordinal { return false }
    return try letGo(entry, record, if: release.states)
  }

  /// Queues an entry if it is in one of some states.
  ///
  /// Returns true if it is.
  @inline(never)
  func letGo(
    _ ordinal: UInt64, _ record: OutboxRecord, if states: OutboxRelease.States
  ) throws(StoreError) -> Bool {
    guard !states.isDisjoint(with: .init(record.state)) else { return false }
    var new = record
    new.state = .queued
    transaction.outboxEntries.beginLimits(of: &new)
    try transaction.outboxEntries.replace(entry: ordinal, record, with: new)
    try transaction.outboxFollowing.show(.pending, of: new)
    return true
  }

  // MARK: Steps

  /// Advances the oldest release.
  func stepRelease() throws(StoreError) {
    guard let (ordinal, old) = try view.outbox.releases(maximumCount: 1).first else {
      return try forgetDecisions()
    }
    var release = old
    if try advance(&release, ordinal: ordinal).isDone { return try end(release, ordinal) }
    if release != old { try writeRelease(release, at: ordinal) }
  }

  /// Notes that the state of an entry was decided after all releases so far.
  func noteDecision(on ordinal: UInt64, _ state: OutboxRecord.State) throws(StoreError) {
    guard transaction.outboxTotals.hasSteps, !OutboxRelease.States(state).isEmpty,
      let newest = try view.outbox.releases().last
    else { return }
    try noteRelease(newest.ordinal, decidedOn: ordinal)
  }

  private func noteRelease(_ release: UInt64, decidedOn entry: UInt64) throws(StoreError) {
    let key = OutboxKey.decision(entry)
    var value = ByteBuffer()
    value.append(littleEndian: release)
    try transaction.insert(key.bytes, value.bytes, in: Schema.work)
  }

  private func forgetDecisions() throws(StoreError) {
    var prefix = ByteBuffer()
    prefix.append(OutboxKey.decisionPrefix)
    _ = try transaction.removeAll(
      prefix.bytes, in: Schema.work, limit: transaction.maximumSweepCount)
    try transaction.outboxSweeps.updateSteps()
  }

  /// The first entry not to be handed out yet, because a release has not reached it; nil if there
  /// is no limit.
  var releaseHorizon: UInt64? {
    get throws(StoreError) {
      guard transaction.outboxTotals.hasSteps else { return nil }
      return try view.outbox.releases().filter { $0.release.conversation == 0 }
        .map(\.release.next).min()
    }
  }

  /// Ends the releasing of held entries, because entries are to be held from now on.
  ///
  /// Retries of waiting and failed entries go on.
  func stopReleases() throws(StoreError) {
    guard transaction.outboxTotals.hasSteps else { return }
    for (ordinal, old) in try view.outbox.releases() where old.states.contains(.held) {
      var release = old
      release.states.remove(.held)
      if release.states.isEmpty {
        try end(old, ordinal)
      } else {
        try writeRelease(release, at: ordinal)
      }
    }
  }

  /// Redirects the releases of a deleted conversation to the new number of its name, or ends them
  /// if that is 0.
  func redirectReleases(of conversation: UInt32, to target: UInt32) throws(StoreError) {
    guard transaction.outboxTotals.hasSteps else { return }
    for (ordinal, old) in try view.outbox.releases() where old.conversation == conversation {
      guard target != 0 else {
        try end(old, ordinal)
        continue
      }
      var release = old
      release.conversation = target
      try writeRelease(release, at: ordinal)
      try transaction.outboxSweeps.updateStop(of: conversation)
      try transaction.outboxSweeps.updateStop(of: target)
    }
  }

  /// Ends the releases of a conversation that has become another one.
  func endReleases(of conversation: UInt32) throws(StoreError) {
    for (ordinal, release) in try view.outbox.releases()
    where release.conversation == conversation {
      try end(release, ordinal)
    }
  }

  /// Notes that no release so far of its conversation covers an entry that has come to it.
  func noteComing(_ entry: UInt64, _ record: OutboxRecord) throws(StoreError) {
    guard !OutboxRelease.States(record.state).isEmpty else { return }
    let newest = try view.outbox.releases().last {
      $0.release.conversation == record.conversation
    }
    guard let newest, try view.outbox.decision(on: entry) < newest.ordinal else { return }
    try noteRelease(newest.ordinal, decidedOn: entry)
  }

  /// Returns true if a release of an entry's conversation, or of all, has still to queue the entry.
  @inline(never)
  func isToBeReleased(_ entry: UInt64, _ record: OutboxRecord) throws(StoreError) -> Bool {
    for (ordinal, release) in try view.outbox.releases()
    where release.conversation == record.conversation || release.conversation == 0 {
      if entry >= release.next, entry < release.end,
        !release.states.isDisjoint(with: .init(record.state)),
        try view.outbox.decision(on: entry) < ordinal
      {
        return true
      }
    }
    return false
  }
}

extension Transaction {
  var outboxReleases: OutboxReleases { OutboxReleases(transaction: self) }
}
