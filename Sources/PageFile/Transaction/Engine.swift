import Synchronization

/// What is behind a `Database` and its transactions, and outlives the one for the other: the parts of
/// the store, and the order in which they act.
final class Engine: @unchecked Sendable {
  // Unchecked: `state` is only touched under its lock; the rest is constant or locks itself.
  let directory: any StorageDirectory
  let name: String
  let options: DatabaseOptions
  /// How often the database had been resumed before.
  let life: Int
  let pager: Pager
  let published: Published
  let gate = WriterGate()
  let worker: Worker
  let state: Locked<State>
  let walFiles: Locked<[(any StorageFile)?]>
  /// Whether `State.ending` is set: readers ask this first, as they wait for nobody.
  let hasEnded = Atomic<Bool>(false)
  /// Held by the one checkpoint that runs.
  let checkpointLock = Lock()
  /// Held by the one reader that looks for what the owner wrote.
  let refreshLock = Lock()

  /// What may change while the store is open.
  struct State {
    /// Set by the first write, or by a checkpoint that moves the log which was found at opening.
    var writing: WriteSide?
    /// What the first write begins from.
    var recovered: RecoveredState
    /// What whoever begins something is told once the use of the files has ended: `closed` or
    /// `suspended`.
    var ending: PageFileError?
    var areFilesClosed = false
    /// The WAL file whose checkpoint is not published yet.
    var ended: EndedFile?
    /// What a commit has erased may still lie in free slots and in the log.
    var isErasureWanted = false
    /// Marking the store as in use has failed half-way.
    var isPoisoned = false
    var isCheckpointWanted = false
    var isGrowthWanted = false
    /// Why the last checkpoint failed.
    var checkpointError: PageFileError?
    /// The last commit when a checkpoint was last wanted because of an error.
    var retryLSN = LSN.zero
    var checkpointCount = 0
    /// The last commit that the quiet-time check has seen.
    var quietLSN = LSN.zero
  }

  /// The parts that only a writer needs, made when it first writes.
  final class WriteSide: Sendable {
    let wal: WALWriter
    let checkpointer: Checkpointer
    nonisolated(unsafe) let numbers: PageNumbers
    /// Used inside the gate.
    nonisolated(unsafe) var patches = PatchMaker()

    init(wal: WALWriter, checkpointer: Checkpointer, numbers: PageNumbers) {
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
    self.pager = pager
    published = Published(recovered.snapshot(pager.registry), registry: pager.registry)
    state = Locked(State(recovered: recovered))
    let idle = Locked<(@Sendable () -> Void)?>(nil)
    worker = Worker(
      hasThread: options.backgroundWork == .thread, idleMilliseconds: Self.quietMilliseconds
    ) { idle.withLock { $0 }?() }
    idle.withLock { $0 = { [weak self] in self?.checkpointAfterQuiet() } }
  }

  /// A store without a commit for this long, and at most twice as long, moves its log to the data
  /// file, so that an app that is killed later opens quickly.
  static let quietMilliseconds = 3000

  /// A checkpoint that has failed is tried again after this many commits.
  private static let retryCommitCount: UInt64 = 64

  var walFileNames: [String] { Self.walFileNames(name) }
  static func walFileNames(_ name: String) -> [String] { ["\(name)-wal0", "\(name)-wal1"] }

  deinit {
    // Only when nobody has closed: the database went while a write transaction was open.
    if !pager.fork.hasForked, state.withLock({ !$0.areFilesClosed }) { closeFiles() }
  }

  /// Why the use of the files has ended; nil while it goes on.
  var ending: PageFileError? { state.withLock { $0.ending } }

  /// Whether an earlier failure keeps everybody from writing.
  var isPoisoned: Bool {
    state.withLock { $0.isPoisoned || $0.writing?.wal.isPoisoned ?? false }
  }

  // MARK: Reading

  func snapshotToRead() throws(PageFileError) -> Snapshot {
    if pager.fork.hasForked { throw .forked }
    if hasEnded.load(ordering: .acquiring), let ending { throw ending }
    if options.access == .readOnly { try refresh() }
    return published.current
  }

  // MARK: Writing

  /// Refuses a call that would wait for the write transaction that this thread has open.
  func refuseInsideWrite(_ call: String) throws(PageFileError) {
    if gate.isHeldByThisThread { throw .insideTransaction(call: call) }
  }

  /// The same, and one that would wait for what this thread is reading.
  func refuseWhileUsed(_ call: String) throws(PageFileError) {
    try refuseInsideWrite(call)
    if pager.cache.isReadByThisThread { throw .insideTransaction(call: call) }
  }

  /// Lets the caller in as the one writer.
  func beginWrite(_ urgency: WriteUrgency) throws(PageFileError) -> PageSource {
    if pager.fork.hasForked { throw .forked }
    if options.access == .readOnly { throw .readOnly(reason: "opened for reading only") }
    worker.runQueued()
    try gate.enter(urgency) { () throws(PageFileError) in try askForRoom(urgency) }
    do throws(PageFileError) {
      let side = try writeSide()
      if side.wal.isPoisoned { throw .poisoned }
      return PageSource(
        pager: pager, snapshot: published.current, numbers: unsafe side.numbers,
        dirtyByteCountMax: DatabaseOptions.dirtyByteCountMax)
    } catch {
      gate.leave()
      throw error
    }
  }

