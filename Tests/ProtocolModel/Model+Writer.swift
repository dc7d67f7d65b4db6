/// Commits, group syncs, and the turn of the WAL files.
extension Model {
  // MARK: Commit

  func commit(_ state: State, _ steps: Steps) {
    let place = Int(state.process.place)
    let file = Int(state.process.current)
    guard state.nextCommit <= bound.commits, place < state.sizes[file].cached else { return }
    var next = state
    let number = state.nextCommit
    next.commits[Int(number)] = State.CommitFacts(
      before: state.history,
      durableLSN: defect == .commitNamesAppendedLSNAsDurable
        ? lsn(state.history) : state.durableLSN,
      life: state.currentLife)
    next.write(Entry.commit(number), toPlace: place, of: file)
    next.history |= 1 << (number - 1)
    next.process.unsynced[file] = lsn(next.history)
    next.process.place += 1
    next.nextCommit += 1
    let appended = lsn(next.history)
    emit(next, steps, "writer: append commit \(number) to wal\(file), LSN \(appended)")
  }

  // MARK: Group sync

  func stepOfGroupSync(_ state: State, _ steps: Steps) {
    switch state.process.groupSync {
    case .none: beginGroupSync(state, steps)
    case .syncOlderFile: syncForGroup(state, Int(state.process.older), .syncCurrentFile, steps)
    case .syncCurrentFile: syncForGroup(state, 1 - Int(state.process.older), .finish, steps)
    case .finish: finishGroupSync(state, steps)
    }
  }

  private func beginGroupSync(_ state: State, _ steps: Steps) {
    let covered = lsn(state.history)
    guard state.durableLSN < covered else { return }
    var next = state
    if state.process.isUnmarked { markInUse(&next) }
    let older = 1 - Int(state.process.current)
    next.process.covered = covered
    next.process.older = UInt8(older)
    next.process.captured = state.process.unsynced
    let skipsOlder = state.process.unsynced[older] == 0 || defect == .groupSyncOfCurrentFileOnly
    next.process.groupSync = skipsOlder ? .syncCurrentFile : .syncOlderFile
    if defect == .watermarkBeforeSync { writeWatermark(&next) }
    emit(next, steps, "group sync: begin, covering LSN \(covered)")
  }

  private func syncForGroup(
    _ state: State, _ file: Int, _ step: GroupSyncStep, _ steps: Steps
  ) {
    var next = state
    if state.process.captured[file] != 0 && defect != .groupSyncOmitted {
      next.syncLog(file, withSize: defect != .groupSyncWithoutSize)
    }
    next.process.groupSync = step
    emit(next, steps, "group sync: sync wal\(file)")
  }

  private func finishGroupSync(_ state: State, _ steps: Steps) {
    var next = state
    if defect == .coveredLSNReadAfterSync { next.process.covered = lsn(state.history) }
    for file in 0..<2 where state.process.unsynced[file] == state.process.captured[file] {
      next.process.unsynced[file] = 0
    }
    writeWatermark(&next)
    next.durableLSN = max(state.durableLSN, next.process.covered)
    next.process.covered = 0
    next.process.older = 0
    next.process.captured = Row(repeating: 0)
    next.process.groupSync = .none
    let durableLSN = next.durableLSN
    emit(next, steps, "group sync: write watermark, acknowledge up to LSN \(durableLSN)")
  }

  private func writeWatermark(_ state: inout State) {
    let place = Int(state.process.place)
    let file = Int(state.process.current)
    guard lsn(state.history) == state.process.covered, place < state.sizes[file].cached
    else { return }
    let watermark = Entry.watermark(life: state.currentLife, lsn: state.process.covered)
    state.write(watermark, toPlace: place, of: file)
  }

  // MARK: Growth

  /// Makes the current file longer: commits may go there before its sync is over.
  func grow(_ state: State, _ steps: Steps) {
    let file = Int(state.process.current)
    guard state.growthsLeft > 0, state.process.grown == nil,
      state.sizes[file].cached < State.placeCount
    else { return }
    var next = state
    next.growthsLeft -= 1
    next.sizes[file].write(UInt8(State.placeCount))
    next.process.grown = UInt8(file)
    emit(next, steps, "growth: write zeros behind the end of wal\(file), for commits to use")
  }

  func syncGrown(_ state: State, _ steps: Steps) {
    guard let file = state.process.grown else { return }
    var next = state
    next.syncLog(Int(file))
    next.process.grown = nil
    emit(next, steps, "growth: sync wal\(file)")
  }

  // MARK: The turn

  func turn(_ state: State, _ steps: Steps) {
    guard state.turnsLeft > 0, mayTurn(state) else { return }
    var next = state
    next.turnsLeft -= 1
    beginOtherFile(&next)
    let file = next.process.current
    emit(next, steps, "turn: write header of a new life to wal\(file)")
  }

  /// Whether the current file has commits, and the checkpoint of the other one is published.
  ///
  /// What was erased before a crash takes a turn as well.
  func mayTurn(_ state: State) -> Bool {
    guard state.process.place > 0 || state.process.owesErasure else { return false }
    switch defect {
    case .logBegunAnewBeforePublication:
      return state.process.checkpoint.rawValue < CheckpointStep.writeFirstSlot.rawValue
    case .logBegunAnewAfterFirstSlot:
      return state.process.checkpoint == .none || state.process.checkpoint == .writeSecondSlot
    default: return state.process.checkpoint == .none
    }
  }

  func beginOtherFile(_ state: inout State) {
    let counter = state.lives[Int(state.currentLife)].counter + 1
    let life = state.makeLife(counter: counter, before: state.history)
    let file = 1 - Int(state.process.current)
    state.headers[file].write(life)
    state.process.ended = state.history
    state.process.current = UInt8(file)
    state.process.place = 0
    state.process.checkpoint = .syncEndedFile
  }
}
