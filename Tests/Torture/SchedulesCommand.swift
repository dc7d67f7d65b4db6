import PageFile
import Schedules
import Subcommands

extension Subcommand {
  /// Has several processes use one store under random schedules, and under all with two events.
  static let schedules = Subcommand(
    name: "schedules", summary: "several processes on one store, killed and frozen anywhere",
    run: { arguments in
      let total = Locked((runCount: 0, failureCount: 0, tally: [String: Int]()))
      let (seeds, missingCount) = SeedRunner.run(arguments) { seed in
        let explorer = ScheduleExplorer()
        do throws(PageFileError) {
          // All schedules of a few take as long as the random ones of many.
          if seed % 200 == 0 {
            try explorer.exploreRandom(seed: seed)
          } else {
            try explorer.playRandom(seed: seed)
          }
        } catch {
          print("seed \(seed): \(error)")
          total.withLock { $0.failureCount += 1 }
        }
        for failure in explorer.failures.values { print(failure) }
        total.withLock {
          $0.runCount += explorer.runCount
          $0.failureCount += explorer.failures.count
          $0.tally.merge(explorer.tally, uniquingKeysWith: +)
        }
        return explorer.runCount
      }
      let (runCount, failureCount, tally) = total.withLock { $0 }
      print(
        """
        schedules: seeds \(seeds)
          schedules played: \(runCount)
          \(tally.sorted { $0.key < $1.key }.map { "\($0.key) \($0.value)" })
          failures: \(failureCount)
        """)
      return failureCount + missingCount
    })
}
