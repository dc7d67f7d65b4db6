import Synchronization

/// Checkpoints and the clean close: the turn of the two WAL files. See docs/design.md, "Checkpoint".
extension Engine {
  /// Moves everything committed so far into the data file.
  /// - Parameter shrink: Whether to give back what the files have grown by.
  func checkpoint(shrink: Bool) throws(PageFileError) {
    if pager.fork.hasForked { throw .forked }
    if options.access == .readOnly { throw .readOnly(reason: "opened for reading only") }
    try oneAtATime { () throws(PageFileError) in
      // Asked here, as the files may have been closed while another checkpoint ran.
      if let ending = state.withLock({ $0.ending }) { throw ending }
      guard let side = try recoveredSide() else { return }
      try runCheckpoint(side)
      if shrink { try shrinkFiles(side, isClosing: false) }
    }
  }

  /// Moves one step's pages to lower slots, and gives the end of the data file back to the file
  /// system.
  ///
  /// Answers how many pages were moved, nil when there was none to move.
  /// - Parameter place: Where to go on, see `Checkpointer.compact`.
  func movePages(from place: inout PageNumber) throws(PageFileError) -> Int? {
    // Makes what only writers need, where nobody has written yet.
    rollback(try beginWrite(.patient))
    var movedCount: Int?
    try oneAtATime { () throws(PageFileError) in
      if let ending = state.withLock({ $0.ending }) { throw ending }
      guard let side = state.withLock({ $0.writing }) else { return }
      if side.wal.isPoisoned { throw .poisoned }
      // A checkpoint that failed has left its file ended: it goes first.
      if hasEndedCommits { try checkpointEndedFile(side, isClean: false) }
      if let written = try side.checkpointer.compact(isThorough: true, from: &place) {
        try publish(written, side.checkpointer.meta, side) { published.move($0) }
        movedCount = written.allocated.count
      }
      if !isErasureOwed { try side.checkpointer.trim(keepsRoom: false) }
    }
    return movedCount
  }

  /// Gives back to the file system what the files have grown by.
  private func shrinkFiles(_ side: WriteSide, isClosing: Bool) throws(PageFileError) {
    var start = PageNumber.none
    if let written = try side.checkpointer.compact(from: &start) {
      try publish(written, side.checkpointer.meta, side) { published.move($0) }
    }
    if isErasureOwed { return }
    try side.checkpointer.trim(keepsRoom: isClosing)
    let settled = side.checkpointer.meta.checkpointLSN
    for file in side.wal.files.indices {
      try side.wal.shrink(file, settled: settled, isOver: isClosing)
    }
  }

  /// Whether a commit has erased something that still lies in free slots or in the log.
  ///
  /// What is cut off then would keep it where no checkpoint can overwrite it. Pages may move: what they
  /// leave is a free slot as any other.
  private var isErasureOwed: Bool {
    options.secureDelete && state.withLock { $0.isErasureWanted }
      && !Defect.owedErasureCut.isPlanted
  }

  /// Runs `body` while no other checkpoint runs, and keeps its error for writers that need room.
  private func oneAtATime(_ body: () throws(PageFileError) -> Void) throws(PageFileError) {
    // A checkpoint that is under way may have begun before the commits that this one is asked for.
    checkpointLock.lock()
    do throws(PageFileError) {
      try body()
      state.withLock { $0.checkpointError = nil }
    } catch {
      state.withLock { $0.checkpointError = error }
      checkpointLock.unlock()
      gate.knock()
      throw error
    }
    checkpointLock.unlock()
    gate.knock()
  }

  /// - Parameter isClosing: Whether no commit can follow: then what is published last is marked as
  ///   cleanly closed.
  private func runCheckpoint(
    _ side: WriteSide, isClosing: Bool = false
  ) throws(PageFileError) {
    if side.wal.isPoisoned { throw .poisoned }
    // A checkpoint that failed has left its file ended and full: it goes first.
    if hasEndedCommits { try checkpointEndedFile(side, isClean: false) }
    let erases = state.withLock { state in
      guard options.secureDelete && state.isErasureWanted else { return false }
      state.isErasureWanted = false
      return true
    }
    do throws(PageFileError) {
      try turnAndCheckpoint(side, isClosing: isClosing, erases: erases)
    } catch {
      if erases { state.withLock { $0.isErasureWanted = true } }
      throw error
    }
  }

  /// Whether the file that ended holds commits that are not in the data file.
  ///
  /// Asked in a function of its own: a snapshot that somebody holds on to keeps slots from being
  /// freed, and so from being erased.
  private var hasEndedCommits: Bool {
    let current = published.current
    return !current.map(1 - current.newest).isEmpty
  }

