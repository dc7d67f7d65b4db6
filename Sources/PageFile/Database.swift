/// A transactional file of ordered maps from bytes to bytes.
///
/// One process owns a database and writes, one transaction after the other; any number of readers see
/// one moment each and wait for nobody. May be used from any thread.
public final class Database: Sendable {
  private let directory: any StorageDirectory
  private let name: String
  private let options: DatabaseOptions
  /// Replaced by `resume`.
  private let current: Locked<Engine>
  /// Held by whoever closes, suspends or resumes.
  private let transition = Lock()
  private let fork = ForkWitness()

  var engine: Engine { current.withLock { $0 } }

  /// The engine, unless this process is not the one that opened it.
  private func ownEngine() throws(PageFileError) -> Engine {
    if fork.hasForked { throw .forked }
    return engine
  }

  /// Opens the data file at a path with the two WAL files beside it, or creates it.
  ///
  /// Opening reads two sectors of the data file and what the log holds since the last checkpoint.
  /// Nothing is written until the first commit, or a checkpoint or quiet moment that moves the log
  /// which was found.
  /// - Throws: `busy` when somebody else owns the file; `notADatabase`, `unsupportedFormat`,
  ///   `corruptMeta`, `corruptWAL`, `walMismatch`, `mainFileMissing` for files that cannot be believed
  ///   (nothing is changed then); `readOnly` when the file may not be written; `limitExceeded` for a
  ///   page size that is none; `ioError`.
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
    // Whoever holds the lock holds a reference too, so nobody does; in a child by `fork` even that
    // is not known.
    if !fork.hasForked { try? engine.end(.closed, waits: false) }
  }

  /// Begins to read the last commit.
  /// - Throws: `closed`, `suspended`, `forked`. For a read-only database also what opening throws, because it looks for
  ///   newer commits first.
  public func beginRead() throws(PageFileError) -> ReadTransaction {
    let engine = try ownEngine()
    return ReadTransaction(engine: engine, snapshot: try engine.snapshotToRead())
  }

  /// Begins to write, after every writer that began before has ended, and after a checkpoint that
  /// has to make room.
  /// - Throws: `readOnly`, `closed`, `suspended`, `forked`, `poisoned`; the error of the last checkpoint if there is no room
  ///   because it failed; `insideTransaction` on a thread that has begun a transaction which is open.
  public func beginWrite() throws(PageFileError) -> WriteTransaction { try beginWrite(.patient) }

  /// The same for a writer that says whether somebody waits for it.
  package func beginWrite(_ urgency: WriteUrgency) throws(PageFileError) -> WriteTransaction {
    let engine = try ownEngine()
    return WriteTransaction(engine: engine, source: try engine.beginWrite(urgency))
  }

  /// Refuses a call that would wait for the write transaction that this thread has open.
  package func refuseInsideWrite(_ call: String) throws(PageFileError) {
    try ownEngine().refuseInsideWrite(call)
  }

  /// Returns when a commit is on the disk that was made without waiting for that.
  ///
  /// - Parameters:
  ///   - lsn: The commit.
  ///   - life: How often the database had been resumed when it was made.
  /// - Throws: `commitUnknown` when the sync failed, or the database was suspended before it.
  package func waitUntilDurable(_ lsn: LSN, of life: Int) throws(PageFileError) {
    let engine = try ownEngine()
    if engine.life != life { throw .commitUnknown(lsn) }
    try engine.waitUntilDurable(lsn)
  }

  /// Moves everything committed into the data file and gives back what the WAL files have grown by.
  ///
  /// Readers and writers go on meanwhile. Everything committed before is durable afterwards.
  ///
  /// - Throws: What writing and syncing throw; nothing is lost then, and a later call tries again.
  ///   `insideTransaction` on a thread that has a write transaction open.
  public func checkpoint() throws(PageFileError) {
    let engine = try ownEngine()
    try engine.refuseInsideWrite("checkpoint")
    try engine.checkpoint(shrink: true)
  }

  /// Checkpoints, marks the file as cleanly closed, and lets go of it.
  ///
  /// Waits for an open write transaction to end and for what other threads are reading; read
  /// transactions still open get `snapshotExpired`. Calling it again does nothing.
  ///
  /// - Throws: What the checkpoint throws; the use of the files has ended all the same.
  ///   `insideTransaction` on a thread that has a write transaction open or is reading; then it goes on.
  public func close() throws(PageFileError) {
    if fork.hasForked { throw .forked }
    try engine.refuseWhileUsed("close")
    // The engine is looked for inside: whoever resumes at the same time puts another in its place.
    try transition.withLock { () throws(PageFileError) in try engine.end(.closed) }
  }

  // MARK: Handing over

  /// Lets go of the files, for as long as the system may stop the process or another one shall own
  /// the store.
  ///
  /// When this returns no write and no sync is under way, none can begin, and the lock is let go.
  /// Reading and writing throw `suspended` until `resume`; transactions that are open throw
  /// `snapshotExpired`. Waits for an open write transaction to end and for what other threads are
  /// reading.
  ///
  /// - Parameter checkpoints: Whether to leave a clean file, which costs the time of a checkpoint
  ///   but makes the next opening quick. Otherwise one sync makes durable what is not.
  /// - Throws: What the checkpoint or the sync throws; the database is suspended all the same, and
  ///   commits at `full` are safe. After `diskFull` and `deviceLocked` the log has everything, and the
  ///   next opening reads it. After `ioError`, `commitUnknown` or `poisoned` commits at `relaxed` may
  ///   be lost. `forked`; `insideTransaction` on a thread that has a write transaction open or is
  ///   reading: then it goes on.
  public func suspend(checkpoints: Bool = true) throws(PageFileError) {
    if fork.hasForked { throw .forked }
    try engine.refuseWhileUsed("suspend")
    try transition.withLock { () throws(PageFileError) in
      try engine.end(.suspended, checkpoints: checkpoints)
    }
  }

  /// Lets go of the files as they are: nothing is written, not even what a clean close would.
  ///
  /// For whoever has opened the files and then refuses them.
  package func abandon() {
    if fork.hasForked { return }
    transition.withLock { try? engine.end(.closed, checkpoints: false) }
  }

  /// Takes the files up again after `suspend`, or after a failed write or sync that has left the
  /// database `poisoned`.
  ///
  /// What another process has committed meanwhile is seen. Transactions from before throw
  /// `snapshotExpired`. Does nothing to a database that is in use and sound.
  ///
  /// - Throws: What opening throws, and `mainFileMissing` or `fileReplaced` when the store is not
  ///   there any more: the database stays suspended, and this may be called again. `closed`,
  ///   `forked`. `insideTransaction` on a thread that has a write transaction open.
  public func resume() throws(PageFileError) {
    if fork.hasForked { throw .forked }
    transition.lock()
    defer { transition.unlock() }
    let engine = engine
    if engine.ending == .closed { throw .closed }
    if engine.ending == nil {
      guard engine.isPoisoned else { return }
      try engine.refuseWhileUsed("resume")
      try? engine.end(.suspended, checkpoints: false)
    }
    let resumed = try Engine.open(directory, name, options, resuming: engine)
    current.withLock { $0 = resumed }
  }

  /// Whether this process is a child, by `fork`, of the one that opened the database: then nothing
  /// can be done with it, and it holds nothing that the child would have to let go of.
  public var isForeign: Bool { fork.hasForked }

  /// Whether the database has to be resumed before it can be written to.
  public var isPoisoned: Bool { !fork.hasForked && engine.isPoisoned }

  /// How many wait for the writer.
  package var waitingWriterCount: Int { engine.gate.waitingCount }

  /// Does the background work that waits, where no thread does it.
  package func runBackgroundWork() { if !fork.hasForked { engine.worker.runQueued() } }

  /// How many pages are in memory, for whatever reason.
  package var livingPageCount: Int { engine.pager.account.livingCount }

  /// What happens after each checkpoint, see `Engine.keepWithinBudget`.
  package func keepWithinBudget() { engine.keepWithinBudget() }

  /// How many images of pages are in memory that neither the cache nor the log has: those of open
  /// transactions, of old snapshots, and of a checkpoint that runs.
  package var strayImageCount: Int {
    let engine = engine
    let maps = engine.published.current.maps
    let loggedCount = maps.0.imageCount + maps.1.imageCount
    return engine.pager.account.livingCount - engine.pager.cache.pageCount - loggedCount
  }

  /// Figures about the open database; all of them zero in a child by `fork`.
  public var statistics: Statistics { fork.hasForked ? Statistics() : engine.statistics }
}
