#if canImport(Darwin)
  import Darwin
#elseif canImport(Glibc)
  import Glibc
#elseif canImport(Musl)
  import Musl
#endif

/// Shows progress on standard error.
///
/// Also notices Control-C, so that the stores of an interrupted run are removed as well.
final class Progress {
  private let isShown = isatty(STDERR_FILENO) == 1
  private var lastShown = nanoseconds()

  /// Set by the signal handler, which may do nothing else.
  nonisolated(unsafe) private static var isInterrupted: sig_atomic_t = 0

  init() {
    for number in [SIGINT, SIGTERM] {
      _ = signal(number) { _ in unsafe Progress.isInterrupted = 1 }
    }
  }

  /// Shows progress between pieces of work: on a terminal at most ten times a second, elsewhere a
  /// line every ten seconds.
  ///
  /// Throws if interrupted.
  func show(_ text: @autoclosure () -> String) throws {
    guard unsafe Self.isInterrupted == 0 else { throw BenchError("interrupted") }
    guard nanoseconds() - lastShown > (isShown ? 100_000_000 : 10_000_000_000) else { return }
    lastShown = nanoseconds()
    Self.say(isShown ? "\r\u{1B}[K\(text())" : "\(text())\n")
  }

  func clear() {
    if isShown { Self.say("\r\u{1B}[K") }
  }

  /// Writes to standard error.
  static func say(_ text: String) {
    let bytes = Array(text.utf8)
    unsafe _ = write(STDERR_FILENO, bytes, bytes.count)
  }
}
