import Interleavings
import PageFile
import Subcommands

#if canImport(Darwin)
  import Darwin
#elseif canImport(Musl)
  import Musl
#else
  import Glibc
#endif

extension Subcommand {
  /// Has the threads of one process use one store in random orders.
  static let interleavings = Subcommand(
    name: "interleavings", summary: "threads of one process on one store, in random orders",
    run: { arguments in
      if let words = unsafe getenv("MSGSTORE_REPLAY") {
        let explorer = InterleavingExplorer()
        explorer.replay(unsafe String(cString: words))
        for failure in explorer.failures.values { print(failure) }
        return explorer.failures.count
      }
      return explore(arguments)
    })

  /// Whether what a seed decides happens again: otherwise no failure could be looked at.
  private static func repeats(_ first: UInt64) -> Bool {
    for seed in first..<first + 5 {
      let hashes = [InterleavingExplorer(), InterleavingExplorer()].map { $0.hash(ofSeed: seed) }
      if hashes[0] != hashes[1] {
        print("seed \(seed) is not played the same twice")
        return false
      }
    }
    return true
  }

  private static func explore(_ arguments: Arguments) -> Int {
    TrappedSeeds.watch()
    guard repeats(arguments.seed) else { return 1 }
    let start = Stopwatch.seconds()
    // One for each thread: what they begin from belongs to one thread at a time.
    let idle = Locked((0..<arguments.threads).map { (place: $0, explorer: InterleavingExplorer()) })
    let known = Locked(Set<String>())
    let (seeds, missingCount) = SeedRunner.run(arguments) { seed in
      guard let (place, explorer) = idle.withLock({ $0.popLast() }) else { return 0 }
      defer { idle.withLock { $0.append((place, explorer)) } }
      let before = explorer.runCount
      let isSound = TrappedSeeds.run(seed, on: place) { explorer.play(seed: seed) }
      for (kind, failure) in explorer.failures where known.withLock({ $0.insert(kind).inserted }) {
        print(failure)
      }
      // A failure is enough: it is printed, and what comes after it may be the same.
      return isSound ? explorer.runCount - before : SeedRunner.workEnd
    }
    let (runCount, stepCount, tally) = idle.withLock { idle in
      idle.reduce(into: (0, 0, [String: Int]())) { sum, one in
        sum.0 += one.explorer.runCount
        sum.1 += one.explorer.stepCount
        sum.2.merge(one.explorer.tally, uniquingKeysWith: +)
      }
    }
    let failureCount = known.withLock { $0.count }
    print(
      """
      interleavings: seeds \(seeds)
        schedules played: \(runCount), \(Int(Double(runCount) / (Stopwatch.seconds() - start))) \
      a second, \(stepCount / max(1, runCount)) steps each
        \(tally.sorted { $0.key < $1.key }.map { "\($0.key) \($0.value)" })
        failures: \(failureCount)
      """)
    return failureCount + missingCount
  }
}
