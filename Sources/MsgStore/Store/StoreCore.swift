package import PageFile
import Synchronization

/// The parts of a store, and the operations of callers and background work on them.
///
/// Callers hold the `MessageStore`. Background work, live values and tasks on the store's threads
/// hold only the core. So the store ends when the last caller releases it, whatever is under way:
/// `deinit` waits for that and closes the files.
package final class StoreCore: Sendable {
  /// The member whose unread messages are counted, if known.
  let localMember: MemberID?
  private let localNumber: UInt32?
  package let database: Database
  private let known: Locked<KnownNames>
  let clock: @Sendable () -> Timestamp
  private let rules: StoreRules
  private let running = RunningTransfers()
  /// The listeners that are told of changes.
  let listeners: ChangeListeners
  /// Runs asynchronous reads and copies.
  let readers = WorkerPool(usualCount: 4, maximumCount: 64)
  /// Lets some of the asynchronous reads search at a time, so that others get a processor.
  private let searchTurns = Turns(count: 2)
  /// Reads for live values and loops over the outbox, which the reads of callers do not delay.
  let followers = WorkerPool(maximumCount: 8)
  /// Runs asynchronous writes at `relaxed`, and background work.
  let writer = WorkerPool()
  /// Runs asynchronous writes at `full`, which wait there for their sync.
  let urgentWriter = WorkerPool()
  /// Runs asynchronous writes that return once visible.
  let sender = WorkerPool()
  /// Syncs commits that returned before their sync.
  let syncer = Worker(lingerMilliseconds: 20)
  let worksInBackground: Bool
  /// True if the store prunes once a day by itself.
  let prunesByItself: Bool
  /// True if the first dictionary may be made in the background.
  let makesDictionaries: Bool
  /// The leases that workers got since the store was opened.
  let workers = Locked(Workers())
  private let ending = Atomic(false)
  /// True once the last caller has released the store; long background work checks it.
  var isEnding: Bool { ending.load(ordering: .relaxed) }
  /// True while a step of pending work is queued.
  let isWorkScheduled = Locked(false)
  /// The wait for the next message to expire.
  private let expiryTimer = Locked(ExpiryTimer())
  /// True once a message was waited for to expire.
  private let hasAwaitedExpiry = Atomic(false)
  /// The snapshots that keep erased messages in the files.
  private let heldErasure = Locked(HeldErasure())
  /// True while a dictionary is being made.
  let isDictionaryScheduled = Locked(false)

  /// The number of times `read` starts over when its snapshot has expired.
  private static let maximumRepetitionCount = 3

  init(_ database: Database, path: String, _ options: StoreOptions) throws(StoreError) {
    let shares = MemoryShares(cacheByteCount: options.cacheByteCount)
    let names = MemberNames(maximumByteCount: shares.memberNames)
    let opening = Opening(database: database, names: names, path: path, options: options)
    let hasWork: Bool
    do throws(StoreError) {
      let result = try opening.run()
      hasWork = result.expires && options.access == .readWrite
      localNumber = result.localMember
      localMember = try localNumber.map { (number) throws(StoreError) in
        try opening.member(number)
      }
    } catch {
      database.abandon()
      throw error
    }
    self.database = database
    known = Locked(KnownNames(names, shares))
    clock = options.clock
    listeners = ChangeListeners(sleep: options.sleep)
    rules = options.rules
    worksInBackground = options.worksInBackground
    prunesByItself = options.prunesByItself
    makesDictionaries =
      options.worksInBackground
      && options.cacheByteCount >= StoreOptions.dictionaryCacheByteCount
    // Later openings leave what is left of the former to the first write.
    if hasWork { scheduleWork() }
  }

  /// Reads one snapshot; see `MessageStore.read(_:)`.
  ///
  /// - Parameter searchesInTurns: True if searches wait for those of other such reads.
  package func read<R>(
    searchesInTurns: Bool = false, _ body: (borrowing StoreSnapshot) throws -> R
  ) throws -> R {
    var repetitionCount = 0
    while true {
      do {
        let snapshot = try snapshot()
        if searchesInTurns { snapshot.view.searchTurns = searchTurns }
        defer { snapshot.view.isOver = true }
        return try body(snapshot)
      } catch StoreError.storage(.snapshotExpired)
        where repetitionCount < Self.maximumRepetitionCount
      {
        repetitionCount += 1
      }
    }
  }

  @inline(never)
  private func snapshot() throws(StoreError) -> StoreSnapshot {
    let transaction = try storage { () throws(PageFileError) in try database.beginRead() }
    let life = transaction.life
    let (names, dictionaries) = known.withLock {
      ($0.names(in: life), $0.dictionaries(in: life))
    }
    return try StoreSnapshot(
      transaction, names, dictionaries, localMember: localNumber,
      running: running, previewsSkipRetracted: rules.previewsSkipRetracted, clock: clock)
  }

  /// Writes to the store in one commit; see `MessageStore.write(_:_:)`.
  @discardableResult
  func write<R>(
    _ level: SyncLevel, _ body: (borrowing StoreWriter) throws -> R
  ) throws -> R {
    try commit(level, level == .relaxed ? .patient : .urgent, body).value
  }

  /// Writes to the store.
  ///
  /// - Parameter leavesSync: True to return once the commit is visible, at any level.
  /// - Returns: The value of `body`; the sync of the commit if it was left to the caller; and
  ///   whether nobody may be told of the commit before its sync.
  func commit<R>(
    _ level: SyncLevel, _ urgency: WriteUrgency, leavesSync: Bool = false,
    _ body: (borrowing StoreWriter) throws -> R
  ) throws -> (value: R, sync: PendingSync?, isOwed: Bool) {
    let open = try beginCommit(urgency)
    let transaction = open.transaction
    defer { transaction.end() }
    let result: R
    let outlook: (hasWork: Bool, nextExpiry: Int64?)
    do {
      result = try body(StoreWriter(transaction: transaction))
      outlook = try prepareCommit(transaction)
    } catch {
      open.pages.rollback()
      throw error
    }
    let (sync, isOwed) = try finishCommit(open, level, leavesSync: leavesSync, outlook)
    return (result, sync, isOwed)
  }

  /// A transaction that changes the store, with the pages that it writes to.
  private struct OpenCommit: ~Copyable {
    let pages: WriteTransaction
    let transaction: Transaction
    let memory: WriterMemory
    let life: Int
  }

  @inline(never)
  private func beginCommit(_ urgency: WriteUrgency) throws(StoreError) -> OpenCommit {
    let pages = try storage { () throws(PageFileError) in try database.beginWrite(urgency) }
    let (life, lsn) = (pages.life, pages.lsn)
    let (names, dictionaries, memory) = known.withLock {
      ($0.names(in: life), $0.dictionaries(in: life), $0.takeMemory(of: lsn, in: life))
    }
    let view = StoreView(
      source: pages.source, names: names, dictionaries: dictionaries, isCommitted: false,
      localMember: localNumber, previewsSkipRetracted: rules.previewsSkipRetracted)
    let transaction = Transaction(
      view, memory: memory, localMember: localNumber, rules: rules, running: running,
      hasListeners: !listeners.isEmpty, newestDictionary: newestDictionary, clock: clock)
    return OpenCommit(pages: pages, transaction: transaction, memory: memory, life: life)
  }

  /// Writes what is still in memory.
  ///
  /// - Returns: Whether work in steps is left, and the next time at which a message expires.
  @inline(never)
  private func prepareCommit(
    _ transaction: Transaction
  ) throws(StoreError) -> (hasWork: Bool, nextExpiry: Int64?) {
    try transaction.finish()
    let hasWork = try transaction.change { () throws(StoreError) in try wantsStep(transaction) }
    let nextExpiry = try transaction.change { () throws(StoreError) in
      try self.nextExpiry(transaction)
    }
    transaction.steps.assertProgress()
    if transaction.view.source.hasChanges { try transaction.messageFacts.saveProgress() }
    return (hasWork, nextExpiry)
  }

  @inline(never)
  private func finishCommit(
    _ open: consuming OpenCommit, _ level: SyncLevel, leavesSync: Bool,
    _ outlook: (hasWork: Bool, nextExpiry: Int64?)
  ) throws(StoreError) -> (sync: PendingSync?, isOwed: Bool) {
    let (transaction, memory, life) = (open.transaction, open.memory, open.life)
    let pages = open.pages
    let log = leavesSync ? pages.log : nil
    // Before the next writer begins, which may reclaim the work of earlier leases.
    if let lease = transaction.firstLease { workers.withLock { $0.noteLease(lease) } }
    let wantsDictionary = transaction.dictionaryTable.takeDictionaryDemand {
      (try? database.dataFileByteCount()) ?? 0
    }
    let changes = transaction.changes.changes()
    // Transfer progress is kept in memory and may change without a page.
    let isToldOf = pages.source.hasChanges || !transaction.transferChanges.isEmpty
    var waiters: [ChangeListeners.Waiter] = []
    let former = running.begin(transaction.transferChanges)
    var isVisible = false
    let isDurable = transaction.isDurabilityWanted || level == .full
    let committed: LSN
    do throws(PageFileError) {
      committed = try pages.commit(isDurable && !leavesSync ? .full : .relaxed) { moment in
        switch moment {
        case .visible:
          isVisible = true
          running.end(transaction.transferChanges)
          let isHeard = transaction.hasListeners || !StoreDefect.lateListenersUntold.isPlanted
          if isToldOf && isHeard { waiters = listeners.put(changes) }
        case .over: ChangeListeners.wake(waiters)
        }
      }
    } catch {
      if !isVisible { running.takeBack(former) }
      throw StoreError.storage(error)
    }
    running.wereSaved(transaction.savedProgress)
    memory.settle()
    known.withLock { $0.keep(memory, of: committed, in: life) }
    if outlook.hasWork { scheduleWork() }
    awaitExpiry(outlook.nextExpiry, asOf: committed, in: life)
    if transaction.hasErasedExpired { endReaders(before: committed, in: life) }
    if wantsDictionary { scheduleDictionary() }
    return (log.map { PendingSync(log: $0, lsn: committed) }, isDurable)
  }

  /// Returns the next time at which a message expires; nil if the store does not wait for it.
  private func nextExpiry(_ transaction: Transaction) throws(StoreError) -> Int64? {
    let view = transaction.view
    if view.expiry.isUnused || !worksInBackground { return nil }
    return try view.expiry.first(after: transaction.expiryTime)?.time
  }

  /// Waits for the next message to expire as of a commit, to let it go then.
  private func awaitExpiry(_ time: Int64?, asOf lsn: LSN, in life: Int) {
    // No message of most stores expires: they need no lock.
    if time == nil, !hasAwaitedExpiry.load(ordering: .relaxed) { return }
    hasAwaitedExpiry.store(true, ordering: .relaxed)
    expiryTimer.withLock {
      $0.wait(until: time, asOf: lsn, in: life, by: clock) { [weak self] in self?.scheduleWork() }
    }
  }

  /// True while the store waits for a message to expire.
  package var isExpiryAwaited: Bool { expiryTimer.withLock { $0.isWaiting } }

  /// Expires the snapshots of commits before one, unless they have ended by themselves in time.
  ///
  /// Erased content stays in the files for as long as they see it.
  private func endReaders(before lsn: LSN, in life: Int) {
    guard heldErasure.withLock({ $0.begin(lsn, in: life) }) else { return }
    let pause = rules.maximumExpiredReading
    Task.detached(priority: .utility) { [weak self] in
      try? await Task.sleep(for: pause)
      guard let self, let (lsn, next) = heldErasure.withLock({ $0.end(in: life) }) else { return }
      if database.expireSnapshots(before: lsn) {
        try? await onThreadOfItsOwn { () throws(StoreError) in try self.checkpoint() }
      }
      if let next { endReaders(before: next, in: life) }
    }
  }

  /// Records the progress of a transfer, and stores all progress if some is too old.
  ///
  /// Returns true while the transfer runs.
  func report(_ byteCount: Int64, _ key: RunningTransfers.Key) throws(StoreError) -> Bool {
    guard let isOverdue = running.report(max(byteCount, 0), key, at: clock()) else { return false }
    guard isOverdue else { return true }
    do {
      try write(.relaxed) { writer in try writer.transaction.messageFacts.saveProgress() }
    } catch let error as StoreError {
      throw error
    } catch {
      preconditionFailure("closure: threw an error other than StoreError")
    }
    return true
  }

  /// Tells the listeners that a transfer of a message's attachment has moved on.
  func tellProgress(of message: MessageID, in conversation: ConversationID) {
    if listeners.isEmpty { return }
    var progress = ConversationChanges()
    progress.addProgress(of: message)
    var changes = StoreChanges()
    changes.add(progress, of: conversation)
    ChangeListeners.wake(listeners.put(changes))
  }

  func checkpoint() throws(StoreError) {
    try storage { () throws(PageFileError) in try database.checkpoint() }
  }

  func suspend(checkpoints: Bool) throws(StoreError) {
    try storage { () throws(PageFileError) in try database.suspend(checkpoints: checkpoints) }
  }

  func resume() throws(StoreError) {
    try storage { () throws(PageFileError) in try database.resume() }
    ChangeListeners.wake(listeners.put(.anything))
    // Counters let go what has expired meanwhile, and another process may have changed the next
    // time.
    if worksInBackground, mayExpire { scheduleWork() }
  }

  /// True unless no message of the store expires.
  private var mayExpire: Bool {
    (try? read { (chat) in !chat.view.expiry.isUnused }) ?? true
  }

  /// Closes the store: waits for background work, and leaves a clean file.
  @inline(never)
  func close() throws(StoreError) {
    if database.isForeign { throw .storage(.forked) }
    try storage { () throws(PageFileError) in try database.refuseWhileUsed("close") }
    if pools.contains(where: \.isCurrent) { throw .storage(.insideTransaction(call: "close")) }
    stopThreads()
    do throws(StoreError) {
      try storage { () throws(PageFileError) in try database.close() }
    } catch {
      // Whatever closing has met, the store is closed, and nobody waits for changes in vain.
      if !StoreDefect.failedClosingUntold.isPlanted { listeners.close() }
      throw error
    }
    listeners.close()
  }

  private var pools: [WorkerPool] { [readers, followers, writer, urgentWriter, sender] }

  private func stopThreads() {
    expiryTimer.withLock { $0.end() }
    for pool in pools { pool.close() }
    syncer.stop()
  }

  /// Closes the store after its last caller has released it.
  ///
  /// No call is under way then, because each holds the store. Background work is waited for, except
  /// on the thread that released the store.
  func end() {
    if database.isForeign { return }
    ending.store(true, ordering: .relaxed)
    stopThreads()
    // A thread that waits for a durable commit may still hold the database.
    try? database.close()
    listeners.close()
  }

  /// Runs `body` on the memory that the last writer has left.
  ///
  /// Does nothing if there were commits after `lsn`, or while the memory is in use elsewhere.
  package func withMemory(
    of lsn: LSN, _ body: (WriterMemory) throws(StoreError) -> Void
  ) throws(StoreError) {
    guard let (memory, life) = known.withLock({ $0.lend(lsn) }) else { return }
    defer { known.withLock { $0.returnWork(memory, of: lsn, in: life) } }
    try body(memory)
  }

  /// Returns the sizes of the data file, and of the files of the log together, in bytes.
  package func fileByteCounts() throws(StoreError) -> (data: Int, log: Int) {
    try storage { () throws(PageFileError) in
      (try database.dataFileByteCount(), try database.walFileByteCount())
    }
  }

  /// Checks all pages and reports those that break a rule.
  package func checkPages(_ report: (PageFile.CheckFinding) -> Void) throws(StoreError) {
    try storage { () throws(PageFileError) in try database.check(report) }
  }
}
