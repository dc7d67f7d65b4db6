/// The end of the process: killed, stopped by a sync that fails, or gone with the power.
extension Model {
  func crash(_ state: State, _ steps: Steps) {
    guard state.crashesLeft > 0 else { return }
    kill(state, steps)
    cutPower(state, steps)
    guard state.failedSyncsLeft > 0 else { return }
    for file in SyncedFile.allCases { failSync(of: file, state, steps) }
  }

  /// What of a state outlives its process.
  private func dead(_ state: State) -> State {
    var next = state
    next.crashesLeft -= 1
    next.process = Process()
    next.readers = (.closed, .closed)
    return next
  }

  private func openAfterCrash(_ state: inout State) -> ProtocolViolation? {
    let crashed = state
    if let violation = open(&state) ?? damageViolation(crashed) { return violation }
    normalise(&state)
    return nil
  }

  /// Opens files of which nothing was lost that the process had shown.
  private func openAfterKill(_ state: inout State, showing shown: Commits) -> ProtocolViolation? {
    if let violation = openAfterCrash(&state) { return violation }
    let found = state.phase == .opening ? state.process.recovered : state.history
    return found == shown ? nil : .lostByKill
  }

  private func shown(_ state: State) -> Commits {
    state.phase == .opening ? state.process.recovered : state.history
  }

  private func kill(_ state: State, _ steps: Steps) {
    var next = dead(state)
    let violation = openAfterKill(&next, showing: shown(state))
    steps.add(next, violation, "kill the process, open again")
  }

  /// Tries every combination of what may have reached the medium.
  private func cutPower(_ state: State, _ steps: Steps) {
    let isAtRest = isAtRest(state)
    choose(dead(state), 0..<FileCell.count, lost: 0, .cut) { cut, lost in
      var next = cut
      let redundancy = isAtRest ? redundancyViolation(next) : nil
      let violation = openAfterCrash(&next)
      steps.add(
        next, violation ?? redundancy,
        "power cut; the medium does not have: \(FileCell.list(lost)); open again")
    }
  }

  // MARK: A sync that fails

  enum SyncedFile: String, CaseIterable {
    case data = "the data file"
    case wal0
    case wal1

    func contains(_ cell: Int) -> Bool {
      switch FileCell(cell) {
      case .meta, .slot: self == .data
      case .header(let file): self == (file == 0 ? .wal0 : .wal1)
      case .place(let place): self == (place < State.placeCount ? .wal0 : .wal1)
      case .size(let file): self == (file == 0 ? .wal0 : .wal1)
      case .name: false
      }
    }
  }

  /// The system has tried to write a file's contents, and will not try again; the process gives up.
  private func failSync(of file: SyncedFile, _ state: State, _ steps: Steps) {
    let cells = (0..<FileCell.count).filter(file.contains)
    guard cells.contains(where: { FileCell($0).isDirty(state) }) else { return }
    var dead = dead(state)
    dead.failedSyncsLeft -= 1
    for loss in [Loss.kept, .dropped] {
      choose(dead, cells, lost: 0, loss) { failed, lost in
        var next = failed
        let violation =
          loss == .kept ? openAfterKill(&next, showing: shown(state)) : openAfterCrash(&next)
        let memory = loss == .kept ? "which memory still has" : "nor has memory"
        steps.add(
          next, violation,
          "sync of \(file.rawValue) fails; the medium does not have, \(memory): "
            + "\(FileCell.list(lost)); open again")
      }
    }
  }

  // MARK: What reaches the medium

  /// Settles one cell after the other in each way that it may be found.
  private func choose(
    _ state: State, _ cells: some RandomAccessCollection<Int>, lost: UInt32, _ loss: Loss,
    _ body: (State, UInt32) -> Void
  ) {
    let rest = cells.drop {
      !FileCell($0).isUnsettled(state) || loss != .cut && !FileCell($0).isDirty(state)
    }
    guard let number = rest.first else { return body(state, lost) }
    let cell = FileCell(number)
    for outcome in cell.outcomes(state, tears: bound.tearsSectors) {
      var next = state
      cell.settle(&next, outcome.content, loss)
      let lost = outcome.isNew ? lost : lost | 1 << UInt32(number)
      choose(next, rest.dropFirst(), lost: lost, loss, body)
    }
  }
}
