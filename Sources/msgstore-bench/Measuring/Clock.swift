#if canImport(Darwin)
  import Darwin
#elseif canImport(Glibc)
  import Glibc
#elseif canImport(Musl)
  import Musl
#endif

/// Returns the nanoseconds of a monotonic clock.
///
/// One call costs about 25 ns.
@inline(__always)
func nanoseconds() -> UInt64 {
  var time = timespec()
  unsafe clock_gettime(CLOCK_MONOTONIC, &time)
  return UInt64(time.tv_sec) &* 1_000_000_000 &+ UInt64(time.tv_nsec)
}

/// Sleeps for a number of nanoseconds below one second.
func pause(nanoseconds: Int) {
  var time = timespec(tv_sec: 0, tv_nsec: nanoseconds)
  unsafe nanosleep(&time, nil)
}

/// Runs `body` and returns the time it took.
@inline(__always)
func timed<Failure: Error>(_ body: () throws(Failure) -> Void) throws(Failure) -> UInt64 {
  let start = nanoseconds()
  try body()
  return nanoseconds() &- start
}
