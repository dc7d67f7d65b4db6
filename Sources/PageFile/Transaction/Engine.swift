import Synchronization

/// The implementation behind a `Database` and its transactions: the parts of the store, and the
/// order in which they act.
///
/// An engine outlives the database for its transactions, and the transactions for the database.
package final class Engine: @unchecked Sendable {
  // Unchecked: `state` is only touched under its lock; the rest is constant or locks itself.
  let directory: any StorageDirectory
  let name: String
  let options: DatabaseOptions
  /// The source of the app's key; another one once the key has been changed.
  let encryption: Locked<Encryption?>
  /// The number of times the database had been resumed before.
  let life: Int
  let pager: Pager
  let published: Published
  let gate = WriterGate()
  let worker: Worker
  let state: Locked<State>
  let walFiles: Locked<[(any StorageFile)?]>
  /// True once `State.ending` is set; readers check this first, because they never wait.
  let hasEnded = Atomic<Bool>(false)
  /// Held by the one checkpoint that runs.
  let checkpointLock = Lock()
  /// Held by the one reader that looks for the owner's new commits.
  let refreshLock = Lock()

  /// The state that may change while the store is open.
  struct State {
    /// Set by the first write, or by a checkpoint that moves the log found at opening.
    var writing: WriteSide?
    /// The state that the first write starts from.
    var recovered: RecoveredState
    /// The error for every call after the use of the files has ended: `closed` or `suspended`.
    var ending: PageFileError?
    var areFilesClosed = false
    /// The WAL file whose checkpoint is not published yet.
    var ended: EndedFile?
    /// True if something erased by a commit may still lie in free slots or in the log.
    var isErasureWanted = false
    /// True if marking the store as in use failed halfway.
    var isPoisoned = false
    var isCheckpointWanted = false
    var isGrowthWanted = false
    /// The error of the last checkpoint, if it failed.
    var checkpointError: PageFileError?
    /// The last commit at the time when an error last caused a checkpoint request.
    var retryLSN = LSN.zero
    var checkpointCount = 0
    /// The last commit that the quiet-time check has seen.
    var quietLSN = LSN.zero
  }

  /// The parts that only a writer needs, created at its first write.
  final class WriteSide: Sendable {
    let wal: WALWriter
    let checkpointer: Checkpointer
    nonisolated(unsafe) let numbers: PageNumbers
    /// Used inside the gate.
    nonisolated(unsafe) var patches: PatchMaker

    init(
      wal: WALWriter, checkpointer: Checkpointer, numbers: PageNumbers,
      patches: consuming PatchMaker
    ) {
      unsafe self.patches = patches
      self.wal = wal
      self.checkpointer = checkpointer
      unsafe self.numbers = numbers
    }
  }

  init(
    directory: any StorageDirectory, name: String, options: DatabaseOptions, life: Int,
    pager: Pager, recovered: RecoveredState, walFiles: [(any StorageFile)?]
  ) {
    self.life = life
    self.walFiles = Locked(walFiles)
    self.directory = directory
    self.name = name
    self.options = options
    encryption = Locked(options.encryption)
    self.pager = pager
    published = Published(recovered.snapshot(pager.registry), registry: pager.registry)
    state = Locked(State(recovered: recovered))
    let idle = Locked<(@Sendable () -> Void)?>(nil)
    worker = Worker(
      hasThread: options.backgroundWork == .thread,
      idleMilliseconds: options.movesLogWhenQuiet ? Self.quietMilliseconds : nil
    ) { idle.withLock { $0 }?() }
    idle.withLock { $0 = { [weak self] in self?.checkpointAfterQuiet() } }
  }

  /// The quiet time after which a store moves its log to the data file, so that an app killed later
  /// opens quickly.
  ///
  /// The move happens after at most twice this time without a commit.
  static let quietMilliseconds = 3000

  /// The number of commits after which a failed checkpoint is retried.
  static let retryCommitCount: UInt64 = 64

  var walFileNames: [String] { Self.walFileNames(name) }
  @inline(never)
  package static func walFileNames(_ name: String) -> [String] { ["\(name)-wal0", "\(name)-wal1"] }

  deinit {
    // Only if the engine was never closed: the database was released while a write transaction was
    // open.
    if !pager.fork.hasForked, state.withLock({ !$0.areFilesClosed }) { closeFiles() }
  }

  /// The reason why the use of the files has ended; nil while it continues.
  var ending: PageFileError? { state.withLock { $0.ending } }

  /// True if an earlier failure blocks all writing.
  var isPoisoned: Bool {
    state.withLock { $0.isPoisoned || $0.writing?.wal.isPoisoned ?? false }
  }

  // MARK: Reading

  func snapshotToRead() throws(PageFileError) -> Snapshot {
    if pager.fork.hasForked { throw .forked }
    if hasEnded.load(ordering: .acquiring), let ending { throw ending }
    return options.access == .readOnly ? try refresh() : published.current
  }

  // MARK: Writing

  /// Throws `insideTransaction` for a call that would wait for this thread's own write transaction.
  func refuseInsideWrite(_ call: String) throws(PageFileError) {
    if gate.isHeldByThisThread { throw .insideTransaction(call: call) }
  }

  /// Throws `insideTransaction` for a call that would wait for this thread's own write transaction
  /// or read.
  func refuseWhileUsed(_ call: String) throws(PageFileError) {
    try refuseInsideWrite(call)
    if pager.cache.isReadByThisThread { throw .insideTransaction(call: call) }
  }

  /// Admits the caller as the one writer.
  func beginWrite(_ urgency: WriteUrgency) throws(PageFileError) -> PageSource {
    if pager.fork.hasForked { throw .forked }
    if options.access == .readOnly { throw .readOnly(reason: "opened for reading only") }
    worker.runQueued()
    try gate.enter(urgency) { () throws(PageFileError) in try askForRoom(urgency) }
    do throws(PageFileError) {
      let side = try writeSide()
      try side.wal.refuseIfPoisoned()
      return PageSource(
        pager: pager, snapshot: published.current, numbers: unsafe side.numbers,
        maximumDirtyByteCount: DatabaseOptions.maximumDirtyByteCount)
    } catch {
      gate.leave()
      throw error
    }
  }

  /// Decides whether a writer may enter: it waits for room in the log and in memory, but only while
  /// a checkpoint makes some.
  private func askForRoom(_ urgency: WriteUrgency) throws(PageFileError) -> WriterGate.Answer {
    try state.withLock { (state) throws(PageFileError) in
      if let ending = state.ending { throw ending }
      guard let side = state.writing, isFull(side, urgency) else { return .enter }
      try side.wal.refuseIfPoisoned()
      if let error = state.checkpointError {
        state.checkpointError = nil
        wantCheckpoint(&state)
        throw error
      }
      wantCheckpoint(&state)
      // Without a background thread nothing would end the wait.
      return options.backgroundWork == .thread ? .wait : .enter
    }
  }

  /// The number of bytes of pages that the log may hold before writers wait.
  private var maximumLoggedByteCount: Int {
    min(options.cacheByteCount, DatabaseOptions.maximumLoggedByteCount)
  }

  /// Returns true if the worker should begin a checkpoint.
  ///
  /// That is when the current WAL file, or its pages in memory, have reached half of their limit.
  func isHalfFull(_ side: WriteSide) -> Bool {
    let snapshot = published.current
    return side.wal.endOffset > WALWriter.maximumByteCount / 2
      || snapshot.map(snapshot.newest).count * pager.pageByteCount > maximumLoggedByteCount / 2
  }

  /// Returns true if writers should wait for a checkpoint.
  ///
  /// Urgent writers make small commits. While batches that fill the log faster than a checkpoint
  /// can follow wait for it, urgent writers continue into room kept for them.
  private func isFull(_ side: WriteSide, _ urgency: WriteUrgency) -> Bool {
    let snapshot = published.current
    func limit(_ byteCount: Int) -> Int {
      urgency == .urgent ? byteCount + byteCount / 8 : byteCount
    }
    return side.wal.endOffset > limit(WALWriter.maximumByteCount)
      || snapshot.loggedPageCount * pager.pageByteCount > limit(maximumLoggedByteCount)
      || snapshot.loggedPageCount > 0 && isShort(side)
  }

  /// Returns true if the device is full and commits live on the reserve.
  func isShort(_ side: WriteSide) -> Bool {
    side.wal.isShort || side.checkpointer.isShort
  }

  func wantCheckpoint(_ state: inout State) {
    if state.isCheckpointWanted { return }
    state.isCheckpointWanted = true
    worker.enqueue { [weak self] in
      guard let self else { return }
      self.state.withLock { $0.isCheckpointWanted = false }
      try? self.checkpoint(shrink: false)
    }
  }

  /// Gives the cache the part of the budget that the log's pages leave, and expires snapshots that
  /// keep too much.
  ///
  /// Called after each checkpoint, and after commits once the budget is used up.
  func keepWithinBudget() {
    let budget = max(64, options.cacheByteCount / pager.pageByteCount)
    let snapshot = published.current
    // A page freed in the log takes no memory.
    let loggedCount = snapshot.maps.0.imageCount + snapshot.maps.1.imageCount
    pager.cache.maximumSetPageCount(max(budget / 4, budget - loggedCount))
    guard pager.account.livingCount > budget else { return }
    // Expire snapshots only for pages that old snapshots keep, not for those that a transaction or
    // a checkpoint holds at the moment, which the registry does not know, nor for those that the
    // cache holds too.
    let otherCount = pager.account.livingCount - pager.cache.pageCount - loggedCount
    if otherCount > budget,
      pager.registry.keptImageCount > budget || Defect.changedPagesCounted.isPlanted
    {
      _ = pager.registry.expireOldest(but: snapshot.registration)
    }
  }

  var statistics: Statistics {
    let (side, checkpointCount, found) = state.withLock {
      // For a log found at opening it is unknown how much has reached the disk.
      ($0.writing, $0.checkpointCount, $0.recovered.isClean ? nil : $0.recovered.meta.checkpointLSN)
    }
    let snapshot = published.current
    return Statistics(
      lastLSN: snapshot.lsn, durableLSN: side?.wal.durableLSN ?? found ?? snapshot.lsn,
      walByteCount: side?.wal.byteCountWritten ?? 0, checkpointCount: checkpointCount,
      cachedPageCount: pager.cache.pageCount,
      loggedPageCount: snapshot.loggedPageCount,
      snapshotCount: pager.registry.count)
  }
}