  /// A writer waits for room in the log and in memory, but only while a checkpoint makes some.
  private func askForRoom(_ urgency: WriteUrgency) throws(PageFileError) -> WriterGate.Answer {
    try state.withLock { (state) throws(PageFileError) in
      if let ending = state.ending { throw ending }
      guard let side = state.writing, isFull(side, urgency) else { return .enter }
      if side.wal.isPoisoned { throw .poisoned }
      if let error = state.checkpointError {
        state.checkpointError = nil
        wantCheckpoint(&state)
        throw error
      }
      wantCheckpoint(&state)
      // Where no thread works in the background, nobody would end the wait.
      return options.backgroundWork == .thread ? .wait : .enter
    }
  }

  /// How many bytes of pages the log may hold before writers wait.
  private var loggedByteCountMax: Int {
    min(options.cacheByteCount, DatabaseOptions.loggedByteCountMax)
  }

  /// Whether the worker should begin a checkpoint: the current WAL file, or what of it is in memory,
  /// has reached half of what it may.
  private func isHalfFull(_ side: WriteSide) -> Bool {
    let snapshot = published.current
    return side.wal.endOffset > WALWriter.byteCountMax / 2
      || snapshot.map(snapshot.newest).count * pager.pageByteCount > loggedByteCountMax / 2
  }

  /// Whether writers should wait for a checkpoint.
  ///
  /// Those that somebody waits for are small. While batches that fill the log faster than a checkpoint can
  /// follow wait for it, they go on into what is kept for them.
  private func isFull(_ side: WriteSide, _ urgency: WriteUrgency) -> Bool {
    let snapshot = published.current
    func limit(_ byteCount: Int) -> Int {
      urgency == .urgent ? byteCount + byteCount / 8 : byteCount
    }
    return side.wal.endOffset > limit(WALWriter.byteCountMax)
      || snapshot.loggedPageCount * pager.pageByteCount > limit(loggedByteCountMax)
      || snapshot.loggedPageCount > 0 && isShort(side)
  }

  /// Whether the device is full and commits live on what is kept for that.
  private func isShort(_ side: WriteSide) -> Bool {
    side.wal.isShort || side.checkpointer.isShort
  }

  private func wantCheckpoint(_ state: inout State) {
    if state.isCheckpointWanted { return }
    state.isCheckpointWanted = true
    worker.enqueue { [weak self] in
      guard let self else { return }
      self.state.withLock { $0.isCheckpointWanted = false }
      try? self.checkpoint(shrink: false)
    }
  }

  func rollback(_ source: PageSource) {
    if pager.fork.hasForked { return }
    state.withLock { unsafe $0.writing?.numbers.rollback() }
    source.endWriting()
    gate.leave()
  }

  func commit(
    _ source: PageSource, _ level: SyncLevel,
    observe: (WriteTransaction.CommitMoment) -> Void = { _ in }
  ) throws(PageFileError) -> LSN {
    if pager.fork.hasForked { throw .forked }
    guard let side = state.withLock({ $0.writing }) else { preconditionFailure("no writer") }
    let lsn: LSN
    do throws(PageFileError) {
      if source.hasFailed && !Defect.abortedCommitted.isPlanted { throw .aborted }
      if source.hasChanges {
        lsn = try append(source, side)
        unsafe side.numbers.commit(freed: source.freed)
      } else {
        // Pages may have come and gone: their numbers must not stay, as no commit says they exist.
        lsn = source.snapshot.lsn
        unsafe side.numbers.rollback()
      }
      observe(.visible)
    } catch {
      unsafe side.numbers.rollback()
      source.endWriting()
      gate.leave()
      if error == .diskFull { makeRoom(usesReserve: source.usesReserve) }
      throw error
    }
    source.endWriting()
    gate.leave()
    observe(.over)
    if source.hasChanges { afterCommit(side) }
    if level == .full { try side.wal.waitUntilDurable(lsn) }
    return lsn
  }

  /// Returns when every commit up to `lsn` is on the disk.
  func waitUntilDurable(_ lsn: LSN) throws(PageFileError) {
    if pager.fork.hasForked { throw .forked }
    guard let side = try recoveredSide() else { return }
    try side.wal.waitUntilDurable(lsn)
  }

