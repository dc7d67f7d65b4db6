package import PageFile

/// The messages and conversations of a chat client, in one file with its log beside it.
///
/// There is one way to read and one way to write, both closures. A reader sees one moment and waits
/// for nobody; writers take turns. Nothing has to be tended. A store may be used from any thread, and
/// ends with `close()` or when the last reference to it goes.
public final class MessageStore: Sendable {
  /// The member whose unread messages are counted, where that is known.
  package let localMember: MemberID?
  private let localNumber: UInt32?
  let database: Database
  private let known: Locked<KnownNames>
  let clock: @Sendable () -> Timestamp
  private let rules: StoreRules
  private let running = RunningTransfers()
  /// Those who are told what changes.
  let listeners = ChangeListeners()
  let readers = WorkerPool(countMax: 4)
  let writer = WorkerPool(countMax: 1)
  /// Syncs what was written without waiting for that.
  let syncer = Worker(lingerMilliseconds: 20)
  let worksInBackground: Bool
  /// Whether the first dictionary may be made in the background.
  let makesDictionaries: Bool
  /// Whether a step of what is left to do has been asked for.
  let isWorkScheduled = Locked(false)
  /// Whether a dictionary is being made.
  let isDictionaryScheduled = Locked(false)

  /// How often `read` begins anew when its moment is no longer kept.
  private static let repetitionCountMax = 3

  /// Opens a store, or creates it.
  ///
  /// Opening reads a few pages, whatever the size of the store; after anything but a clean close it
  /// also reads the log.
  ///
  /// - Parameters:
  ///   - path: The data file; the log lies beside it.
  ///   - options: How to open it.
  /// - Throws: `storage`, with `busy` inside when somebody else has it; `notAMessageStore`;
  ///   `schemaTooNew`; `schemaTooOld`; `localMemberDiffers`; `invalidIdentifier` for the local
  ///   member. Nothing was changed then.
  public convenience init(path: String, options: StoreOptions = .init()) throws(StoreError) {
    try options.localMember?.validate()
    let database = try storage { () throws(PageFileError) in
      try Database(path: path, options: options.database)
    }
    try self.init(database, path: path, options)
  }

  /// The same in a directory of any kind, for tests and tools.
  package convenience init(
    in directory: any StorageDirectory, name: String, options: StoreOptions = .init()
  ) throws(StoreError) {
    try options.localMember?.validate()
    let database = try storage { () throws(PageFileError) in
      try Database(in: directory, name: name, options: options.database)
    }
    try self.init(database, path: directory.path(of: name), options)
  }

  private init(_ database: Database, path: String, _ options: StoreOptions) throws(StoreError) {
    let names = MemberNames()
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
    known = Locked(KnownNames(names))
    clock = options.clock
    rules = options.rules
    worksInBackground = options.worksInBackground
    makesDictionaries =
      options.worksInBackground && options.cacheByteCount >= StoreOptions.usualCacheByteCount
  }

  deinit {
    if database.isForeign { return }
    readers.finish()
    writer.finish()
    syncer.finish()
    listeners.close()
  }

