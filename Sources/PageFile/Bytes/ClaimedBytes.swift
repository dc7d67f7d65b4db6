/// The bytes of a page that are claimed already, with one bit for each byte of the largest page.
///
/// The bits lie in place, so that validating a page allocates nothing. `InlineArray` would hold
/// them without `unsafe`, but exists only on Apple's systems of 2025;
/// `withUnsafeTemporaryAllocation` allocates from 1 KiB on.
struct ClaimedBytes: ~Copyable {
  private static let wordCount = 512
  /// Nothing but 4 KiB of zeros at first; it is read and written as 512 words.
  private var bits = (
    SIMD64<UInt64>(), SIMD64<UInt64>(), SIMD64<UInt64>(), SIMD64<UInt64>(),
    SIMD64<UInt64>(), SIMD64<UInt64>(), SIMD64<UInt64>(), SIMD64<UInt64>()
  )

  /// Claims the bytes `start ..< end`, at least one; traps behind byte 32,768.
  ///
  /// Returns false if one of them was claimed before; some of the others then are claimed, too.
  @inline(__always)
  mutating func claim(_ start: Int, _ end: Int) -> Bool {
    let first = start >> 6
    let last = (end &- 1) >> 6
    // One comparison each: a negative number is a large one, too.
    precondition(
      UInt(bitPattern: first) <= UInt(bitPattern: last)
        && UInt(bitPattern: last) < UInt(Self.wordCount), "claim: out of bounds")
    // Unsafe: the indices are from `first` to `last`, which lie within the 512 words.
    return unsafe withUnsafeMutableBytes(of: &bits) { bytes in
      let words = unsafe bytes.baseAddress.unsafelyUnwrapped.assumingMemoryBound(to: UInt64.self)
      var mask = ~UInt64(0) << UInt64(start & 63)
      var index = first
      while index < last {
        if unsafe words[index] & mask != 0 { return false }
        unsafe words[index] |= mask
        mask = ~0
        index &+= 1
      }
      mask &= ~UInt64(0) >> UInt64(63 &- (end &- 1) & 63)
      if unsafe words[last] & mask != 0 { return false }
      unsafe words[last] |= mask
      return true
    }
  }
}
