import Synchronization

/// A transactional file of ordered maps from bytes to bytes.
///
/// One process owns a database and writes, one transaction after the other. Any number of readers
/// see one moment each and never wait. A database may be used from any thread.
public final class Database: Sendable {
  private let directory: any StorageDirectory
  private let name: String
  private let options: DatabaseOptions
  /// Replaced by `resume`.
  private let current: Locked<Engine>
  /// Held while closing, suspending or resuming.
  private let transition = Lock()
  /// The thread that holds `transition`; 0 if none does.
  private let transitioning = Atomic<UInt>(0)
  private let fork = ForkWitness()

  /// The source of the key, for copies that are to be encrypted as this database is.
  package var encryption: Encryption? { engine.encryption.withLock { $0 } }

  var engine: Engine { current.withLock { $0 } }

  /// Returns the engine; throws `forked` unless this process opened it.
  private func ownEngine() throws(PageFileError) -> Engine {
    if fork.hasForked { throw .forked }
    return engine
  }

  /// Opens the data file at a path with the two WAL files beside it, or creates it.
  ///
  /// Opening reads two sectors of the data file and everything that the log holds since the last
  /// checkpoint. Nothing is written until the first commit, or until a checkpoint or a quiet moment
  /// moves the log that was found.
  ///
  /// - Throws: `keyMissing`, `invalidKey`, `wrongKey`, `notEncrypted` for a key that does not fit
  ///   the file; `rolledBack` for a file that ends before `DatabaseOptions.mark`; `busy` if another
  ///   process owns the file; `notADatabase`, `unsupportedFormat`, `corruptMeta`, `corruptWAL`,
  ///   `walMismatch`, `mainFileMissing` for files that cannot be trusted (nothing is changed then);
  ///   `readOnly` if the file may not be written; `limitExceeded` for an invalid page size;
  ///   `ioError`.
  public convenience init(
    path: String, options: DatabaseOptions = DatabaseOptions()
  ) throws(PageFileError) {
    let (directory, name) = PosixDirectory.resolve(path)
    try self.init(in: PosixDirectory(path: directory), name: name, options: options)
  }

  /// Opens a database in any kind of directory.
  package init(
    in directory: any StorageDirectory, name: String, options: DatabaseOptions = DatabaseOptions()
  ) throws(PageFileError) {
    self.directory = directory
    self.name = name
    self.options = options
    current = Locked(try Engine.open(directory, name, options))
  }

  deinit {
    // A thread that holds a lock here also holds a reference, so none is held now. In a child
    // by `fork` even that is unknown.
    if !fork.hasForked { try? engine.end(.closed, waits: false) }
  }

  /// Begins reading the last commit.
  ///
  /// - Throws: `closed`, `suspended`, `forked`. For a read-only database also the errors of
  ///   opening, because it looks for newer commits first.
  public func beginRead() throws(PageFileError) -> ReadTransaction {
    let engine = try ownEngine()
    return ReadTransaction(engine: engine, snapshot: try engine.snapshotToRead())
  }

  /// Begins writing, once every earlier writer has ended and any checkpoint that has to make room
  /// has finished.
  ///
  /// - Throws: `readOnly`, `closed`, `suspended`, `forked`, `poisoned`; the error of the last
  ///   checkpoint if there is no room because it failed; `insideTransaction` on a thread that has a
  ///   write transaction open.
  public func beginWrite() throws(PageFileError) -> WriteTransaction { try beginWrite(.patient) }

  /// Begins writing like `beginWrite()`, with the given urgency.
  package func beginWrite(_ urgency: WriteUrgency) throws(PageFileError) -> WriteTransaction {
    let engine = try ownEngine()
    return WriteTransaction(engine: engine, source: try engine.beginWrite(urgency))
  }

  /// Throws `insideTransaction` for a call that would wait for this thread's own write transaction.
  func refuseInsideWrite(_ call: String) throws(PageFileError) {
    try ownEngine().refuseInsideWrite(call)
  }

