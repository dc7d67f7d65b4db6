/// The publications of an opening: what it has recovered, and that the store is in use.
extension Model {
  /// From here on a meta slot without its log is refused.
  func prepareInUse(_ state: inout State) {
    var meta = state.process.meta
    meta.life = state.process.newLife
    meta.isByTurn = true
    meta.isClean = false
    state.process.next = defect == .staysByOpening ? state.process.meta : meta
    state.process.opening = .writeFirstSlotInUse
    if defect == .inUseMarkedAtFirstSync {
      state.process.isUnmarked = true
      beginRunning(&state)
    }
  }

  /// Under `inUseMarkedAtFirstSync`: publishes what should have been published before.
  func markInUse(_ state: inout State) {
    for _ in 0..<2 {
      state.write(state.process.meta, toSlot: state.lowerMeta)
      state.syncData()
    }
    state.process.isUnmarked = false
  }

  func publishOpened(_ state: inout State) -> String {
    let slot = state.lowerMeta
    state.write(state.process.next, toSlot: slot)
    state.process.opening =
      switch state.process.opening {
      case .writeFirstSlot: .syncFirstSlot
      case .writeSecondSlot: .syncSecondSlot
      case .writeFirstSlotInUse: .syncFirstSlotInUse
      default: .syncSecondSlotInUse
      }
    let writer = state.process.next.isByTurn ? "a turn" : "an opening"
    return "write meta slot \(slot), by \(writer)"
  }

  func syncDataFile(_ state: inout State) -> String {
    let step = state.process.opening
    if omittedSync(step) == nil || omittedSync(step) != defect { state.syncData() }
    switch step {
    case .syncRewrittenMeta: state.process.opening = .writePages
    case .syncMetaAfterClose: state.process.opening = .beginLogAfterClose
    case .syncPages: state.process.opening = .writeFirstSlot
    case .syncFirstSlot: state.process.opening = .writeSecondSlot
    case .syncSecondSlot: showRecovered(&state)
    case .syncFirstSlotInUse: state.process.opening = .writeSecondSlotInUse
    default: beginRunning(&state)
    }
    return "sync the data file"
  }

  /// The defect that leaves out a sync of the data file.
  private func omittedSync(_ step: OpeningStep) -> ProtocolDefect? {
    switch step {
    case .syncRewrittenMeta: .syncOfRewrittenMetaOmitted
    case .syncPages: .syncOfRecoveredPagesOmitted
    case .syncFirstSlot: .syncOfFirstRecoveredSlotOmitted
    case .syncSecondSlot: .syncOfSecondRecoveredSlotOmitted
    case .syncFirstSlotInUse: .syncOfFirstSlotInUseOmitted
    case .syncSecondSlotInUse: .syncOfSecondSlotInUseOmitted
    default: nil
    }
  }

  private func showRecovered(_ state: inout State) {
    let (old, new) = (state.process.meta, state.process.next)
    for page in 0..<pageCount where old.slot(page) != new.slot(page) {
      state.process.used &= ~(1 << old.slot(page))
    }
    state.process.meta = new
    state.process.shown = table(of: new)
    switch defect {
    case .logBegunBeforeRecoveredPages: prepareInUse(&state)
    default: state.process.opening = .beginLog
    }
  }

  func beginRunning(_ state: inout State) {
    if !state.process.isUnmarked || state.process.next.isReadable {
      state.process.meta = state.process.next
    }
    state.process.next = .unreadable
    state.process.newLife = 0
    state.process.opening = .syncDirectory
    state.process.place = 0
    state.phase = .running
  }
}
