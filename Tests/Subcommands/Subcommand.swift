import PageFile

#if canImport(Darwin)
  import Darwin
#elseif canImport(Musl)
  import Musl
#else
  import Glibc
#endif

/// One way to look for what goes wrong.
package struct Subcommand: Sendable {
  package let name: String
  let summary: String
  /// True if it tells figures and finds no failures, so that `all` passes over it.
  let isMeasurement: Bool
  /// Works for as long as the arguments say, prints what it has done, and answers how many failures it
  /// has found.
  let run: @Sendable (Arguments) -> Int

  package init(
    name: String, summary: String, isMeasurement: Bool = false,
    run: @escaping @Sendable (Arguments) -> Int
  ) {
    self.name = name
    self.summary = summary
    self.isMeasurement = isMeasurement
    self.run = run
  }
}

/// What every subcommand is told.
package struct Arguments: Sendable {
  package var seconds = 60
  package var seed: UInt64 = 1
  package var threads = 2
  /// How much is enough, where that can be counted: then it ends earlier, and too little is a failure.
  package var count: Int?

  /// Runs what the words ask for and answers the exit status.
  package static func run(
    _ program: String, _ subcommands: [Subcommand], _ words: [String]
  ) -> Int32 {
    guard let arguments = Arguments(words.dropFirst()), let name = words.first else {
      return usage(program, subcommands)
    }
    if name == "all" {
      let trials = subcommands.filter { !$0.isMeasurement }
      var shared = arguments
      shared.seconds = arguments.seconds / trials.count
      let failureCount = trials.reduce(0) { $0 + $1.run(shared) }
      print("all: \(failureCount) failures")
      return failureCount == 0 ? 0 : 1
    }
    guard let subcommand = subcommands.first(where: { $0.name == name }) else {
      return usage(program, subcommands)
    }
    return subcommand.run(arguments) == 0 ? 0 : 1
  }

  /// Nil for words that are none of its options.
  private init?(_ words: ArraySlice<String>) {
    var rest = words
    while let option = rest.popFirst() {
      guard let word = rest.popFirst(), let number = UInt64(word), number <= 1 << 53 else {
        return nil
      }
      switch option {
      case "--seconds": seconds = Int(number)
      case "--minutes": seconds = Int(number) * 60
      case "--seed": seed = number
      case "--count": count = Int(number)
      case "--threads": threads = max(1, Int(number))
      default: return nil
      }
    }
  }

  private static func usage(_ program: String, _ subcommands: [Subcommand]) -> Int32 {
    print(
      "\(program) SUBCOMMAND [--seconds N | --minutes N] [--count N] [--seed N] [--threads N]")
    for subcommand in subcommands {
      let name = subcommand.name
      print(
        "  \(name)\(String(repeating: " ", count: max(1, 10 - name.count)))\(subcommand.summary)")
    }
    print("  all       each of them for its share of the time")
    return 2
  }
}

/// Times in seconds.
package enum Stopwatch {
  /// Since some moment in the past.
  package static func seconds() -> Double { read(CLOCK_MONOTONIC) }

  /// That processors have worked for this process: other processes do not count.
  package static func processorSeconds() -> Double { read(CLOCK_PROCESS_CPUTIME_ID) }

  private static func read(_ clock: clockid_t) -> Double {
    var now = timespec()
    unsafe clock_gettime(clock, &now)
    return Double(now.tv_sec) + Double(now.tv_nsec) / 1_000_000_000
  }
}
