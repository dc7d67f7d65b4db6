import Synchronization

/// Checkpoints and the clean close, including the turn of the two WAL files.
///
/// See docs/design.md, "Checkpoint".
extension Engine {
  /// Moves everything committed so far into the data file.
  ///
  /// - Parameter shrink: True to return unused growth of the files to the file system.
  func checkpoint(shrink: Bool) throws(PageFileError) {
    if pager.fork.hasForked { throw .forked }
    if options.access == .readOnly { throw .readOnly(reason: "opened for reading only") }
    try oneAtATime { () throws(PageFileError) in
      // Checked under the lock, because the files may have been closed while another checkpoint
      // ran.
      if let ending = state.withLock({ $0.ending }) { throw ending }
      guard let side = try recoveredSide() else { return }
      try runCheckpoint(side)
      if shrink { try shrinkFiles(side, isClosing: false) }
    }
  }

  /// Moves one step's pages to lower slots, then returns the end of the data file to the file
  /// system.
  ///
  /// Returns the number of pages moved, or nil if no page could be moved.
  ///
  /// - Parameter place: The place to continue from; see `Checkpointer.compact`.
  func movePages(from place: inout PageNumber) throws(PageFileError) -> Int? {
    // Creates the parts that only writers need, in case nothing has been written yet.
    rollback(try beginWrite(.patient))
    var movedCount: Int?
    try oneAtATime { () throws(PageFileError) in
      if let ending = state.withLock({ $0.ending }) { throw ending }
      guard let side = state.withLock({ $0.writing }) else { return }
      try side.wal.refuseIfPoisoned()
      // A failed checkpoint has left its file ended; finish that one first.
      if hasEndedFile { try checkpointEndedFile(side, isClean: false) }
      if let written = try side.checkpointer.compact(isThorough: true, from: &place) {
        try publish(written, side.checkpointer.meta, side) { published.move($0) }
        movedCount = written.allocated.count
      }
      if !isErasureOwed { try side.checkpointer.trim(keepsRoom: false) }
    }
    return movedCount
  }

  /// Returns unused growth of the files to the file system.
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

  /// True if something erased by a commit still lies in free slots or in the log.
  ///
  /// Space cut off now would keep the erased bytes where no checkpoint can overwrite them. Pages
  /// may still move: the slot that a page leaves is a free slot like any other.
  private var isErasureOwed: Bool {
    options.secureDelete && state.withLock { $0.isErasureWanted }
      && !Defect.owedErasureCut.isPlanted
  }