  private func turnAndCheckpoint(
    _ side: WriteSide, isClosing: Bool, erases: Bool
  ) throws(PageFileError) {
    // Both files hold commits of earlier lives: the one that is not in use is overwritten before it
    // is, the other one when its checkpoint has made it superfluous.
    if erases && !Defect.idleLogNotErased.isPlanted {
      try side.wal.eraseLeftovers(
        1 - published.current.newest, settled: side.checkpointer.meta.checkpointLSN)
    }
    // Where nothing is to be erased, closing needs no other file.
    let hasTurned = try turn(side, isLast: isClosing && !erases)
    if hasTurned {
      let isClean = isClosing && (!erases || Defect.cleanBeforeErased.isPlanted)
      try checkpointEndedFile(side, isClean: isClean, erases: erases)
    }
    var isErased = true
    if erases { isErased = try erase(side, hasTurned: hasTurned) }
    // Only now: an opening that finds the mark takes it that nothing is left to erase.
    if isClosing && isErased && (erases || !hasTurned) {
      var meta = side.checkpointer.meta
      meta.isClean = true
      meta.isErasurePending = state.withLock { $0.isErasureWanted }
      try side.checkpointer.publish(meta)
    }
  }

  /// Overwrites what commits before the turn have erased, wherever it still lies; false when some of
  /// it has to wait for a reader to end.
  private func erase(_ side: WriteSide, hasTurned: Bool) throws(PageFileError) -> Bool {
    if hasTurned {
      if !Defect.endedLogNotErased.isPlanted {
        try side.wal.eraseLeftovers(
          1 - published.current.newest, settled: side.checkpointer.meta.checkpointLSN)
      }
    } else {
      try enterGate()
      defer { gate.leave() }
      try side.wal.eraseLeftovers(
        published.current.newest, settled: side.checkpointer.meta.checkpointLSN)
    }
    if Defect.slotsNotErased.isPlanted { return true }
    let (slots, isComplete) = try side.checkpointer.overwriteFreeSlots()
    do throws(PageFileError) {
      try side.checkpointer.makeErasureDurable(of: slots)
    } catch {
      if !error.isRefusal { side.wal.setPoisoned() }
      throw error
    }
    if !isComplete { state.withLock { $0.isErasureWanted = true } }
    return isComplete
  }

  /// Has commits go to the other WAL file; false when the current one holds nothing.
  /// - Parameter isLast: Whether no commit can follow, so that the other file need not be begun.
  private func turn(_ side: WriteSide, isLast: Bool) throws(PageFileError) -> Bool {
    try enterGate()
    defer { gate.leave() }
    let current = published.current
    guard !current.map(current.newest).isEmpty else { return false }
    do throws(PageFileError) {
      try refuseReplacedFiles(side)
    } catch .fileReplaced(let path) {
      // What is acknowledged from here on would not be found under the store's name.
      side.wal.setPoisoned()
      throw .fileReplaced(path: path)
    }
    precondition(
      current.map(1 - current.newest).isEmpty, "a WAL file is begun before its checkpoint")
    let (ended, lsn, chain, next) =
      isLast ? side.wal.end : try side.wal.turn(random: options.random())
    precondition(ended == current.newest, "the log and the maps disagree on the current WAL file")
    side.checkpointer.turn()
    published.turn()
    state.withLock {
      $0.ended = EndedFile(
        file: ended, lsn: lsn, chain: chain, next: next, roots: current.roots, isLast: isLast)
    }
    return true
  }

  /// Keeps writers out for a step of a checkpoint.
  /// - Throws: Why the use of the files has ended, when a write transaction is open that will not end
  ///   before this does.
  func enterGate() throws(PageFileError) {
    if !gate.enterUnlessAbandoned() { throw ending ?? .closed }
  }

  private func refuseReplacedFiles(_ side: WriteSide) throws(PageFileError) {
    try Self.refuseReplaced(pager.dataFile, directory, name)
    for (file, name) in zip(side.wal.files, walFileNames) {
      try Self.refuseReplaced(file, directory, name)
    }
  }

  /// Writes what the ended file's map holds, and publishes it.
  ///
  /// Commits go on all the while.
  private func checkpointEndedFile(
    _ side: WriteSide, isClean: Bool, erases: Bool = false
  ) throws(PageFileError) {
    guard let ended = state.withLock({ $0.ended }) else { return }
    // Durable after these: every commit in the ended file; the header of the file that follows.
    try side.wal.syncEnded(ended.file)
    if !ended.isLast { try side.wal.syncBegun(1 - ended.file) }
    let snapshot = published.current
    let written = try side.checkpointer.write(
      snapshot.map(ended.file), onto: snapshot.table, pageNumberEnd: ended.roots.pageNumberEnd,
      lsn: ended.lsn)
    var meta = side.checkpointer.meta
    precondition(meta.checkpointLSN < ended.lsn, "a checkpoint is published over a later one")
    meta.checkpointLSN = ended.lsn
    meta.chain = ended.chain
    meta.generation = ended.next
    meta.roots = ended.roots
    meta.writer = .turn
    meta.isClean = isClean
    meta.isErasurePending = erases || state.withLock { $0.isErasureWanted }
    try publish(written, meta, side) { published.checkpoint($0) }
    side.checkpointer.endTurn()
    state.withLock {
      $0.ended = nil
      $0.checkpointCount += 1
    }
    keepWithinBudget()
    // A snapshot that keeps many slots from being used again makes the file grow.
    let (retiredCount, slotCount) = side.checkpointer.slots.withLock {
      ($0.retiredCount, $0.slotCount)
    }
    if retiredCount > max(1024, slotCount / 4) {
      _ = pager.registry.expireOldest(but: published.current.registration)
    }
  }

