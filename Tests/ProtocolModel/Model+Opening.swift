/// Opening a store: reading, and making it ready to be written to.
extension Model {
  /// Reads the files and begins to open the store; what is wrong with what was found, if anything.
  ///
  /// Nothing of an earlier process is left in `state` but the promises it has made.
  func open(_ state: inout State) -> ProtocolViolation? {
    let reading: Reading
    do throws(Refusal) {
      reading = try Reading(state, defect)
    } catch {
      return .refused(error.rawValue)
    }
    if let violation = wrong(reading, state) { return violation }
    state.process.meta = reading.meta
    state.process.meta.number = 1
    state.process.recovered = reading.commits
    state.process.shown = table(of: reading.meta)
    state.process.used = usedSlots(state, reading)
    if reading.isClean {
      state.phase = .clean
      opened(&state)
    } else {
      state.phase = .opening
      state.process.opening = .syncDirectory
      state.process.owesErasure = bound.erases && reading.commits != 0
      if defect == .logFoundIsContinued, let file = reading.lastFile {
        goOn(&state, file, reading)
      }
    }
    return nil
  }

  /// What was found is a state the store has been in, with everything that was promised.
  func wrong(_ reading: Reading, _ state: State) -> ProtocolViolation? {
    let found = lsn(reading.commits)
    if reading.commits != prefix(state.history, found) { return .notAPrefix }
    if found < state.durableLSN { return .lostDurable }
    if !reading.isWhole { return .wrongContent }
    return nil
  }

  /// The store's user is told what it holds: from now on that is a promise.
  private func opened(_ state: inout State) {
    state.history = state.process.recovered
    state.durableLSN = lsn(state.history)
    state.process.recovered = 0
  }

  private func usedSlots(_ state: State, _ reading: Reading) -> UInt8 {
    switch defect {
    case .recoveredSlotsOverOtherTable: reading.meta.slots
    case .recoveredSlotsOverLiveTable: 0
    default: state.cachedMeta(0).slots | state.cachedMeta(1).slots
    }
  }

  func reopen(_ state: State, _ steps: Steps, _ label: @autoclosure () -> String) {
    var state = state
    let violation = open(&state)
    if violation == nil { normalise(&state) }
    steps.add(state, violation, label())
  }

  /// Under `logFoundIsContinued`: the next commit goes where the log ended.
  private func goOn(_ state: inout State, _ file: Int, _ reading: Reading) {
    opened(&state)
    state.phase = .running
    state.process.current = UInt8(file)
    state.process.place = reading.place
  }

  // MARK: The first write after a clean close

  func beginWriting(_ state: State, _ steps: Steps) {
    guard state.nextCommit <= bound.commits else { return }
    var next = state
    next.phase = .opening
    next.process.recovered = state.history
    next.process.opening = hasLog(state) ? .syncDirectoryAfterClose : .syncDirectory
    emit(next, steps, "first write: begin")
  }

  /// Whether the log that the meta slots name is there.
  func hasLog(_ state: State) -> Bool {
    (0..<2).contains { state.headers[$0].cached == state.process.meta.life }
  }

  // MARK: Steps

  func stepOfOpening(_ state: State, _ steps: Steps) {
    var next = state
    let label: String
    switch state.process.opening {
    case .syncDirectory, .syncNewNames, .syncDirectoryAfterClose:
      label = syncDirectory(&next)
    case .makeFiles:
      for file in 0..<2 where state.names[file].cached == 0 { next.names[file].write(1) }
      next.process.opening = .syncNewNames
      label = "make the WAL files that are missing, with synced zeros"
    case .rewriteMeta, .rewriteMetaAfterClose: label = rewriteMeta(&next)
    case .writePages: label = writeRecoveredPages(&next)
    case .writeFirstSlot, .writeSecondSlot, .writeFirstSlotInUse, .writeSecondSlotInUse:
      label = publishOpened(&next)
    case .syncRewrittenMeta, .syncMetaAfterClose, .syncPages, .syncFirstSlot, .syncSecondSlot,
      .syncFirstSlotInUse,
      .syncSecondSlotInUse:
      label = syncDataFile(&next)
    case .beginLog, .beginLogAfterClose, .emptyOtherLog: label = writeHeader(&next)
    case .syncBegunLog, .syncEmptiedLog, .syncLogAfterClose: label = syncHeader(&next)
    }
    if next.phase == .running { opened(&next) }
    emit(next, steps, "opening: \(label)")
  }

