/// A checkpoint, step by step, and the clean close that ends with one.
extension Model {
  func stepOfCheckpoint(_ state: State, _ steps: Steps) {
    let ended = 1 - Int(state.process.current)
    publishStale(state, steps)
    switch state.process.checkpoint {
    case .none:
      break
    case .syncLastFile:
      syncEndedFile(state, Int(state.process.current), steps)
    case .syncEndedFile:
      syncEndedFile(state, ended, steps)
    case .syncNewFile:
      var next = state
      if defect != .syncOfNewHeaderOmitted { next.syncLog(1 - ended) }
      next.process.checkpoint = .writePages
      emit(next, steps, "checkpoint: sync wal\(1 - ended), which has the new header")
    case .writePages:
      writePages(state, steps)
    case .syncPages:
      sync(
        state, .writeFirstSlot, isOmitted: defect == .syncOfCheckpointPagesOmitted, "pages", steps)
    case .writeFirstSlot:
      publish(state, .syncFirstSlot, steps)
      stallPublication(state, steps)
    case .syncFirstSlot:
      sync(
        state, defect == .secondSlotNotPublished ? .show : .writeSecondSlot,
        isOmitted: defect == .syncOfFirstSlotOmitted, "first slot", steps)
    case .writeSecondSlot:
      publish(state, .syncSecondSlot, steps)
    case .syncSecondSlot:
      sync(state, .show, isOmitted: defect == .syncOfSecondSlotOmitted, "second slot", steps)
    case .show:
      show(state, steps)
    case .eraseEndedFile:
      var next = state
      // The header gets the mark that says so, in place.
      next.headers[ended].write(next.headers[ended].cached)
      for index in 0..<State.placeCount { next.log[State.place(ended, index)].write(0) }
      next.process.checkpoint = .syncErasedFile
      emit(next, steps, "checkpoint: overwrite the commits of wal\(ended)")
    case .syncErasedFile:
      syncErasedFile(state, ended, steps)
    }
  }

  private func syncEndedFile(_ state: State, _ ended: Int, _ steps: Steps) {
    var next = state
    let covered = state.process.unsynced[ended]
    if covered != 0 && defect != .syncOfEndedFileOmitted { next.syncLog(ended) }
    next.process.unsynced[ended] = 0
    next.durableLSN = max(state.durableLSN, covered)
    next.process.checkpoint =
      state.process.checkpoint == .syncLastFile ? .writePages : .syncNewFile
    emit(next, steps, "checkpoint: sync wal\(ended), which has ended, unless a sync covers it")
  }

  private func writePages(_ state: State, _ steps: Steps) {
    var next = state
    var meta = state.process.shown
    let written =
      defect == .checkpointOfPagesBeyondTheTurn ? state.history : state.process.ended
    let logged = written & ~state.process.shown.commits
    for page in 0..<pageCount where logged & touching(page) != 0 {
      let content = written & touching(page)
      let slot = allocateSlot(&next)
      next.slots[Int(slot)].write(PageContent.of(page, content))
      meta.place(page, slot: slot, content: content)
    }
    meta.commits = state.process.ended
    meta.life = state.currentLife
    meta.isByTurn = true
    meta.isClean = state.phase == .closing && !bound.erases
    next.process.next = meta
    next.process.checkpoint = .syncPages
    emit(next, steps, "checkpoint: write pages to slots \(meta.slot(0)) and \(meta.slot(1))")
  }

  /// The lowest free slot, now in use.
  func allocateSlot(_ state: inout State) -> UInt8 {
    for slot in 1..<UInt8(8) {
      let isFree = state.process.used & 1 << slot == 0
      if isFree || defect == .slotsReusedUnderReaders && state.process.retired[Int(slot)] != 0 {
        state.process.used |= 1 << slot
        state.process.retired[Int(slot)] = 0
        return slot
      }
    }
    preconditionFailure("the model has too few slots")
  }

  private func sync(
    _ state: State, _ step: CheckpointStep, isOmitted: Bool, _ what: String, _ steps: Steps
  ) {
    var next = state
    if !isOmitted { next.syncData() }
    next.process.checkpoint = step
    emit(next, steps, "checkpoint: sync the data file (\(what))")
  }

  private func publish(_ state: State, _ step: CheckpointStep, _ steps: Steps) {
    var next = state
    let slot = state.lowerMeta
    next.write(state.process.next, toSlot: slot)
    next.process.checkpoint = step
    emit(next, steps, "checkpoint: write meta slot \(slot)")
  }

  /// The table that was published is the one to read through; what it replaces is free as soon as no
  /// older snapshot lives.
  private func show(_ state: State, _ steps: Steps) {
    var next = state
    let (old, new) = (state.process.shown, state.process.next)
    for page in 0..<pageCount where old.slot(page) != new.slot(page) {
      next.process.retired[Int(old.slot(page))] = state.process.version
    }
    if !old.hasTable(of: new) { next.process.version += 1 }
    next.process.meta = new
    next.process.shown = table(of: new)
    next.process.next = .unreadable
    next.process.used &= ~state.process.orphans
    next.process.orphans = 0
    next.process.ended = 0
    next.process.checkpoint = bound.erases && state.process.ended != 0 ? .eraseEndedFile : .none
    if state.phase == .closing && new.isClean {
      next.readers = (.closed, .closed)
      movePages(next, steps)
      closed(&next)
      reopen(next, steps, "close, open again")
    } else {
      emit(next, steps, "checkpoint: show the new table, free slots and WAL file")
    }
  }

