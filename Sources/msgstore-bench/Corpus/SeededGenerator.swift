#if canImport(Darwin)
  import Darwin
#elseif canImport(Glibc)
  import Glibc
#elseif canImport(Musl)
  import Musl
#endif

/// A repeatable random generator (SplitMix64).
///
/// The same seed gives the same messages and queries on every machine, so that figures of different
/// months measure the same work.
struct SeededGenerator: RandomNumberGenerator {
  private var state: UInt64

  init(seed: UInt64) {
    state = seed
  }

  mutating func next() -> UInt64 {
    state &+= 0x9E37_79B9_7F4A_7C15
    var mixed = state
    mixed = (mixed ^ (mixed >> 30)) &* 0xBF58_476D_1CE4_E5B9
    mixed = (mixed ^ (mixed >> 27)) &* 0x94D0_49BB_1331_11EB
    return mixed ^ (mixed >> 31)
  }

  /// Returns a number in `0..<bound`; the bias of the multiplication is far too small to affect a
  /// benchmark.
  mutating func index(below bound: Int) -> Int {
    Int(next().multipliedFullWidth(by: UInt64(bound)).high)
  }

  /// Returns a number in `0..<1`.
  mutating func fraction() -> Double {
    Double(next() >> 11) * 0x1p-53
  }

  mutating func chance(_ probability: Double) -> Bool {
    fraction() < probability
  }

  /// Returns a normally distributed number with mean 0 and deviation 1 (Box and Muller).
  mutating func normal() -> Double {
    let radius = (-2 * log(1 - fraction())).squareRoot()
    return radius * cos(2 * .pi * fraction())
  }
}