  /// Throws `insideTransaction` for a call that would wait for something that this thread does: a
  /// write transaction, a read, or a `resume` that asks for the key.
  package func refuseWhileUsed(_ call: String) throws(PageFileError) {
    try ownEngine().refuseWhileUsed(call)
    try refuseInsideTransition(call)
  }

  /// Throws `insideTransaction` for a call that would wait for a call of this thread to end.
  private func refuseInsideTransition(_ call: String) throws(PageFileError) {
    if transitioning.load(ordering: .relaxed) == CurrentThread.id {
      throw .insideTransaction(call: call)
    }
  }

  /// Closes, suspends, or resumes, one thread at a time.
  private func change(_ body: () throws(PageFileError) -> Void) throws(PageFileError) {
    transition.lock()
    transitioning.store(CurrentThread.id, ordering: .relaxed)
    defer {
      transitioning.store(0, ordering: .relaxed)
      transition.unlock()
    }
    try body()
  }

  /// Moves everything committed into the data file and gives back the growth of the WAL files.
  ///
  /// Readers and writers continue meanwhile. Everything committed before the call is durable
  /// afterwards.
  ///
  /// - Throws: Any error of writing and syncing; nothing is lost then, and a later call tries
  ///   again. `insideTransaction` on a thread that has a write transaction open.
  public func checkpoint() throws(PageFileError) {
    let engine = try ownEngine()
    try engine.refuseInsideWrite("checkpoint")
    try engine.checkpoint(shrink: true)
  }

  /// Checkpoints, marks the file as cleanly closed, and closes it.
  ///
  /// Waits for an open write transaction to end and for reads in progress on other threads; read
  /// transactions that are still open get `snapshotExpired`. Closing again does nothing.
  ///
  /// - Throws: Any error of the checkpoint; the use of the files has ended all the same.
  ///   `insideTransaction` on a thread that has a write transaction open, is reading, or is asked
  ///   for the key by `resume`; then the database stays open.
  public func close() throws(PageFileError) {
    if fork.hasForked { throw .forked }
    try refuseWhileUsed("close")
    // The engine is looked up under the lock, because a concurrent `resume` replaces it.
    try change { () throws(PageFileError) in try engine.end(.closed) }
  }

  // MARK: The app's key

  /// Changes the app's key of an encrypted database, which is asked for the former key too.
  ///
  /// Durable on return: from then on the new key opens the database, and the former one does not.
  /// Costs a checkpoint and one more sync, whatever the size: the pages stay as they are, under the
  /// data key that the app's key seals. Readers and writers continue meanwhile.
  ///
  /// It locks out nobody who has the former key and a copy of the files from its time: the data key
  /// is the same. Only another database has another data key; `backUp` makes one.
  ///
  /// Keep both keys until the call returns. After a crash, and after an error, at least one of them
  /// opens the database, and often both do; call this again then, with the key that opens it as the
  /// former one.
  ///
  /// - Parameter new: The source of the new key, which also `resume` and `backUp` use afterwards.
  /// - Throws: `notEncrypted` for a database without encryption; `keyMissing` and `invalidKey` for
  ///   either key; `wrongKey` if the former source no longer has the key in use; `readOnly`; the
  ///   errors of `beginWrite` and of `checkpoint`. `insideTransaction` on a thread that has a write
  ///   transaction open.
  public func changeKey(to new: Encryption) throws(PageFileError) {
    let engine = try ownEngine()
    try engine.refuseInsideWrite("changeKey")
    try engine.changeKey(to: new)
  }

  // MARK: Handing over

  /// Releases the files, while the system may stop the process or another process is to own the
  /// store.
  ///
  /// On return no write and no sync is under way, none can begin, and the lock is released. Reading
  /// and writing throw `suspended` until `resume`; open transactions throw `snapshotExpired`. Waits
  /// for an open write transaction to end and for reads in progress on other threads.
  ///
  /// - Parameter checkpoints: True to leave a clean file, which costs the time of a checkpoint but
  ///   makes the next opening quick. Otherwise one sync makes durable what is not durable yet.
  /// - Throws: Any error of the checkpoint or the sync; the database is suspended all the same, and
  ///   commits at `full` are safe. After `diskFull` and `deviceLocked` the log has everything, and
  ///   the next opening reads it. After `ioError`, `commitUnknown` or `poisoned` commits at
  ///   `relaxed` may be lost. `forked`; `insideTransaction` on a thread that has a write
  ///   transaction open, is reading, or is asked for the key by `resume`: then nothing happens.
  public func suspend(checkpoints: Bool = true) throws(PageFileError) {
    if fork.hasForked { throw .forked }
    try refuseWhileUsed("suspend")
    try change { () throws(PageFileError) in
      try engine.end(.suspended, checkpoints: checkpoints)
    }
  }

