/// How far an exploration goes.
package struct ExplorationPlan: Sendable {
  package var setting: StoreSetting
  package var choices: CrashChoices
  /// How many of the moments of a recovered store's next life are followed to another crash: after
  /// the first crash, after the second, and so on.
  package var branchCounts: [Int]

  package init(
    setting: StoreSetting = StoreSetting(), choices: CrashChoices = CrashChoices(),
    branchCounts: [Int] = [2, 1, 1]
  ) {
    self.setting = setting
    self.choices = choices
    self.branchCounts = branchCounts
  }
}

/// Finds what crashes leave of a store, and asks each of these states everything.
///
/// A life is played once; at each of its calls the disk is kept. Each of these moments is ended by
/// many crashes, and each disk that comes of them and was not seen before is opened, checked, and
/// used, which gives the moments of the next life, in which recovery itself is crashed.
package final class Explorer {
  package let plan: ExplorationPlan
  package private(set) var report = ExplorationReport()
  private let seed: UInt64
  private let seen: SeenStates
  private var random: SeededRandom

  package init(seed: UInt64, _ plan: ExplorationPlan, _ seen: SeenStates = SeenStates()) {
    self.seed = seed
    self.plan = plan
    self.seen = seen
    random = SeededRandom(seed: seed)
  }

  /// Plays the operations on a disk with no store, and crashes it at each call of the operations from
  /// the given one on.
  package func explore(_ operations: [Operation], from first: Int = 0) {
    let player = Player(SimulatedDisk(), History(), plan.setting)
    player.countsPages = true
    let run = LifeRun(player) { $0.operation >= first }
    do throws(Violation) {
      try run.open()
      try run.play(operations)
      try player.compare()
    } catch {
      return fail(error, [], operations)
    }
    run.end()
    player.die()
    report.counts.add(player.counts)
    for capture in run.captures {
      for crash in plan.choices.crashes(capture.disk, &random) {
        visit(capture, crash, after: [], operations, depth: 1)
      }
    }
  }

  private func visit(
    _ capture: Capture, _ crash: Crash, after lives: [Life], _ operations: [Operation], depth: Int
  ) {
    let (disk, history) = capture.after(crash, plan.setting.profile)
    let state = disk.contentHash
    report.trace(state)
    let played = Array(operations.prefix(capture.point.operation))
    let lives =
      lives
      + [Life(played, crash: crash, at: capture.point.operation, capture.point.call)]
    if let digest = seen.digest(of: state) {
      report.repeatCount += 1
      if plan.setting.profile.isLiar || history.allows(digest) {
        return
      }
      return fail(Violation(.lostCommit, "seen before, where less was promised"), lives, [])
    }
    let branchCount = depth <= plan.branchCounts.count ? plan.branchCounts[depth - 1] : 0
    let next = branchCount > 0 ? Workload.random(count: random.below(6), &random) : []
    do throws(Violation) {
      let outcome = try StateCheck(plan.setting).run(
        disk, history, then: next, capturing: { _ in branchCount > 0 })
      if seen.insert(state, digest: outcome.digest) { report.addState(depth) }
      report.counts.add(outcome.counts)
      for _ in 0..<min(branchCount, outcome.captures.count) {
        let chosen = outcome.captures[random.below(outcome.captures.count)]
        let crash = plan.choices.crash(chosen.disk, &random)
        visit(chosen, crash, after: lives, next, depth: depth + 1)
      }
    } catch {
      fail(error, lives, next)
    }
  }

  private func fail(_ violation: Violation, _ lives: [Life], _ last: [Operation]) {
    report.failures.append(
      Failure(
        violation: violation, replay: Replay(plan.setting, lives: lives, last: last), seed: seed))
  }
}

/// What explorations have found.
package struct ExplorationReport: Sendable {
  /// Distinct states recovered and checked, by how many crashes led to them.
  package private(set) var stateCounts: [Int] = []
  /// States that came up again.
  package var repeatCount = 0
  package var counts = PlayCounts()
  package var failures: [Failure] = []
  /// The same for two runs of one seed.
  package private(set) var traceHash: UInt64 = 0

  package init() {}

  package var stateCount: Int { stateCounts.reduce(0, +) }

  mutating func addState(_ depth: Int) {
    while stateCounts.count < depth { stateCounts.append(0) }
    stateCounts[depth - 1] += 1
  }

  mutating func trace(_ state: UInt64) { traceHash = SeededRandom.mix(traceHash ^ state) }

  package mutating func add(_ other: ExplorationReport) {
    while stateCounts.count < other.stateCounts.count { stateCounts.append(0) }
    for (index, count) in other.stateCounts.enumerated() { stateCounts[index] += count }
    repeatCount += other.repeatCount
    counts.add(other.counts)
    failures += other.failures
    traceHash ^= other.traceHash
  }
}
