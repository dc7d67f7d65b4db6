import PageFile
import Simulation

/// Explorations of one seed after the other, by several threads, until the time is over.
struct Exploration {
  let report: ExplorationReport
  let seeds: Range<UInt64>
  /// What the processors have worked for it.
  let processorSeconds: Double

  /// How many failures are made small and printed; the others are only counted.
  private static let printedCountMax = 8

  init(_ arguments: Arguments, _ explore: @escaping @Sendable (UInt64) -> ExplorationReport) {
    let next = Locked(arguments.seed)
    let total = Locked(ExplorationReport())
    let end = Stopwatch.seconds() + Double(arguments.seconds)
    let start = Stopwatch.processorSeconds()
    let workers = (0..<arguments.threads).map { _ in Worker() }
    for worker in workers {
      worker.enqueue {
        while Stopwatch.seconds() < end {
          let seed = next.withLock { seed in
            defer { seed += 1 }
            return seed
          }
          let report = explore(seed)
          let failureCount = total.withLock { total in
            defer { total.add(report) }
            return total.failures.count
          }
          if failureCount < Self.printedCountMax, let failure = report.failures.first {
            print(Shrinker.shrink(failure))
          }
        }
      }
    }
    for worker in workers { worker.stop() }
    report = total.withLock { $0 }
    seeds = arguments.seed..<next.withLock { $0 }
    processorSeconds = Stopwatch.processorSeconds() - start
  }

  /// Distinct states that one processor has recovered and checked in a second.
  var speed: Int { Int(Double(report.stateCount) / processorSeconds) }
}