  /// Only after this is a store that is being closed marked as clean.
  private func syncErasedFile(_ state: State, _ ended: Int, _ steps: Steps) {
    var next = state
    next.syncLog(ended)
    next.process.owesErasure = false
    next.process.checkpoint = .none
    if state.phase == .closing {
      next.process.next = state.process.meta
      next.process.next.isClean = true
      next.process.checkpoint = .writeFirstSlot
    }
    emit(next, steps, "checkpoint: sync wal\(ended), whose commits are overwritten")
  }

  /// What of a meta slot snapshots need.
  func table(of meta: Meta) -> Meta {
    var table = Meta.unreadable
    table.number = 1
    table.commits = meta.commits
    for page in 0..<pageCount {
      table.place(page, slot: meta.slot(page), content: meta.content(page))
    }
    return table
  }

  // MARK: A locked device

  /// The next call of the checkpoint, or of the group sync, is refused: it is given up.
  ///
  /// What a publication has written may be in one meta slot, or in both.
  func refuse(_ state: State, _ steps: Steps) {
    guard state.refusalsLeft > 0 else { return }
    var next = state
    next.refusalsLeft -= 1
    if state.process.groupSync != .none {
      next.process.groupSync = .none
      next.process.captured = Row(repeating: 0)
      next.process.covered = 0
      next.process.older = 0
      emit(next, steps, "the group sync is refused, and given up")
    }
    let step = state.process.checkpoint.rawValue
    guard step > CheckpointStep.none.rawValue, step < CheckpointStep.show.rawValue else { return }
    next = state
    next.refusalsLeft -= 1
    if state.process.next.isReadable {
      next.process.orphans |= state.process.next.slots & ~state.process.shown.slots
    }
    next.process.next = .unreadable
    let isLast = state.phase == .closing && !bound.erases
    next.process.checkpoint =
      state.process.ended == 0 ? .none : isLast ? .syncLastFile : .syncEndedFile
    emit(next, steps, "a call of the checkpoint is refused; it is given up, to be done again")
  }

  // MARK: Moving pages

  /// Copies pages to lower slots that are free; the table that leads to them is published like that of
  /// a checkpoint.
  func movePages(_ state: State, _ steps: Steps) {
    guard state.movesLeft > 0 else { return }
    var next = state
    next.process.next = state.process.meta
    for page in 0..<pageCount {
      let old = state.process.meta.slot(page)
      guard ~next.process.used & 0xFE & (1 << old - 1) != 0 else { continue }
      let slot = allocateSlot(&next)
      next.slots[Int(slot)].write(state.slots[Int(old)].cached)
      next.process.next.place(page, slot: slot, content: state.process.meta.content(page))
    }
    guard next.process.next != state.process.meta else { return }
    next.movesLeft -= 1
    next.process.checkpoint = .syncPages
    emit(next, steps, "move pages to lower slots")
  }

  // MARK: The clean close

  func close(_ state: State, _ steps: Steps) {
    guard state.closesLeft > 0, state.process.checkpoint == .none else { return }
    var next = state
    next.closesLeft -= 1
    next.phase = .closing
    let owesErasure = state.process.owesErasure && defect != .headerInUseMarked
    if state.process.place > 0 && bound.erases || owesErasure {
      beginOtherFile(&next)
    } else if state.process.place > 0 {
      next.process.ended = state.history
      next.process.checkpoint = .syncLastFile
    } else {
      if state.process.owesErasure {
        // Under `headerInUseMarked`: the file that the meta slots name is overwritten as it is.
        let file = Int(state.process.current)
        next.headers[file].write(next.headers[file].cached)
      }
      next.process.next = state.process.meta
      next.process.next.isClean = true
      next.process.checkpoint = .writeFirstSlot
    }
    emit(next, steps, "close: no commit can follow")
  }

  private func closed(_ state: inout State) {
    state.readers = (.closed, .closed)
    state.process = Process()
  }

  // MARK: A second checkpoint, which should not be

  /// Under `stalePublication`: a checkpoint stops before it publishes, and another one does its work
  /// in the meantime.
  private func stallPublication(_ state: State, _ steps: Steps) {
    guard defect == .stalePublication, !state.process.hasStalled, state.process.ended != 0
    else { return }
    var next = state
    next.process.stale = state.process.next
    next.process.hasStalled = true
    next.process.next = .unreadable
    next.process.checkpoint = .syncEndedFile
    emit(next, steps, "first checkpoint: stop before publishing; a second one begins")
  }

  private func publishStale(_ state: State, _ steps: Steps) {
    guard state.process.stale.isReadable else { return }
    var next = state
    for _ in 0..<2 {
      next.write(state.process.stale, toSlot: next.lowerMeta)
      next.syncData()
    }
    next.process.stale = .unreadable
    emit(next, steps, "first checkpoint: go on, and publish what it had prepared in both slots")
  }
}
