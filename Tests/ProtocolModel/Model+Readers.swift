/// Readers: what they pin, and when they let go.
extension Model {
  func stepOfReaders(_ state: State, _ steps: Steps) {
    if state.readers.0.isOpen {
      endReader(state, 0, steps)
    } else if bound.readers > 0 {
      beginReader(state, 0, steps)
    }
    if state.readers.1.isOpen {
      if state.readers.0 != state.readers.1 { endReader(state, 1, steps) }
    } else if bound.readers > 1 && state.readers.0.isOpen {
      beginReader(state, 1, steps)
    }
  }

  private func beginReader(_ state: State, _ index: Int, _ steps: Steps) {
    // An opening that has to recover shows nothing before it has ended.
    guard state.phase == .clean || state.phase == .running else { return }
    var next = state
    let logged = state.history & ~state.process.shown.commits
    let reader = Reader(state.process.shown, logged: logged, version: state.process.version)
    if index == 0 { next.readers.0 = reader } else { next.readers.1 = reader }
    emit(next, steps, "reader: begin at LSN \(lsn(logged) + lsn(next.process.shown.commits))")
  }

  /// A reader ends; expiring it is the same, as it will not use what it reads.
  private func endReader(_ state: State, _ index: Int, _ steps: Steps) {
    var next = state
    if index == 0 { next.readers.0 = .closed } else { next.readers.1 = .closed }
    emit(next, steps, "reader: end, or expire")
    guard defect == .readThroughExpiredSnapshot else { return }
    next = state
    if index == 0 { next.readers.0.expire() } else { next.readers.1.expire() }
    emit(next, steps, "reader: expire in the middle of a read")
  }
}
