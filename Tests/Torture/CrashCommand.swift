import Simulation
import Subcommands

extension Subcommand {
  /// Crashes stores at every call of random and of all short runs, and what recovers them, too.
  static let crash = Subcommand(
    name: "crash", summary: "kills and power cuts, in chains of up to four",
    run: { arguments in
      let seen = SeenStates()
      let exploration = Exploration(arguments, count: \.stateCount) { explore($0, seen) }
      let report = exploration.report
      print(
        """
        crash: seeds \(exploration.seeds), \
        with the first \(exploration.seeds.upperBound / 3) of the short sequences
          distinct states recovered and checked: \(report.stateCount), \
        and \(report.repeatCount) met again
          after 1, 2, … crashes: \(report.stateCounts)
          \(exploration.speed) a second and processor
          \(report.counts)
          failures: \(report.failures.count)
        """)
      return report.failures.count + complain(report.counts.missing) + exploration.missingCount
    })

  private static func complain(_ missing: [String]) -> Int {
    for what in missing { print("  nothing was tested with \(what)") }
    return missing.count
  }

  /// Crashes the run of one seed.
  ///
  /// Every third seed plays the next sequence of the exhaustive tier, on a new store and on one with
  /// some pages, and crashes its last operation: those before it were the last of shorter ones. The
  /// others play random operations.
  private static func explore(_ seed: UInt64, _ seen: SeenStates) -> ExplorationReport {
    var random = SeededRandom(seed: seed)
    var plan = ExplorationPlan()
    if seed % 3 == 0 {
      plan.choices.exhaustiveUnitCount = 8
      plan.choices.maximumCount = 300
      let sequence = Workload.sequence(Int(seed / 3) - 1)
      let explorer = Explorer(seed: seed, plan, seen)
      explorer.explore(sequence, from: sequence.count)
      let seeded = Workload.seeded + sequence
      explorer.explore(seeded, from: seeded.count)
      let onWords = Workload.withWords(sequence, from: 0, &random)
      explorer.explore(Workload.seeded + onWords, from: Workload.seeded.count)
      return explorer.report
    }
    plan.setting = Workload.setting(&random)
    if seed % 16 == 1 {
      plan.choices.exhaustiveUnitCount = 12
      plan.choices.maximumCount = 5000
    }
    let explorer = Explorer(seed: seed, plan, seen)
    let start = seed % 4 == 1 ? Workload.shaped : []
    var operations = start + Workload.random(count: 6 + random.below(30), &random)
    if seed % 3 == 1 { operations = Workload.withWords(operations, &random) }
    explorer.explore(operations)
    return explorer.report
  }
}