  /// Closes the files as they are, without writing anything, not even the writes of a clean close.
  ///
  /// For callers that open the files and then refuse them.
  package func abandon() {
    if fork.hasForked { return }
    transition.withLock { try? engine.end(.closed, checkpoints: false) }
  }

  /// Reopens the files after `suspend`, or after a failed write or sync that has left the database
  /// `poisoned`.
  ///
  /// Commits that another process has made meanwhile are visible. Transactions from before throw
  /// `snapshotExpired`. Does nothing to a database that is in use and sound.
  ///
  /// - Throws: The errors of opening, and `mainFileMissing` or `fileReplaced` if the store is gone:
  ///   the database stays suspended, and this may be called again. `closed`, `forked`.
  ///   `insideTransaction` on a thread that has a write transaction open or is asked for the key.
  public func resume() throws(PageFileError) {
    if fork.hasForked { throw .forked }
    try refuseInsideTransition("resume")
    try change { () throws(PageFileError) in
      let engine = engine
      if engine.ending == .closed { throw .closed }
      if engine.ending == nil {
        guard engine.isPoisoned else { return }
        try engine.refuseWhileUsed("resume")
        try? engine.end(.suspended, checkpoints: false)
      }
      var options = options
      options.encryption = encryption
      let resumed = try Engine.open(directory, name, options, resuming: engine)
      current.withLock { $0 = resumed }
    }
  }

  /// True if this process is a child, by `fork`, of the one that opened the database.
  ///
  /// The database cannot be used then, and holds nothing that the child would have to release.
  public var isForeign: Bool { fork.hasForked }

  /// True if the database has to be resumed before it can be written to.
  public var isPoisoned: Bool { !fork.hasForked && engine.isPoisoned }

  /// The number of callers waiting to write.
  package var waitingWriterCount: Int { engine.gate.waitingCount }

  /// Expires the snapshots of commits before one, whose pages are to be erased.
  ///
  /// Does nothing to the snapshot of the last commit. Returns true if there was any to expire.
  package func expireSnapshots(before lsn: LSN) -> Bool {
    if fork.hasForked { return false }
    return engine.pager.registry.expire(before: min(lsn, engine.published.current.lsn))
  }

  /// Runs the pending background work, if no thread does it.
  package func runBackgroundWork() { if !fork.hasForked { engine.worker.runQueued() } }

  /// The number of pages in memory, for whatever reason.
  package var livingPageCount: Int { engine.pager.account.livingCount }

  /// Runs the upkeep that follows each checkpoint; see `Engine.keepWithinBudget`.
  package func keepWithinBudget() { engine.keepWithinBudget() }

  /// The number of page images in memory that neither the cache nor the log holds.
  ///
  /// They belong to open transactions, old snapshots, or a running checkpoint.
  package var strayImageCount: Int {
    let engine = engine
    let maps = engine.published.current.maps
    let loggedCount = maps.0.imageCount + maps.1.imageCount
    return engine.pager.account.livingCount - engine.pager.cache.pageCount - loggedCount
  }

  /// The last commit that is known to be on the medium, for the app to keep and to give at the next
  /// opening; see `DatabaseOptions.mark`.
  ///
  /// Before the first write it may be less than the last commit. It tells the age of a state, and
  /// not its branch: two copies of a store that went on separately have the same marks.
  public var mark: LSN { fork.hasForked ? .zero : engine.mark }

  /// Figures about the open database; all of them zero in a child by `fork`.
  public var statistics: Statistics { fork.hasForked ? Statistics() : engine.statistics }
}
