/// What explorations have found.
package struct ExplorationReport: Sendable {
  /// Distinct states recovered and checked, by how many crashes led to them.
  package private(set) var stateCounts: [Int] = []
  /// States that came up again.
  package var repeatCount = 0
  /// Runs with something wrong, by what it was.
  package private(set) var troubleCounts: [String: Int] = [:]
  package var counts = PlayCounts()
  package var failures: [FoundViolation] = []
  /// The same for two runs of one seed.
  package private(set) var traceHash: UInt64 = 0

  package init() {}

  package var stateCount: Int { stateCounts.reduce(0, +) }

  mutating func addState(_ depth: Int) {
    while stateCounts.count < depth { stateCounts.append(0) }
    stateCounts[depth - 1] += 1
  }

  mutating func addTrouble(_ trouble: Trouble) {
    troubleCounts[trouble.kind, default: 0] += 1
  }

  mutating func trace(_ state: UInt64) { traceHash = SeededRandom.mix(traceHash ^ state) }

  package mutating func add(_ other: ExplorationReport) {
    while stateCounts.count < other.stateCounts.count { stateCounts.append(0) }
    for (index, count) in other.stateCounts.enumerated() { stateCounts[index] += count }
    repeatCount += other.repeatCount
    troubleCounts.merge(other.troubleCounts, uniquingKeysWith: +)
    counts.add(other.counts)
    failures += other.failures
    traceHash ^= other.traceHash
  }
}
