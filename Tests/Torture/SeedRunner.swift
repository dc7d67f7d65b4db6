import PageFile

/// Works through one seed after the other, with several threads, until the time is over.
enum SeedRunner {
  /// The seeds that were worked through.
  static func run(
    _ arguments: Arguments, _ body: @escaping @Sendable (UInt64) -> Void
  ) -> Range<UInt64> {
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
    return arguments.seed..<next.withLock { $0 }
  }
}