  /// Runs `body` while no other checkpoint runs, and keeps its error for writers that need room.
  func oneAtATime(_ body: () throws(PageFileError) -> Void) throws(PageFileError) {
    // Wait even if a checkpoint is under way: it may have begun before the commits that this one is
    // to include.
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

  /// - Parameter isClosing: True if no commit can follow. Then the last publication is marked as
  ///   cleanly closed.
  private func runCheckpoint(
    _ side: WriteSide, isClosing: Bool = false
  ) throws(PageFileError) {
    try side.wal.refuseIfPoisoned()
    // A failed checkpoint has left its file ended and full; finish that one first.
    if hasEndedFile { try checkpointEndedFile(side, isClean: false) }
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

  /// True if a checkpoint has left its file ended: the meta slots still name that file.
  var hasEndedFile: Bool { state.withLock { $0.ended != nil } }

  private func turnAndCheckpoint(
    _ side: WriteSide, isClosing: Bool, erases: Bool
  ) throws(PageFileError) {
    // Both files hold commits of earlier generations. The idle file is overwritten before it is
    // used, the other one once its checkpoint has made it superfluous.
    if erases && !Defect.idleLogNotErased.isPlanted {
      try side.wal.eraseLeftovers(
        1 - published.current.newest, settled: side.checkpointer.meta.checkpointLSN)
    }
    // Erasing a file rewrites its header, so no meta slot may need the file any more. After a
    // crash a file without commits ends, too, so that it can be erased. If nothing is to be erased,
    // closing does not need the other file.
    let hasTurned = try turn(side, isLast: isClosing && !erases, isForced: erases)
    if hasTurned {
      let isClean = isClosing && (!erases || Defect.cleanBeforeErased.isPlanted)
      try checkpointEndedFile(side, isClean: isClean, erases: erases)
    }
    let isErased = erases ? try erase(side) : true
    // Only now: an opening that finds the mark assumes that nothing is left to erase.
    if isClosing && isErased && (erases || !hasTurned) {
      var meta = side.checkpointer.meta
      meta.isClean = true
      meta.isErasurePending = state.withLock { $0.isErasureWanted }
      try side.checkpointer.publish(meta)
    }
  }

  /// Overwrites everything that commits before the turn have erased, wherever it still lies.
  ///
  /// Returns false if some of it has to wait for a reader to end.
  private func erase(_ side: WriteSide) throws(PageFileError) -> Bool {
    if !Defect.endedLogNotErased.isPlanted {
      try side.wal.eraseLeftovers(
        1 - published.current.newest, settled: side.checkpointer.meta.checkpointLSN)
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

  /// Switches commits to the other WAL file.
  ///
  /// Returns false if the current file holds no commits.
  ///
  /// - Parameters:
  ///   - isLast: True if no commit can follow, so that the other file need not be started.
  ///   - isForced: True to switch even if the current file holds no commits.
  func turn(
    _ side: WriteSide, isLast: Bool, isForced: Bool = false
  ) throws(PageFileError) -> Bool {
    try enterGate()
    defer { gate.leave() }
    let current = published.current
    // A commit may have changed words alone, and no page.
    guard isForced || current.lsn > side.checkpointer.meta.checkpointLSN else { return false }
    do throws(PageFileError) {
      try refuseReplacedFiles(side)
    } catch .fileReplaced(let path) {
      // Commits acknowledged from here on would not be found under the store's name.
      side.wal.setPoisoned(.fileReplaced(path: path))
      throw .fileReplaced(path: path)
    }
    precondition(
      !hasEndedFile && current.map(1 - current.newest).isEmpty,
      "WAL turn: next file not checkpointed")
    let (ended, lsn, chain, next) =
      isLast ? side.wal.end : try side.wal.turn(random: options.random())
    precondition(ended == current.newest, "WAL turn: log and maps name different files")
    side.checkpointer.turn()
    published.turn()
    state.withLock {
      $0.ended = EndedFile(
        file: ended, lsn: lsn, chain: chain, next: next, roots: current.roots, isLast: isLast)
    }
    return true
  }

  /// Keeps writers out for a step of a checkpoint.
  ///
  /// - Throws: The error that ended the use of the files, if the open write transaction will not
  ///   end before this call does.
  func enterGate() throws(PageFileError) {
    if !gate.enterUnlessAbandoned() { throw ending ?? .closed }
  }

  private func refuseReplacedFiles(_ side: WriteSide) throws(PageFileError) {
    try Self.refuseReplaced(pager.dataFile, directory, name)
    for (file, name) in zip(side.wal.files, walFileNames) {
      try Self.refuseReplaced(file, directory, name)
    }
    // Somebody may have cut the data file under its name.
    let isWhole = try side.checkpointer.slots.withLock { (slots) throws(PageFileError) in
      let slotsByteCount = slots.slotCount * pager.pageByteCount
      let byteCount = try pager.dataFile.byteCount()
      return slotsByteCount == 0 || byteCount >= Pager.slotsOffset + slotsByteCount
    }
    guard isWhole else { throw .fileReplaced(path: pager.dataFile.path) }
  }

  /// Writes the pages in the ended file's map to slots and publishes them.
  ///
  /// Commits continue meanwhile.
  func checkpointEndedFile(
    _ side: WriteSide, isClean: Bool, erases: Bool = false
  ) throws(PageFileError) {
    guard let ended = state.withLock({ $0.ended }) else { return }
    // Durable after these: every commit in the ended file, and the header of the file that follows.
    try side.wal.syncEnded(ended.file)
    if !ended.isLast { try side.wal.syncBegun(1 - ended.file) }
    let snapshot = published.current
    let written = try side.checkpointer.write(
      snapshot.map(ended.file), onto: snapshot.table, pageNumberEnd: ended.roots.pageNumberEnd,
      lsn: ended.lsn)
    var meta = side.checkpointer.meta
    // A turn that was forced may have ended a file without commits.
    let isWithoutCommits = meta.checkpointLSN == ended.lsn && snapshot.map(ended.file).isEmpty
    precondition(
      meta.checkpointLSN < ended.lsn || isWithoutCommits,
      "checkpoint: a later one is already published")
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
    // A snapshot that keeps many slots from being reused makes the file grow.
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
      // A sync may have failed; the contents of the meta slots are then unknown.
      if !error.isRefusal { side.wal.setPoisoned() }
      throw error
    }
  }

  /// Runs a checkpoint if nothing was committed since the last idle check of the worker.
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

  /// Schedules the log found at opening to be moved to the data file once the store is quiet.
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
  ///   - ending: The error that later callers get.
  ///   - waits: True to wait for an open write transaction. Otherwise the files are left as a crash
  ///     would leave them, and are closed when the transaction, or the operation of this thread,
  ///     has ended.
  ///   - checkpoints: True to leave a clean file.
  /// - Throws: The error of the checkpoint; the use of the files has ended all the same.
  func end(
    _ ending: PageFileError, waits: Bool = true, checkpoints: Bool = true
  ) throws(PageFileError) {
    if pager.fork.hasForked { throw .forked }
    let isFirst = state.withLock { state in
      // Closed is final; suspended may still become closed.
      defer { if state.ending != .closed { state.ending = ending } }
      return state.ending == nil
    }
    Interleaving.reach("the use ends")
    hasEnded.store(true, ordering: .releasing)
    guard isFirst else { return }
    gate.knock()
    // A checkpoint in the background would wait for the open transaction, and this call for the
    // checkpoint.
    if !waits && !gate.isFree && !Defect.gateNotAbandoned.isPlanted { gate.abandon(true) }
    worker.stop()
    guard waits || gate.isFree && !pager.cache.isReadByThisThread else { return }
    gate.abandon(false)
    gate.enter()
    gate.leave()
    defer { closeFiles() }
    guard checkpoints else {
      guard let wal = state.withLock({ $0.writing?.wal }) else { return }
      // Threads waiting for a commit to become durable are told that it is.
      return try wal.waitUntilDurable(wal.lastLSN)
    }
    try oneAtATime { () throws(PageFileError) in
      guard let side = try recoveredSide() else { return }
      // Snapshots would keep the slots they can see from being overwritten and given back.
      pager.registry.expireAll(but: published.current.registration)
      try runCheckpoint(side, isClosing: true)
      try shrinkFiles(side, isClosing: true)
    }
  }

  /// Closes the files once no reader is inside.
  ///
  /// Later readers find their snapshot expired. Later checkpoints and refreshes get the error that
  /// ended the use.
  func closeFiles() {
    // A caller that acquires either lock later sees, while holding it, that the use has ended.
    checkpointLock.withLock {}
    refreshLock.withLock {}
    state.withLock { $0.areFilesClosed = true }
    pager.registry.expireAll()
    // If a reader is on this very thread, it has dropped its transaction in the middle of an
    // operation. Any further read fails, because its snapshot has expired.
    if !pager.cache.isReadByThisThread { pager.cache.waitForReaders() }
    // A commit at `full` may still be waiting for its sync on another thread.
    state.withLock { $0.writing }?.wal.finish()
    pager.dataFile.close()
    for file in walFiles.withLock({ $0 }) { file?.close() }
  }
}

/// The WAL file that no longer receives commits, until its checkpoint is published.
struct EndedFile {
  let file: Int
  let lsn: LSN
  let chain: UInt64
  /// The generation that the meta slots will name: that of the file that follows or, if no commit
  /// can follow, of this one.
  let next: Generation
  /// The roots as of the file's last commit.
  let roots: Roots
  /// True if no commit can follow.
  let isLast: Bool
}