  /// Writes one commit to the log and publishes it.
  private func append(_ source: PageSource, _ side: WriteSide) throws(PageFileError) -> LSN {
    let current = published.current
    var map = current.map(current.newest)
    let isErasing = source.isErasing && options.secureDelete
    if isErasing {
      // Before the commit can be seen: a checkpoint that begins after it has to know.
      state.withLock { $0.isErasureWanted = true }
    }
    let pages = source.dirty?.sorted() ?? []
    defer { unsafe side.patches.removeAll() }
    unsafe side.patches.reserve(pages.count * pager.pageByteCount)
    unsafe try appendFrames(source, pages, to: &side.patches)
    let reserved = try side.checkpointer.reserve(
      pages.map(\.number), freed: source.freed, beside: map, usesReserve: source.usesReserve)
    let lsn: LSN
    do throws(PageFileError) {
      lsn = unsafe try side.wal.append(
        &side.patches.commit, frameCount: pages.count + source.freed.count,
        roots: source.roots, isErasing: isErasing, usesReserve: source.usesReserve)
    } catch {
      side.checkpointer.takeBack(reserved)
      throw error
    }
    var remains: MapRemains? = MapRemains(roomFor: 3 * (pages.count + source.freed.count))
    for (number, image) in pages {
      image.mutableBytes.store(lsn.rawValue, at: PageHeader.lsnOffset)
      image.retain()
      map.set(number, to: image, edition: lsn.rawValue, &remains)
    }
    for number in source.freed { map.set(number, to: nil, edition: lsn.rawValue, &remains) }
    published.commit(lsn: lsn, roots: source.roots, map: map, remains ?? MapRemains())
    return lsn
  }

  private func appendFrames(
    _ source: PageSource, _ pages: [(number: PageNumber, image: PageImage)],
    to patches: inout PatchMaker
  ) throws(PageFileError) {
    try source.enter()
    defer { source.leave() }
    for (number, image) in pages {
      if source.fresh.contains(number.rawValue) {
        patches.appendFresh(number, image.bytes)
      } else {
        try source.reading { () throws(PageFileError) in
          patches.appendPatch(
            number, from: try baseOfPatch(number, source), to: image.bytes, edited: image.edited)
        }
      }
    }
    for number in source.freed { patches.appendFreed(number) }
  }

  /// Does what can be done about a full device.
  ///
  /// A turn gives room in the log, and slots that old versions of pages lie in. A reader that keeps
  /// some has to give way to what makes room.
  private func makeRoom(usesReserve: Bool) {
    let current = published.current
    if usesReserve { _ = pager.registry.expireOldest(but: current.registration) }
    // One turn for each commit: another would find nothing to do.
    state.withLock { state in
      if state.retryLSN != current.lsn { wantCheckpoint(&state) }
      state.retryLSN = current.lsn
    }
  }

  /// The version of a page that a patch of it is made against: the newest.
  private func baseOfPatch(
    _ number: PageNumber, _ source: PageSource
  ) throws(PageFileError) -> Bytes {
    let snapshot = source.snapshot
    if Defect.patchOnWrongBase.isPlanted,
      case .image(let older) = snapshot.map(1 - snapshot.newest)[number]
    {
      return older.bytes
    }
    return try source.pageBefore(number)
  }

  /// What keeps the store well: room in the log, and memory within its budget.
  private func afterCommit(_ side: WriteSide) {
    state.withLock { state in
      if isHalfFull(side) || isShort(side) {
        // What made the last one fail may have passed; but it is not tried at each commit.
        let lsn = side.wal.lastLSN
        let isTimely = lsn.rawValue >= state.retryLSN.rawValue + Self.retryCommitCount
        if state.checkpointError == nil || isTimely {
          wantCheckpoint(&state)
          state.retryLSN = lsn
        }
      }
      if side.wal.wantsToGrow && !state.isGrowthWanted {
        state.isGrowthWanted = true
        worker.enqueue { [weak self] in
          side.wal.growAhead()
          self?.state.withLock { $0.isGrowthWanted = false }
        }
      }
      if state.quietLSN == .zero {
        // Wakes the worker, whose quiet time begins with this.
        state.quietLSN = LSN(1)
        worker.enqueue {}
      }
    }
    let budget = options.cacheByteCount / pager.pageByteCount
    if pager.account.livingCount > budget { keepWithinBudget() }
  }

  /// Gives the cache what the log's pages leave of the budget, and expires who keeps too much.
  ///
  /// Called after each checkpoint, and after commits once the budget is used up.
  func keepWithinBudget() {
    let budget = max(64, options.cacheByteCount / pager.pageByteCount)
    let snapshot = published.current
    // A page that the log frees takes no memory.
    let loggedCount = snapshot.maps.0.imageCount + snapshot.maps.1.imageCount
    pager.cache.setPageCountMax(max(budget / 4, budget - loggedCount))
    guard pager.account.livingCount > budget else { return }
    // Expired for what old snapshots keep: not for what a transaction or a checkpoint has at the
    // moment, which the registry does not know, nor for what the cache holds as well.
    let otherCount = pager.account.livingCount - pager.cache.pageCount - loggedCount
    if otherCount > budget,
      pager.registry.keptImageCount > budget || Defect.changedPagesCounted.isPlanted
    {
      _ = pager.registry.expireOldest(but: snapshot.registration)
    }
  }

  var statistics: Statistics {
    let (side, checkpointCount, found) = state.withLock {
      // Of a log that was found it is not known how much has reached the disk.
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
