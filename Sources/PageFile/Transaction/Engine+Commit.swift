/// The end of a write transaction.
extension Engine {
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
    guard let side = state.withLock({ $0.writing }) else { preconditionFailure("no write side") }
    let isChange = source.hasChanges
    let lsn: LSN
    do throws(PageFileError) {
      if source.hasFailed && !Defect.abortedCommitted.isPlanted { throw .aborted }
      if isChange {
        lsn = try append(source, side)
        unsafe side.numbers.commit(freed: source.freed)
      } else {
        // Pages may have been allocated and freed again. Their numbers must be given back, because
        // no commit says that they exist.
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
    if isChange { afterCommit(side) }
    if level == .full { try side.wal.waitUntilDurable(lsn) }
    return lsn
  }

  /// The log that the open write transaction will be committed to.
  var commitLog: CommitLog {
    guard let side = state.withLock({ $0.writing }) else { preconditionFailure("no write side") }
    return CommitLog(wal: side.wal, fork: pager.fork)
  }

  /// Writes one commit to the log and publishes it.
  private func append(_ source: PageSource, _ side: WriteSide) throws(PageFileError) -> LSN {
    let current = published.current
    var map = current.map(current.newest)
    let isErasing = source.isErasing && options.secureDelete
    if isErasing {
      // Set before the commit becomes visible: a checkpoint that begins after it has to know.
      state.withLock { $0.isErasureWanted = true }
    }
    let pages = source.dirty?.sorted() ?? []
    defer { unsafe side.patches.removeAll() }
    unsafe side.patches.reserve(pages.count * pager.pageByteCount)
    unsafe try appendFrames(source, pages, to: &side.patches)
    var frameCount = pages.count + source.freed.count
    if source.roots.words != current.roots.words {
      // Last, because a salvage without meta slots tells the page size from the first frame.
      unsafe side.patches.appendWords(from: current.roots.words, to: source.roots.words)
      frameCount += 1
    }
    let reserved = try side.checkpointer.reserve(
      pages.map(\.number), freed: source.freed, beside: map, usesReserve: source.usesReserve)
    let lsn: LSN
    do throws(PageFileError) {
      lsn = unsafe try side.wal.append(
        &side.patches.commit, frameCount: frameCount, roots: source.roots, isErasing: isErasing,
        usesReserve: source.usesReserve)
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

  /// Tries to relieve a full device.
  ///
  /// A turn frees room in the log, and slots that hold old versions of pages. A reader that keeps
  /// some of these slots has to give way to a transaction that makes room.
  private func makeRoom(usesReserve: Bool) {
    let current = published.current
    if usesReserve { _ = pager.registry.expireOldest(but: current.registration) }
    // One turn per commit; another would find nothing to do.
    state.withLock { state in
      if state.retryLSN != current.lsn { wantCheckpoint(&state) }
      state.retryLSN = current.lsn
    }
  }

  /// Returns the version of a page that a patch is made against: the newest one.
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

  /// Does the upkeep after a commit: keeps room in the log, and memory within its budget.
  private func afterCommit(_ side: WriteSide) {
    state.withLock { state in
      if isHalfFull(side) || isShort(side) {
        // The cause of the last failure may have passed, but a retry at each commit would be too
        // often.
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
        // Wakes the worker and starts its quiet time.
        state.quietLSN = LSN(1)
        worker.enqueue {}
      }
    }
    let budget = options.cacheByteCount / pager.pageByteCount
    if pager.account.livingCount > budget { keepWithinBudget() }
  }
}
