package import PageFile
import Synchronization

/// The parts of a store, and what callers and background work do with them.
///
/// Callers hold the `MessageStore`; background work, live values and what runs on the store's own
/// threads hold the core alone. So the store ends when the last caller lets go of it, whatever is under
/// way: `deinit` waits for that and closes the files.
package final class StoreCore: Sendable {
  /// The member whose unread messages are counted, where that is known.
  let localMember: MemberID?
  private let localNumber: UInt32?
  let database: Database
  private let known: Locked<KnownNames>
  let clock: @Sendable () -> Timestamp
  private let rules: StoreRules
  private let running = RunningTransfers()
  /// Those who are told what changes.
  let listeners: ChangeListeners
  let readers = WorkerPool(countMax: 4)
  /// For asynchronous writes at `relaxed`, and for work in the background.
  let writer = WorkerPool(countMax: 1)
  /// For asynchronous writes at `full`, which wait for their sync there.
  let urgentWriter = WorkerPool(countMax: 1)
  /// For asynchronous writes that are visible at once.
  let sender = WorkerPool(countMax: 1)
  /// Syncs what was written without waiting for that.
  let syncer = Worker(lingerMilliseconds: 20)
  let worksInBackground: Bool
  /// Whether the first dictionary may be made in the background.
  let makesDictionaries: Bool
  private let ending = Atomic(false)
  /// Whether the last caller has gone, for what takes long in the background.
  var isEnding: Bool { ending.load(ordering: .relaxed) }
  /// Whether a step of what is left to do has been asked for.
  let isWorkScheduled = Locked(false)
  /// Whether a dictionary is being made.
  let isDictionaryScheduled = Locked(false)

  /// How often `read` begins anew when its moment is no longer kept.
  private static let repetitionCountMax = 3

  init(_ database: Database, path: String, _ options: StoreOptions) throws(StoreError) {
    let shares = MemoryShares(cacheByteCount: options.cacheByteCount)
    let names = MemberNames(byteCountMax: shares.memberNames)
    let opening = Opening(database: database, names: names, path: path, options: options)
    do throws(StoreError) {
      localNumber = try opening.run()
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
    makesDictionaries =
      options.worksInBackground && options.cacheByteCount >= StoreOptions.usualCacheByteCount
  }

  /// Reads one moment; see `MessageStore.read(_:)`.
  package func read<R>(_ body: (borrowing StoreSnapshot) throws -> R) throws -> R {
    var repetitionCount = 0
    while true {
      let transaction = try storage { () throws(PageFileError) in try database.beginRead() }
      let life = transaction.life
      let (names, dictionaries) = known.withLock {
        ($0.names(in: life), $0.dictionaries(in: life))
      }
      let snapshot = StoreSnapshot(
        transaction, names, dictionaries, localMember: localNumber,
        running: running, previewsSkipDeleted: rules.previewsSkipDeleted)
      defer { snapshot.view.isOver = true }
      do {
        return try body(snapshot)
      } catch StoreError.storage(.snapshotExpired)
        where repetitionCount < Self.repetitionCountMax
      {
        repetitionCount += 1
      }
    }
  }

  /// Changes the store in one commit; see `MessageStore.write(_:_:)`.
  @discardableResult
  func write<R>(
    _ level: SyncLevel, _ body: (borrowing StoreWriter) throws -> R
  ) throws -> R {
    try commit(level, level == .relaxed ? .patient : .urgent, body).value
  }

  /// The same, with the number of the commit and the life of the store that it was made in.
  func commit<R>(
    _ level: SyncLevel, _ urgency: WriteUrgency, _ body: (borrowing StoreWriter) throws -> R
  ) throws -> (value: R, lsn: LSN, life: Int) {
    let pages = try storage { () throws(PageFileError) in try database.beginWrite(urgency) }
    let life = pages.life
    let lsn = pages.lsn
    let (names, dictionaries, memory) = known.withLock {
      ($0.names(in: life), $0.dictionaries(in: life), $0.takeMemory(of: lsn, in: life))
    }
    let view = StoreView(
      source: pages.source, names: names, dictionaries: dictionaries, isCommitted: false,
      localMember: localNumber,
      previewsSkipDeleted: rules.previewsSkipDeleted)
    defer { view.isOver = true }
    let transaction = Transaction(
      view, memory: memory, localMember: localNumber, rules: rules, running: running,
      isHeard: !listeners.isEmpty, newestDictionary: newestDictionary, clock: clock)
    let result: R
    let hasWork: Bool
    do {
      result = try body(StoreWriter(transaction))
      try transaction.finish()
      hasWork = try transaction.change { () throws(StoreError) in try transaction.steps.hasWork }
      if pages.source.hasChanges { try transaction.attachments.saveProgress() }
    } catch {
      pages.rollback()
      throw error
    }
    let wantsDictionary = transaction.dictionaryTable.takeDictionaryDemand()
    let changes = transaction.changes.changes()
    // What is known in memory alone may change without a page.
    let isToldOf = pages.source.hasChanges || !transaction.transferChanges.isEmpty
    var waiters: [ChangeListeners.Waiter] = []
    running.begin(transaction.transferChanges)
    let committed: LSN
    do throws(PageFileError) {
      committed = try pages.commit(
        (transaction.isDurabilityWanted ? .full : level).pageLevel
      ) { moment in
        switch moment {
        case .visible:
          running.end(transaction.transferChanges)
          if isToldOf { waiters = listeners.put(changes) }
        case .over: ChangeListeners.wake(waiters)
        }
      }
    } catch {
      throw StoreError.storage(error)
    }
    running.wereSaved(transaction.savedProgress)
    memory.settle(isAnythingWaiting: transaction.isAnythingWaiting)
    known.withLock { $0.keep(memory, of: committed, in: life) }
    if hasWork { scheduleWork() }
    if wantsDictionary { scheduleDictionary() }
    return (result, committed, life)
  }

  /// Notes progress, and stores all of it when some is too old; returns whether the transfer runs.
  func report(_ byteCount: Int64, _ key: RunningTransfers.Key) throws(StoreError) -> Bool {
    guard let isOverdue = running.report(max(byteCount, 0), key, at: clock()) else { return false }
    guard isOverdue else { return true }
    do {
      try write(.relaxed) { writer in try writer.transaction.attachments.saveProgress() }
    } catch let error as StoreError {
      throw error
    } catch {
      preconditionFailure("the closure throws nothing else")
    }
    return true
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
  }

  /// Ends the store: waits for what runs in the background, and leaves a clean file.
  func close() throws(StoreError) {
    if database.isForeign { throw .storage(.forked) }
    try storage { () throws(PageFileError) in try database.refuseInsideWrite("close") }
    if pools.contains(where: \.isCurrent) { throw .storage(.insideTransaction(call: "close")) }
    stopThreads()
    try storage { () throws(PageFileError) in try database.close() }
    listeners.close()
  }

  private var pools: [WorkerPool] { [readers, writer, urgentWriter, sender] }

  private func stopThreads() {
    for pool in pools { pool.close() }
    syncer.stop()
  }

  /// Ends the store when the last caller has let go of it.
  ///
  /// No call is under way then, as each holds the store. What goes on in the background is waited for,
  /// unless it is on the thread that has let go.
  func end() {
    if database.isForeign { return }
    ending.store(true, ordering: .relaxed)
    stopThreads()
    // Whoever waits for a commit to be durable may hold the database still.
    try? database.close()
    listeners.close()
  }

  /// Runs `body` on what the last writer has left, if nothing was committed since some commit and
  /// nobody else has it now.
  package func withMemory(
    of lsn: LSN, _ body: (WriterMemory) throws(StoreError) -> Void
  ) throws(StoreError) {
    guard let (memory, life) = known.withLock({ $0.lend(lsn) }) else { return }
    defer { known.withLock { $0.giveBack(memory, of: lsn, in: life) } }
    try body(memory)
  }

  /// Looks for pages that break a rule.
  package func checkPages(_ report: (PageFile.Finding) -> Void) throws(StoreError) {
    try storage { () throws(PageFileError) in try database.check(report) }
  }
}
