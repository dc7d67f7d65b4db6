#if canImport(Darwin)
  import Darwin
#elseif canImport(Musl)
  import Musl
#else
  import Glibc
#endif

/// The seeds that are being played, told by a process that traps: otherwise nobody would know which
/// run it was.
@safe
enum TrappedSeeds {
  private static let maximumCount = 64
  nonisolated(unsafe) private static let seeds: UnsafeMutablePointer<UInt64> = {
    let seeds = UnsafeMutablePointer<UInt64>.allocate(capacity: maximumCount)
    unsafe seeds.initialize(repeating: .max, count: maximumCount)
    return unsafe seeds
  }()

  /// From here on a trap tells of them.
  static func watch() {
    _ = unsafe seeds
    for number in [SIGILL, SIGTRAP, SIGSEGV, SIGBUS, SIGABRT] {
      signal(number) { number in
        TrappedSeeds.tell()
        signal(number, SIG_DFL)
        raise(number)
      }
    }
  }

  /// Runs `body` as the run of a seed.
  static func run<R>(_ seed: UInt64, on place: Int, _ body: () -> R) -> R {
    unsafe seeds[place % maximumCount] = seed
    defer { unsafe seeds[place % maximumCount] = .max }
    return body()
  }

  /// Only with calls that a signal handler may make.
  private static func tell() {
    for place in 0..<maximumCount {
      var rest = unsafe seeds[place]
      if rest == .max { continue }
      write("trapped while seed ")
      var divisor: UInt64 = 10_000_000_000_000_000_000
      while divisor > max(1, rest) { divisor /= 10 }
      while divisor > 0 {
        var digit = UInt8(ascii: "0") + UInt8(rest / divisor)
        _ = unsafe systemWrite(2, &digit, 1)
        rest %= divisor
        divisor /= 10
      }
      write(" was played\n")
    }
  }

  private static func write(_ text: StaticString) {
    _ = unsafe systemWrite(2, text.utf8Start, text.utf8CodeUnitCount)
  }
}

/// `write` of the system, which a function of this type hides.
private func systemWrite(_ file: Int32, _ bytes: UnsafeRawPointer, _ count: Int) -> Int {
  unsafe write(file, bytes, count)
}