  /// Reads one moment of the store.
  ///
  /// Waits for nobody; beginning costs well under a microsecond.
  ///
  /// The closure runs again, at most three times, on a new moment when its own grew too old to be
  /// kept. It must not wait for a write.
  ///
  /// - Throws: What the closure throws, unchanged; `storage`.
  public func read<R>(_ body: (borrowing StoreSnapshot) throws -> R) throws -> R {
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
      do {
        return try body(snapshot)
      } catch StoreError.storage(.snapshotExpired)
        where repetitionCount < Self.repetitionCountMax
      {
        repetitionCount += 1
      }
    }
  }

  /// Changes the store: everything the closure does is one commit, or nothing if it throws.
  ///
  /// Waits for the writer before. The closure must not begin another write. One that changes nothing
  /// commits nothing; at `full` it still returns only when everything it saw is durable.
  ///
  /// - Parameters:
  ///   - level: `full` returns when the commit is on the disk; `relaxed` when it is safe from the
  ///     process being killed, for what can be fetched again.
  ///   - body: What to do.
  /// - Throws: What the closure throws, unchanged; `storage`.
  @discardableResult
  public func write<R>(
    _ level: SyncLevel, _ body: (borrowing StoreWriter) throws -> R
  ) throws -> R {
    try commit(level, body).value
  }

  /// Changes the store: everything the closure does is one commit, or nothing if it throws, and it is
  /// on the disk when this returns.
  ///
  /// See `write(_:_:)`; this is the same at `full`.
  ///
  /// - Throws: What the closure throws, unchanged; `storage`.
  @discardableResult
  public func write<R>(_ body: (borrowing StoreWriter) throws -> R) throws -> R {
    try commit(.full, body).value
  }

  /// The same, with the number of the commit and the life of the store that it was made in.
  func commit<R>(
    _ level: SyncLevel, _ body: (borrowing StoreWriter) throws -> R
  ) throws -> (value: R, lsn: LSN, life: Int) {
    let transaction = try storage { () throws(PageFileError) in try database.beginWrite() }
    let life = transaction.life
    let lsn = transaction.lsn
    let (names, dictionaries, memory) = known.withLock {
      ($0.names(in: life), $0.dictionaries(in: life), $0.takeMemory(of: lsn, in: life))
    }
    let reader = StoreReader(
      source: transaction.source, names: names, dictionaries: dictionaries, isCommitted: false,
      localMember: localNumber,
      previewsSkipDeleted: rules.previewsSkipDeleted)
    let state = WriteState(
      reader, memory: memory, localMember: localNumber, rules: rules, running: running,
      isHeard: !listeners.isEmpty, newestDictionary: newestDictionary, clock: clock)
    let result: R
    let hasWork: Bool
    do {
      result = try body(StoreWriter(state))
      try state.finish()
      hasWork = try state.hasWork
      if transaction.source.hasChanges { try state.saveProgress() }
    } catch {
      transaction.rollback()
      throw error
    }
    let wantsDictionary = state.takeDictionaryDemand()
    let changes = state.changes()
    // What is known in memory alone may change without a page.
    let isToldOf = transaction.source.hasChanges || !state.transferChanges.isEmpty
    var waiters: [ChangeListeners.Waiter] = []
    running.begin(state.transferChanges)
    let committed: LSN
    do throws(PageFileError) {
      committed = try transaction.commit(
        (state.isDurabilityWanted ? .full : level).pageLevel
      ) { moment in
        switch moment {
        case .visible:
          running.end(state.transferChanges)
          if isToldOf { waiters = listeners.put(changes) }
        case .over: ChangeListeners.wake(waiters)
        }
      }
    } catch {
      throw StoreError.storage(error)
    }
    running.wereSaved(state.savedProgress)
    memory.settle(isAnythingWaiting: state.isAnythingWaiting)
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
      try write(.relaxed) { writer in try writer.state.saveProgress() }
    } catch let error as StoreError {
      throw error
    } catch {
      preconditionFailure("the closure throws nothing else")
    }
    return true
  }

  /// Moves what is in the log to the data file now.
  ///
  /// It happens by itself as well.
  public func checkpoint() throws(StoreError) {
    try storage { () throws(PageFileError) in try database.checkpoint() }
  }

  /// Ends the store: waits for what runs in the background, and leaves a clean file.
  ///
  /// Everything afterwards throws `closed`. It must not be called from within a closure of this
  /// store.
  public func close() throws(StoreError) {
    if database.isForeign { throw .storage(.forked) }
    readers.close()
    writer.close()
    syncer.stop()
    try storage { () throws(PageFileError) in try database.close() }
    listeners.close()
  }

  /// Lets go of the files, for as long as the system may stop the process or another one, as an app
  /// extension, shall own the store.
  ///
  /// When this returns no write and no sync is under way, none can begin, and the lock is let go:
  /// an app calls it when it goes to the background. Everything throws `suspended` until `resume`.
  /// It waits for what is being read and written, and must not be called from within a closure of
  /// this store.
  ///
  /// - Parameter checkpoints: Whether to leave a clean file, which costs the time of a checkpoint
  ///   but makes the next opening quick. Otherwise one sync makes durable what is not.
  /// - Throws: `storage`. The store is suspended all the same, and what was acknowledged is safe.
  ///   After `diskFull` and `deviceLocked` nothing is lost; after `ioError`, `commitUnknown`, or
  ///   `poisoned` inside, commits at `relaxed` may be.
  public func suspend(checkpoints: Bool = true) throws(StoreError) {
    try storage { () throws(PageFileError) in try database.suspend(checkpoints: checkpoints) }
  }

  /// Takes the files up again after `suspend`, or after a failed write or sync that has left the
  /// store `poisoned`.
  ///
  /// What another process has stored meanwhile is seen. Does nothing to a store that is in use and
  /// sound.
  ///
  /// - Throws: `storage`, with what opening throws inside, and `mainFileMissing` or `fileReplaced`
  ///   when the store is not there any more. The store stays suspended then, and this may be called
  ///   again.
  public func resume() throws(StoreError) {
    try storage { () throws(PageFileError) in try database.resume() }
    ChangeListeners.wake(listeners.put(.anything))
  }

  /// What was counted since the store was opened.
  public var statistics: StoreStatistics { StoreStatistics(database.statistics) }

  /// Runs `body` on what the last writer has left, if nothing was committed since some commit and
  /// nobody else has it now.
  func withMemory(
    of lsn: LSN, _ body: (WriterMemory) throws(StoreError) -> Void
  ) throws(StoreError) {
    guard let (memory, life) = known.withLock({ $0.lend(lsn) }) else { return }
    defer { known.withLock { $0.giveBack(memory, of: lsn, in: life) } }
    try body(memory)
  }

  /// Looks for pages that break a rule.
  func checkPages(_ report: (PageFile.Finding) -> Void) throws(StoreError) {
    try storage { () throws(PageFileError) in try database.check(report) }
  }
}
