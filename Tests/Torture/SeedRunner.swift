import PageFile

/// Work shared by several threads: each takes the next seed until the time is over.
enum SeedRunner {
  /// Calls `body` with one seed after the other on each thread, and answers how many there were.
  static func run(_ arguments: Arguments, _ body: @escaping @Sendable (UInt64) -> Void) -> UInt64 {
    let next = Locked(arguments.seed)
    let end = Stopwatch.seconds() + Double(arguments.seconds)
    let workers = (0..<arguments.threads).map { _ in Worker() }
    for worker in workers {
      worker.enqueue {
        while Stopwatch.seconds() < end {
          body(
            next.withLock { seed in
              defer { seed += 1 }
              return seed
            })
        }
      }
    }
    for worker in workers { worker.stop() }
    return next.withLock { $0 } - arguments.seed
  }
}
