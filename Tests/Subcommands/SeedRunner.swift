import PageFile

/// Work shared by several threads: each takes the next seed until the time is over, or enough was done.
package enum SeedRunner {
  /// What `body` answers when nothing more need be done, whatever was asked for.
  package static let workEnd = 1 << 40

  /// Calls `body` with one seed after the other on each thread; it answers how much that was.
  ///
  /// - Returns: The seeds, and what is missing of what was asked for.
  package static func run(
    _ arguments: Arguments, _ body: @escaping @Sendable (UInt64) -> Int
  ) -> (seeds: Range<UInt64>, missingCount: Int) {
    let next = Locked(arguments.seed)
    let doneCount = Locked(0)
    let end = Stopwatch.seconds() + Double(arguments.seconds)
    let enough = arguments.count ?? workEnd
    let workers = (0..<arguments.threads).map { _ in Worker() }
    for worker in workers {
      worker.enqueue {
        while Stopwatch.seconds() < end, doneCount.withLock({ $0 }) < enough {
          let seed = next.withLock { seed in
            defer { seed += 1 }
            return seed
          }
          let count = body(seed)
          doneCount.withLock { $0 += count }
        }
      }
    }
    for worker in workers { worker.stop() }
    let missingCount = arguments.count.map { max(0, $0 - doneCount.withLock { $0 }) } ?? 0
    if missingCount > 0 { print("the time was over with \(missingCount) to go") }
    return (arguments.seed..<next.withLock { $0 }, missingCount)
  }
}
