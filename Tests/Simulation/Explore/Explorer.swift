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
  package internal(set) var report = ExplorationReport()
  private let seed: UInt64
  private let seen: SeenStates
  var random: SeededRandom

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
        visit(capture, crash, after: [], operations)
      }
    }
  }

  /// Recovers and checks what a crash leaves, and follows some of the ways on.
  /// - Parameters:
  ///   - lives: Those that ended before the one that ends now.
  ///   - operations: What the life that ends was to do, with what was wrong meanwhile.
  func visit(
    _ capture: Capture, _ crash: Crash, after lives: [Life], _ operations: [Operation],
    _ trouble: Trouble? = nil
  ) {
    let (disk, history) = capture.after(crash, plan.setting.profile)
    let state = disk.contentHash
    report.trace(state)
    let played = Array(operations.prefix(capture.point.operation))
    let point = capture.point
    let lives =
      lives + [Life(played, crash: crash, at: point.operation, point.call, trouble)]
    let depth = lives.count
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
        visit(chosen, crash, after: lives, next)
      }
    } catch {
      fail(error, lives, next)
    }
  }

  func fail(
    _ violation: Violation, _ lives: [Life], _ last: [Operation], _ trouble: Trouble? = nil
  ) {
    let replay = Replay(plan.setting, lives: lives, last: last, trouble)
    report.failures.append(FoundViolation(violation: violation, replay: replay, seed: seed))
  }
}
