import Simulation
import Subcommands

extension Subcommand {
  /// Has each call of random runs fail, once and for good, and the disk be full.
  static let faults = Subcommand(
    name: "faults", summary: "calls that fail, full disks, locked devices; then crashes",
    run: { arguments in
      let seen = SeenStates()
      let exploration = Exploration(arguments, count: { _ in 1 }) { seed in
        var random = SeededRandom(seed: seed)
        var plan = ExplorationPlan(branchCounts: [1])
        plan.setting = Workload.setting(&random)
        let explorer = Explorer(seed: seed, plan, seen)
        var operations = Workload.random(count: 6 + random.below(14), &random)
        if seed % 2 == 1 { operations = Workload.withWords(operations, &random) }
        explorer.exploreTroubles(operations)
        return explorer.report
      }
      let report = exploration.report
      let kinds = report.troubleCounts.sorted { $0.key < $1.key }
      print(
        """
        faults: seeds \(exploration.seeds)
          runs with something failing: \(kinds.reduce(0) { $0 + $1.value })
          by kind: \(kinds.map { "\($0.key) \($0.value)" }.joined(separator: ", "))
          distinct states recovered and checked after them: \(report.stateCount)
          \(report.counts)
          failures: \(report.failures.count)
        """)
      return report.failures.count + exploration.missingCount
    })
}
