/// Damage of the medium after a crash: what must be noticed, and what must do no harm.
extension Model {
  /// Whether no publication is under way, and none that was cut has left a slot torn: then each meta
  /// slot alone must be enough.
  func isAtRest(_ state: State) -> Bool {
    guard state.cachedMeta(0).isReadable, state.cachedMeta(1).isReadable else { return false }
    return switch state.phase {
    case .clean: !state.metas[0].isUnsettled && !state.metas[1].isUnsettled
    case .opening: false
    case .running, .closing:
      state.process.checkpoint.rawValue <= CheckpointStep.writeFirstSlot.rawValue
        && !state.process.isUnmarked
    }
  }

  func redundancyViolation(_ state: State) -> ProtocolViolation? {
    for index in 0..<2 {
      var damaged = state
      damaged.metas[index] = Cell()
      guard let reading = try? Reading(damaged, defect) else { return .metaNotRedundant }
      if wrong(reading, damaged) != nil { return .metaNotRedundant }
    }
    return nil
  }

  /// One damaged meta slot, WAL header or commit: the store is refused, or the answer is right.
  func damageViolation(_ state: State) -> ProtocolViolation? {
    for index in 0..<2 {
      var damaged = state
      damaged.metas[index] = Cell()
      if isPassedOver(damaged, state.durableLSN) { return .damagePassedOver }
      damaged = state
      damaged.headers[index] = Cell()
      // Meta slots that both need this header prove that there is a log.
      let life = state.headers[index].cached
      let isNamed = life == state.cachedMeta(0).life && life == state.cachedMeta(1).life
      if isPassedOver(damaged, isNamed ? state.durableLSN : provenLSN(damaged)) {
        return .damagePassedOver
      }
    }
    for place in 0..<2 * State.placeCount {
      let entry = Entry(bits: state.log[place].cached)
      guard entry.isCommit else { continue }
      var damaged = state
      damaged.log[place] = Cell()
      if isPassedOver(damaged, provenLSN(damaged)) { return .damagePassedOver }
    }
    return nil
  }

  private func isPassedOver(_ state: State, _ leastLSN: UInt8) -> Bool {
    guard let reading = try? Reading(state, defect) else { return false }
    let found = lsn(reading.commits)
    return reading.commits != prefix(state.history, found) || found < leastLSN
      || !reading.isWhole
  }

  /// Up to where commits that are left prove what was durable; the very last sync may have no proof.
  private func provenLSN(_ state: State) -> UInt8 {
    var proven: UInt8 = 0
    for file in 0..<2 {
      for index in 0..<State.placeCount {
        let entry = Entry(bits: state.log[State.place(file, index)].cached)
        guard entry.isCommit else { continue }
        let facts = state.commits[entry.number]
        // A commit of this history that a promise covers.
        guard state.history & 1 << UInt8(entry.number - 1) != 0,
          lsn(facts.before) < state.durableLSN
        else { continue }
        proven = max(proven, facts.durableLSN)
      }
    }
    return min(proven, state.durableLSN)
  }
}
