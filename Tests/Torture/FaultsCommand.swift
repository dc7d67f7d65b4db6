import PageFile
import Simulation

extension Subcommand {
  /// Has each call of random runs fail, once and for good, and the disk be full.
  static let faults = Subcommand(
    name: "faults", summary: "calls that fail, full disks, locked devices; then crashes",
    run: { arguments in
      let seen = SeenStates()
      let total = Locked(ExplorationReport())
      let start = Stopwatch.seconds()
      let seedCount = SeedRunner.run(arguments) { seed in
        var random = SeededRandom(seed: seed)
        var plan = ExplorationPlan(branchCounts: [1])
        plan.setting = Workload.setting(&random)
        let explorer = Explorer(seed: seed, plan, seen)
        explorer.exploreTroubles(
          Workload.random(count: 6 + random.below(20), &random), countMax: 400)
        let report = explorer.report
        total.withLock { $0.add(report) }
        for failure in report.failures.prefix(1) { print(failure.description) }
      }
      let report = total.withLock { $0 }
      print(
        """
        faults: seeds \(arguments.seed) to \(arguments.seed + seedCount - 1)
          runs with a failure: \(report.troubleCounts.values.reduce(0, +))
          \(report.troubleCounts.sorted { $0.key < $1.key }.map { "\($0.key) \($0.value)" })
          distinct states recovered and checked afterwards: \(report.stateCount)
          \(Int(Stopwatch.seconds() - start)) s, \(arguments.threads) threads
          failures: \(report.failures.count)
        """)
      return report.failures.count
    })
}