  private func syncDirectory(_ state: inout State) -> String {
    if defect != .syncOfDirectoryOmitted { state.syncDirectory() }
    switch state.process.opening {
    case .syncDirectoryAfterClose:
      state.process.opening =
        bound.rewritesMetaAfterClose ? .rewriteMetaAfterClose : .beginLogAfterClose
    case .syncDirectory where state.names[0].cached == 0 || state.names[1].cached == 0:
      state.process.opening = .makeFiles
    default:
      state.process.opening = afterDirectory
    }
    return "sync the directory"
  }

  private var afterDirectory: OpeningStep {
    switch defect {
    case .metaNotRewritten: .writePages
    case .logBegunBeforeRecoveredPages: .beginLog
    default: .rewriteMeta
    }
  }

  /// Into the slot that cannot be read if there is one, else in place into the newer one.
  private func rewriteMeta(_ state: inout State) -> String {
    let (one, other) = (state.cachedMeta(0), state.cachedMeta(1))
    let slot = one.isReadable && (!other.isReadable || one.number > other.number) ? 0 : 1
    let isDamaged = one.isReadable != other.isReadable
    let target = isDamaged ? 1 - slot : slot
    state.write(state.process.meta, toSlot: target)
    state.process.opening =
      state.process.opening == .rewriteMeta ? .syncRewrittenMeta : .syncMetaAfterClose
    return "write the newest meta content again, to slot \(target)"
  }

  private func writeRecoveredPages(_ state: inout State) -> String {
    var meta = state.process.meta
    let logged = state.process.recovered & ~meta.commits
    for page in 0..<pageCount where logged & touching(page) != 0 {
      let slot = allocateSlot(&state)
      let content = state.process.recovered & touching(page)
      let bytes = PageContent.of(page, content)
      let isSkipped =
        defect == .recoveredPagesSkippedIfThere && state.slots[Int(slot)].cached == bytes
      if !isSkipped { state.slots[Int(slot)].write(bytes) }
      meta.place(page, slot: slot, content: content)
    }
    if state.process.newLife == 0 { makeNewLife(&state) }
    meta.commits = state.process.recovered
    meta.life = state.process.newLife
    meta.isByTurn = defect == .recoveryPublishesByTurn
    meta.isClean = false
    state.process.next = meta
    state.process.opening = .syncPages
    return "write pages to slots \(meta.slot(0)) and \(meta.slot(1))"
  }

  private func makeNewLife(_ state: inout State) {
    var counter: UInt8 = 0
    for index in 0..<2 {
      let header = state.headers[index].cached
      if Header.isInUse(header) { counter = max(counter, state.lives[Int(header)].counter) }
      let meta = state.cachedMeta(index)
      if meta.isReadable { counter = max(counter, state.lives[Int(meta.life)].counter) }
    }
    state.process.newLife = state.makeLife(counter: counter + 1, before: state.process.recovered)
  }

  private func writeHeader(_ state: inout State) -> String {
    if state.process.newLife == 0 { makeNewLife(&state) }
    switch state.process.opening {
    case .emptyOtherLog:
      state.headers[1].write(Header.empty)
      state.process.opening = .syncEmptiedLog
      return "write the header of wal1: empty"
    case .beginLogAfterClose:
      let file = state.headers[0].cached == state.process.meta.life ? 1 : 0
      state.headers[file].write(state.process.newLife)
      state.process.current = UInt8(file)
      state.process.opening = .syncLogAfterClose
    default:
      state.headers[0].write(state.process.newLife)
      state.process.opening = .syncBegunLog
    }
    return "write the header of a new life to wal\(state.process.current)"
  }

  private func syncHeader(_ state: inout State) -> String {
    let file = state.process.opening == .syncEmptiedLog ? 1 : Int(state.process.current)
    let step = state.process.opening
    if !(defect == .syncOfLogAfterCleanCloseOmitted && step == .syncLogAfterClose
      || defect == .syncOfBegunLogOmitted && step == .syncBegunLog
      || defect == .syncOfEmptiedLogOmitted && step == .syncEmptiedLog)
    {
      state.syncLog(file)
    }
    switch step {
    case .syncBegunLog where defect == .logBegunBeforeRecoveredPages:
      state.process.opening = .rewriteMeta
    case .syncBegunLog where defect != .emptiedLogLeftAsItIs:
      state.process.opening = .emptyOtherLog
    default:
      prepareInUse(&state)
    }
    return "sync wal\(file)"
  }
}
