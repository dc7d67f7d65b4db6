/// The protocol as a set of steps: from a state to all those that may come next.
///
/// See docs/design.md. One writer, one checkpoint at a time, a group sync, up to two readers, and the
/// end of all of them at any moment.
struct Model {
  let bound: Bound
  let defect: ProtocolDefect?

  /// The state that a run begins with: a store that was closed cleanly, with two pages.
  var initialState: State {
    var state = State()
    var meta = Meta.unreadable
    meta.number = 1
    meta.life = state.makeLife(counter: 1, before: 0)
    meta.isClean = true
    for page in 0..<pageCount {
      meta.place(page, slot: UInt8(page) + 1, content: 0)
      state.slots[page + 1] = Cell(PageContent.of(page, 0))
    }
    state.metas[0] = Cell(meta.bits)
    meta.number = 2
    state.metas[1] = Cell(meta.bits)
    if bound.hasLog {
      for file in 0..<2 { state.names[file] = Cell(1) }
      state.headers[0] = Cell(meta.life)
    }
    state.leastPlaceCount = UInt8(bound.growths > 0 ? 1 : State.placeCount)
    for file in 0..<2 { state.sizes[file] = Cell(state.leastPlaceCount) }
    state.turnsLeft = UInt8(bound.turns)
    state.crashesLeft = UInt8(bound.crashes)
    state.closesLeft = UInt8(bound.closes)
    state.movesLeft = UInt8(bound.moves)
    state.refusalsLeft = UInt8(bound.refusals)
    state.growthsLeft = UInt8(bound.growths)
    state.failedSyncsLeft = UInt8(bound.failedSyncs)
    _ = open(&state)
    normalise(&state)
    return state
  }

  func normalise(_ state: inout State) {
    state.normalise(
      keepsRemains: defect == .plainCounterGenerations || defect == .generationOfCommitsIgnored,
      keepsFreeSlots: defect == .recoveredPagesSkippedIfThere)
  }

  /// Collects each state that one step leads to.
  func collectSteps(from state: State, _ steps: Steps) {
    switch state.phase {
    case .clean:
      beginWriting(state, steps)
    case .opening:
      stepOfOpening(state, steps)
    case .running:
      commit(state, steps)
      grow(state, steps)
      turn(state, steps)
      if state.process.checkpoint == .none { movePages(state, steps) }
      refuse(state, steps)
      close(state, steps)
    case .closing:
      break
    }
    if state.isWriting {
      stepOfGroupSync(state, steps)
      syncGrown(state, steps)
      stepOfCheckpoint(state, steps)
    }
    stepOfReaders(state, steps)
    crash(state, steps)
  }

  /// Hands a state on that something was written to.
  func emit(_ state: State, _ steps: Steps, _ label: @autoclosure () -> String) {
    var state = state
    let violation: ProtocolViolation? = isAnyReaderWronged(state) ? .slotOverwritten : nil
    normalise(&state)
    steps.add(state, violation, label())
  }

  /// Whether a reader would read another page than its snapshot has.
  ///
  /// A snapshot that has expired is read by nobody, as reading asks afterwards whether it has.
  private func isAnyReaderWronged(_ state: State) -> Bool {
    isWronged(state.readers.0, state) || isWronged(state.readers.1, state)
  }

  private func isWronged(_ reader: Reader, _ state: State) -> Bool {
    guard reader.isOpen else { return false }
    return (0..<pageCount).contains { page in
      let slot = reader.slot(page)
      return slot != 0
        && state.slots[Int(slot)].cached != PageContent.of(page, reader.content(page))
    }
  }
}
