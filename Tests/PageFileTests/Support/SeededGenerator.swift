import PageFile

/// Repeatable randomness: SplitMix64 (Steele, Lea, Flood, "Fast splittable pseudorandom number
/// generators", 2014).
///
/// Tests print the seed, so that a failure can be run again.
struct SeededGenerator: RandomNumberGenerator {
  private var state: UInt64

  init(seed: UInt64) { state = seed }

  /// A generator that differs by run.
  ///
  /// Its seed is printed at once: a trap takes a test's own messages with it.
  init(printedFor test: String = #function) {
    let seed = Self.freshSeed()
    print("\(test) seed \(seed)")
    self.init(seed: seed)
  }

  mutating func next() -> UInt64 {
    state &+= 0x9E37_79B9_7F4A_7C15
    var z = state
    z = (z ^ (z >> 30)) &* 0xBF58_476D_1CE4_E5B9
    z = (z ^ (z >> 27)) &* 0x94D0_49BB_1331_11EB
    return z ^ (z >> 31)
  }

  /// A seed that differs by run.
  static func freshSeed() -> UInt64 { UInt64.random(in: 0...999_999_999) }

  /// A number in `0 ..< bound`.
  mutating func below(_ bound: Int) -> Int { Int.random(in: 0..<bound, using: &self) }

  mutating func bytes(_ count: Int) -> [UInt8] {
    var buffer = ByteBuffer(capacity: count + 8)
    while buffer.count < count { buffer.append(littleEndian: next()) }
    buffer.truncate(to: count)
    return buffer.bytes.array()
  }
}
