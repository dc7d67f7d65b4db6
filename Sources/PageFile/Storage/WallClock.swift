#if canImport(Darwin)
  import Darwin
#elseif canImport(Musl)
  import Musl
#else
  import Glibc
#endif

/// The device's clock, for layers above that are given no other clock.
///
/// This module does not use it.
package enum WallClock {
  /// Returns the microseconds since 1970, UTC.
  package static func microseconds() -> Int64 {
    var now = timespec()
    unsafe clock_gettime(CLOCK_REALTIME, &now)
    return Int64(now.tv_sec) * 1_000_000 + Int64(now.tv_nsec) / 1000
  }
}

/// A short sleep for the rare waits whose end is not signalled.
enum Pause {
  /// Sleeps for about a tenth of a millisecond.
  static func briefly() {
    if let strand = Interleaving.strand { return strand.pause() }
    usleep(100)
  }
}