  private func publish(
    _ written: Checkpointer.Written, _ meta: MetaSlot, _ side: WriteSide,
    show: (PageTableRoot) -> Void
  ) throws(PageFileError) {
    do throws(PageFileError) {
      try side.checkpointer.publish(written, meta, show: show)
    } catch {
      // A sync may have failed: what the meta slots hold is unknown.
      if !error.isRefusal { side.wal.setPoisoned() }
      throw error
    }
  }

  /// The worker has had nothing to do for a while.
  func checkpointAfterQuiet() {
    let lsn = published.current.lsn
    let isQuiet = state.withLock { state in
      defer { state.quietLSN = lsn }
      return state.quietLSN == lsn
    }
    if isQuiet {
      state.withLock { $0.quietLSN = .zero }
      try? checkpoint(shrink: false)
    } else {
      worker.enqueue {}
    }
  }

  /// Has the log that was found at opening moved when nothing happens for a while.
  func recoverWhenQuiet() {
    let isNeeded = state.withLock { state in
      if state.recovered.isClean { return false }
      state.quietLSN = LSN(1)
      return true
    }
    if isNeeded { worker.enqueue {} }
  }

  // MARK: Closing

  /// Ends the use of the files.
  ///
  /// - Parameters:
  ///   - ending: What whoever comes later is told.
  ///   - waits: Whether to wait for a write transaction that is open. Otherwise the files are left
  ///     as a crash would leave them, to be closed when the transaction, or the operation of this
  ///     thread, has ended.
  ///   - checkpoints: Whether to leave a clean file.
  /// - Throws: What the checkpoint throws; the use of the files has ended all the same.
  func end(
    _ ending: PageFileError, waits: Bool = true, checkpoints: Bool = true
  ) throws(PageFileError) {
    if pager.fork.hasForked { throw .forked }
    let isFirst = state.withLock { state in
      // Closed is closed for good; suspended may still become closed.
      defer { if state.ending != .closed { state.ending = ending } }
      return state.ending == nil
    }
    Interleaving.reach("the use ends")
    hasEnded.store(true, ordering: .releasing)
    guard isFirst else { return }
    gate.knock()
    // A checkpoint in the background would wait for the open transaction, and this for the checkpoint.
    if !waits && !gate.isFree && !Defect.gateNotAbandoned.isPlanted { gate.abandon(true) }
    worker.stop()
    guard waits || gate.isFree && !pager.cache.isReadByThisThread else { return }
    gate.abandon(false)
    gate.enter()
    gate.leave()
    defer { closeFiles() }
    guard checkpoints else {
      guard let wal = state.withLock({ $0.writing?.wal }) else { return }
      // Whoever waits for a commit to be durable is told that it is.
      return try wal.waitUntilDurable(wal.lastLSN)
    }
    try oneAtATime { () throws(PageFileError) in
      guard let side = try recoveredSide() else { return }
      // They would keep what they can see from being overwritten and given back.
      pager.registry.expireAll(but: published.current.registration)
      try runCheckpoint(side, isClosing: true)
      try shrinkFiles(side, isClosing: true)
    }
  }

  /// Lets go of the files when nobody is inside: later readers find their snapshot expired, and who
  /// asks for a checkpoint or looks for commits is told that the use has ended.
  func closeFiles() {
    // Whoever gets one of these later sees under it that the use has ended.
    checkpointLock.withLock {}
    refreshLock.withLock {}
    state.withLock { $0.areFilesClosed = true }
    pager.registry.expireAll()
    // One on this very thread has let go of its transaction within an operation. What it reads still, it
    // is told that its snapshot has expired.
    if !pager.cache.isReadByThisThread { pager.cache.waitForReaders() }
    // A commit at `full` may still wait for its sync on another thread.
    state.withLock { $0.writing }?.wal.finish()
    pager.dataFile.close()
    for file in walFiles.withLock({ $0 }) { file?.close() }
  }
}

/// The WAL file that commits no longer go to, until its checkpoint is published.
struct EndedFile {
  let file: Int
  let lsn: LSN
  let chain: UInt64
  /// The generation that the meta slots are to name: that of the file which follows, or, when no
  /// commit can follow, of this one.
  let next: Generation
  /// As of its last commit.
  let roots: Roots
  /// Whether no commit can follow.
  let isLast: Bool
}
