import PageFile
import Simulation
import Subcommands

/// Explorations of one seed after the other, by several threads, until the time is over.
struct Exploration {
  let report: ExplorationReport
  let seeds: Range<UInt64>
  /// What is missing of what was asked for.
  let missingCount: Int
  /// What the processors have worked for it.
  let processorSeconds: Double

  /// How many failures are made small and printed; the others are only counted.
  private static let maximumPrintedCount = 8

  /// - Parameter count: What of a report counts towards what was asked for.
  init(
    _ arguments: Arguments, count: @escaping @Sendable (ExplorationReport) -> Int,
    _ explore: @escaping @Sendable (UInt64) -> ExplorationReport
  ) {
    let total = Locked(ExplorationReport())
    let start = Stopwatch.processorSeconds()
    (seeds, missingCount) = SeedRunner.run(arguments) { seed in
      let report = explore(seed)
      let failureCount = total.withLock { total in
        defer { total.add(report) }
        return total.failures.count
      }
      if failureCount < Self.maximumPrintedCount, let failure = report.failures.first {
        print(Shrinker.shrink(failure))
      }
      return count(report)
    }
    report = total.withLock { $0 }
    processorSeconds = Stopwatch.processorSeconds() - start
  }

  /// Distinct states that one processor has recovered and checked in a second.
  var speed: Int { Int(Double(report.stateCount) / processorSeconds) }
}
