#if canImport(Darwin)
  import Darwin
#elseif canImport(Musl)
  import Musl
#else
  import Glibc
#endif

/// The device's clock, for layers above that are not handed one.
///
/// Nothing in this module uses it.
package enum WallClock {
  /// Microseconds since 1970, UTC.
  package static func microseconds() -> Int64 {
    var now = timespec()
    unsafe clock_gettime(CLOCK_REALTIME, &now)
    return Int64(now.tv_sec) * 1_000_000 + Int64(now.tv_nsec) / 1000
  }
}

/// Letting other threads run, for the rare wait that nobody signals the end of.
enum Pause {
  /// About a tenth of a millisecond.
  static func briefly() {
    if let strand = Interleaving.strand { return strand.pause() }
    usleep(100)
  }
}
