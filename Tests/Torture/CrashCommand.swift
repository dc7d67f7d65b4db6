import Simulation

extension Subcommand {
  /// Crashes stores at every call of random and of all short runs, and what recovers them, too.
  static let crash = Subcommand(
    name: "crash", summary: "kills and power cuts, in chains of up to four",
    run: { arguments in
      let seen = SeenStates()
      let exploration = Exploration(arguments) { explore($0, seen) }
      let report = exploration.report
      print(
        """
        crash: seeds \(exploration.seeds)
          distinct states recovered and checked: \(report.stateCount), \
        and \(report.repeatCount) met again
          after 1, 2, … crashes: \(report.stateCounts)
          \(exploration.speed) a second and processor
          \(report.counts)
          failures: \(report.failures.count)
        """)
      return report.failures.count + complain(report.counts.missing)
    })

  private static func complain(_ missing: [String]) -> Int {
    for what in missing { print("  nothing was tested with \(what)") }
    return missing.count
  }

  /// Every third seed plays sequences of the exhaustive tier, the others random ones.
  private static func explore(_ seed: UInt64, _ seen: SeenStates) -> ExplorationReport {
    var random = SeededRandom(seed: seed)
    if seed % 3 == 0 {
      let length = 4
      let number = random.below(Workload.sequenceCount(length: length))
      let sequence = Workload.sequence(number, length: length)
      let explorer = Explorer(seed: seed, ExplorationPlan(), seen)
      explorer.explore(sequence)
      explorer.explore(Workload.seeded + sequence, from: Workload.seeded.count + 1)
      return explorer.report
    }
    var plan = ExplorationPlan()
    plan.setting = Workload.setting(&random)
    let explorer = Explorer(seed: seed, plan, seen)
    explorer.explore(Workload.random(count: 6 + random.below(30), &random))
    return explorer.report
  }
}
