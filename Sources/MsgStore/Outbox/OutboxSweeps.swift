import PageFile

/// Sweeps the entries of a conversation that was deleted here, and whose name has another number
/// now, and of one that has become another.
///
/// Many entries are swept in steps. See docs/message-format.md, O-18 and O-30.
///
///  1. Entries left under the old number are not shown, and not handed out. Those of a deleted
///     conversation are not counted either.
///  2. Until all of them were swept, the lane of the new number hands out nothing: entries that
///     come over go before those entered since.
///  3. An operation that names one of these entries first moves it to where it belongs.
///  4. Where a conversation has become another, all entries of a message go over together, and the
///     message with them, if it is still on its way. So no entry arrives without its message.
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
    try redirectSweeps(of: conversation, to: target, isDeletion: true)
    try transaction.outboxReleases.redirectReleases(of: conversation, to: target)
    try sweep(OutboxSweep(of: conversation, to: target, isMerge: false))
  }

  /// Moves the entries of a conversation to the one that it has become a part of.
  func mergeEntries(of conversation: UInt32, to target: UInt32) throws(StoreError) {
    let redirected = try redirectSweeps(of: conversation, to: target, isDeletion: false)
    try sweep(OutboxSweep(of: conversation, to: target, isMerge: true))
    // Continue the sweeps that waited for this target.
    for sweep in redirected { try mergeIfFew(sweep) }
  }

  private func sweep(_ sweep: OutboxSweep) throws(StoreError) {
    let conversation = sweep.conversation
    let lane = try transaction.outboxEntries.lane(conversation)
    guard lane.counts.total > 0 else {
      return try transaction.outboxReleases.endReleases(of: conversation)
    }
    // Entries that a lane names are moved at once, since they are looked up there.
    let newest = [
      lane.creation, lane.readReceipt, lane.deliveredReceipt, lane.title, lane.avatar,
    ]
    for ordinal in newest where ordinal != 0 {
      let record = try view.outbox.indexedEntry(ordinal)
      if let new = try kept(ordinal, record, sweep) {
        try transaction.outboxFollowing.move(entry: ordinal, as: new)
        if sweep.isMerge { try transaction.outboxReleases.noteComing(ordinal, new) }
      } else {
        try transaction.outboxEntries.remove(entry: ordinal)
      }
    }
    try begin(sweep)
    if sweep.isMerge { try mergeIfFew(sweep) } else { _ = try advance(sweep) }
  }

  /// Sweeps the entries of a conversation that has become another, unless they are many: the commit
  /// of a merge moves a step of messages with their entries by itself.
  private func mergeIfFew(_ sweep: OutboxSweep) throws(StoreError) {
    let lane = try transaction.outboxEntries.lane(sweep.conversation)
    if lane.counts.total > transaction.maximumEntryCount { return }
    // A target that was deleted meanwhile has another number, of which the next effect tells.
    if try transaction.isStored(sweep.target) { _ = try advance(sweep) }
  }

  /// Returns an entry in the form in which it goes over; nil if it has nothing to tell any more.
  private func kept(
    _ ordinal: UInt64, _ record: OutboxRecord, _ sweep: OutboxSweep
  ) throws(StoreError) -> OutboxRecord? {
    guard var new = sweep.kept(record) else { return nil }
    if case .createConversation = record.subject, !record.isRunning {
      try transaction.outboxFollowing.sendAgain(&new)
    }
    // A release of the old number does not extend to the other conversation.
    if try transaction.outboxReleases.isToBeReleased(ordinal, record) {
      new.state = .queued
      transaction.outboxEntries.beginLimits(of: &new)
    }
    return new
  }

  private func begin(_ sweep: OutboxSweep) throws(StoreError) {
    transaction.noteOutboxChange()
    try put(sweep)
    if !sweep.isMerge { try uncount(sweep.conversation) }
    view.source[.hasOutboxSteps] = 1
    try updateStop(of: sweep.conversation)
    if sweep.target != 0 { try updateStop(of: sweep.target) }
  }

  private func put(_ sweep: OutboxSweep) throws(StoreError) {
    let key = OutboxKey.sweep(sweep.conversation)
    var value = ByteBuffer()
    sweep.append(to: &value)
    try transaction.insert(key.bytes, value.bytes, in: Schema.work)
  }

  /// Sweeps some of the entries that a conversation has left.
  ///
  /// Returns true when none is left.
  private func advance(_ sweep: OutboxSweep) throws(StoreError) -> Bool {
    try check(sweep)
    var count = 0
    while let ordinal = try view.outbox.ordinals(
      in: sweep.conversation, from: 0, maximumCount: 0
    ).first {
      if transaction.isStepFull(count, of: transaction.maximumEntryCount) { return false }
      let record = try view.outbox.indexedEntry(ordinal)
      guard record.conversation == sweep.conversation else {
        throw view.corrupt(
          Schema.work, "outbox entry \(ordinal): listed under another conversation")
      }
      count += try move(ordinal, record, sweep)
    }
    try end(sweep)
    return true
  }

  /// Checks that the target of a sweep exists and is not swept itself; otherwise entries would
  /// circulate for ever.
  private func check(_ sweep: OutboxSweep) throws(StoreError) {
    guard sweep.target != 0 || sweep.isMerge else { return }
    if try transaction.isStored(sweep.target), try view.outbox.sweep(of: sweep.target) == nil {
      return
    }
    throw view.corrupt(
      Schema.work,
      "rest of conversation \(sweep.conversation): unknown target (conversation \(sweep.target))")
  }

  /// Moves an entry to where it belongs; of a conversation that has become another, all entries of
  /// its message, and the message.
  ///
  /// Returns the number of entries.
  private func move(
    _ ordinal: UInt64, _ record: OutboxRecord, _ sweep: OutboxSweep
  ) throws(StoreError) -> Int {
    guard sweep.isMerge, let id = record.subject.message else {
      try moveOne(ordinal, record, sweep)
      return 1
    }
    let entries = try view.outbox.entries(of: id, in: sweep.conversation)
    // Else the entry would be left, and come up again for ever.
    guard entries.contains(where: { $0.ordinal == ordinal }) else {
      throw view.corrupt(Schema.work, "outbox entry \(ordinal): not listed under its message")
    }
    var released: [UInt64] = []
    for (ordinal, record) in entries {
      if try transaction.outboxReleases.isToBeReleased(ordinal, record) { released.append(ordinal) }
      try moveOne(ordinal, record, sweep)
    }
    try transaction.moves.bring(id, of: sweep.conversation, into: sweep.target)
    for ordinal in released {
      guard let record = try view.outbox.entry(ordinal) else { continue }
      try transaction.outboxFollowing.show(.pending, of: record)
    }
    return entries.count
  }

  /// Moves one entry to where it belongs.
  ///
  /// Its old lane is no longer used, and no entry there depends on it.
  private func moveOne(
    _ ordinal: UInt64, _ record: OutboxRecord, _ sweep: OutboxSweep
  ) throws(StoreError) {
    let new = try kept(ordinal, record, sweep)
    try transaction.outboxEntries.take(entry: ordinal, record, isCounted: sweep.isMerge)
    guard let new else { return }
    try transaction.outboxEntries.put(new, at: ordinal)
    // Keep the entry out of releases that the other conversation had before.
    if sweep.isMerge { try transaction.outboxReleases.noteComing(ordinal, new) }
  }

  private func end(_ sweep: OutboxSweep) throws(StoreError) {
    transaction.noteOutboxChange()
    try transaction.remove(OutboxKey.sweep(sweep.conversation), in: Schema.work)
    let lane = OutboxKey.lane(sweep.conversation)
    _ = try storage { () throws(PageFileError) in
      try BTree(view.source, Schema.work).remove(lane.bytes)
    }
    memory.lane = nil
    try transaction.outboxReleases.endReleases(of: sweep.conversation)
    if sweep.target != 0 { try updateStop(of: sweep.target) }
    try updateSteps()
  }

  /// Redirects the sweeps whose target conversation is deleted, or becomes another one.
  ///
  /// - Parameter target: The conversation that gets the entries now; 0 if nothing is left to tell.
  /// - Returns: The sweeps in their new form.
  @discardableResult
  private func redirectSweeps(
    of conversation: UInt32, to target: UInt32, isDeletion: Bool
  ) throws(StoreError) -> [OutboxSweep] {
    guard transaction.outboxTotals.hasSteps else { return [] }
    var redirected: [OutboxSweep] = []
    for old in try view.outbox.sweeps() where old.target == conversation {
      var sweep = old
      sweep.target = target
      if isDeletion, old.isMerge {
        // Its messages go with the conversation.
        sweep.isMerge = false
        try uncount(old.conversation)
      }
      try put(sweep)
      redirected.append(sweep)
    }
    guard !redirected.isEmpty else { return [] }
    try updateStop(of: conversation)
    if target != 0 { try updateStop(of: target) }
    return redirected
  }

  /// Returns the conversations that have become this one, and whose entries are still to come.
  func merging(into target: UInt32) throws(StoreError) -> [UInt32] {
    try sources(of: target, areMerged: true)
  }

  /// Returns the deleted conversations whose entries are still to come to this one.
  func expected(by target: UInt32) throws(StoreError) -> [UInt32] {
    try sources(of: target, areMerged: false)
  }

  private func sources(of target: UInt32, areMerged: Bool) throws(StoreError) -> [UInt32] {
    guard transaction.outboxTotals.hasSteps else { return [] }
    return try view.outbox.sweeps().filter { $0.isMerge == areMerged && $0.target == target }
      .map(\.conversation)
  }

  /// Returns an entry, after moving it to where it belongs if its conversation was deleted or has
  /// become another.
  @inline(never)
  func currentEntry(_ ordinal: UInt64) throws(StoreError) -> OutboxRecord? {
    guard let record = try view.outbox.entry(ordinal) else { return nil }
    return try isLeft(ordinal, record) ? try view.outbox.entry(ordinal) : record
  }

  /// Returns true if an entry was left under an old number; it is moved to where it belongs then.
  @inline(never)
  func isLeft(_ ordinal: UInt64, _ record: OutboxRecord) throws(StoreError) -> Bool {
    guard try bring(ordinal, record) else { return false }
    // A message that came with it may be another one there, or settled.
    try transaction.outboxFollowing.settle()
    return true
  }

  /// Moves an entry to where it belongs if it was left under an old number, and leaves the effects
  /// of that to the caller.
  @inline(never)
  func bring(_ ordinal: UInt64, _ record: OutboxRecord) throws(StoreError) -> Bool {
    guard transaction.outboxTotals.hasSteps,
      let sweep = try view.outbox.sweep(of: record.conversation)
    else { return false }
    try check(sweep)
    transaction.noteOutboxChange()
    _ = try move(ordinal, record, sweep)
    return true
  }

  // MARK: Steps

  /// Runs one step of the outbox's pending work.
  func stepOutbox() throws(StoreError) {
    if let sweep = try view.outbox.sweeps(maximumCount: 1).first {
      _ = try advance(sweep)
      try transaction.outboxFollowing.settle()
    } else {
      try transaction.outboxReleases.stepRelease()
    }
  }

  /// Notes in the totals whether the outbox has pending work in steps.
  @inline(never)
  func updateSteps() throws(StoreError) {
    view.source[.hasOutboxSteps] = try view.outbox.hasSteps() ? 1 : 0
  }

  /// Takes the entries of a conversation out of the counts of all.
  private func uncount(_ conversation: UInt32) throws(StoreError) {
    var counts = transaction.outboxTotals.counts
    counts.add(try transaction.outboxEntries.lane(conversation).counts, times: -1)
    view.source.set(counts)
  }

  /// Stops a lane, or starts it again, as its state requires.
  @inline(never)
  func updateStop(of conversation: UInt32) throws(StoreError) {
    let stored = try transaction.outboxEntries.lane(conversation)
    let isStopped = try view.outbox.isLaneStopped(conversation)
    guard stored.isStopped != isStopped else { return }
    var lane = stored
    lane.isStopped = isStopped
    try transaction.outboxEntries.settle(conversation, &lane, stored)
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
