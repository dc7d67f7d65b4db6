package import PageFile

/// Tests whether bytes are text, run for every message of a slice and every title of a list.
extension Bytes {
  private static let highBits: UInt64 = 0x8080_8080_8080_8080

  /// Returns true if all bytes from an offset on are below 128.
  ///
  /// Tuned for the few dozen bytes of a message: reads 32 bytes at a time, and the last 32 once
  /// more if the length is not a multiple.
  @inline(__always)
  func isASCII(from start: Int) -> Bool {
    guard count - start >= 32 else { return dropFirst(start).isASCII }
    return unsafe withUnsafeBytes { (buffer: UnsafeRawBufferPointer) -> Bool in
      // Unsafe: every load is between `start` and `count`.
      guard let base = buffer.baseAddress else { return true }
      var bits = unsafe base.loadUnaligned(fromByteOffset: count &- 32, as: SIMD4<UInt64>.self)
      var offset = start &+ 32
      while offset <= count {
        bits |= unsafe base.loadUnaligned(fromByteOffset: offset &- 32, as: SIMD4<UInt64>.self)
        offset &+= 32
      }
      return (bits[0] | bits[1] | bits[2] | bits[3]) & Self.highBits == 0
    }
  }

  /// True if the bytes are valid UTF-8, by the table of well-formed sequences in chapter 3 of the
  /// Unicode standard.
  ///
  /// Equivalent to `isValidUTF8`, which uses the standard library and took three times as many
  /// instructions for texts with an emoji. This version skips ASCII by whole words wherever it
  /// occurs.
  package var isText: Bool {
    unsafe withUnsafeBytes { (buffer: UnsafeRawBufferPointer) -> Bool in
      guard let base = buffer.baseAddress else { return true }
      var offset = 0
      while true {
        // Unsafe: the word ends at `count` at most.
        while offset &+ 8 <= count {
          let word = unsafe base.loadUnaligned(fromByteOffset: offset, as: UInt64.self)
          let high = UInt64(littleEndian: word) & Self.highBits
          if high != 0 {
            offset &+= high.trailingZeroBitCount &>> 3
            break
          }
          offset &+= 8
        }
        while offset < count, self[offset] < 0x80 { offset &+= 1 }
        while offset < count, self[offset] >= 0x80 {
          let byteCount = sequenceByteCount(at: offset)
          if byteCount == 0 { return false }
          offset &+= byteCount
        }
        if offset == count { return true }
      }
    }
  }

  /// Returns the byte count of the sequence that begins at an offset with a byte of 128 or more; 0
  /// if it is malformed.
  @inline(__always)
  private func sequenceByteCount(at offset: Int) -> Int {
    let rest = count &- offset
    let first = self[offset]
    guard rest >= 2 else { return 0 }
    let second = self[offset &+ 1]
    guard second & 0xC0 == 0x80 else { return 0 }
    if first < 0xE0 { return first >= 0xC2 ? 2 : 0 }
    guard rest >= 3, self[offset &+ 2] & 0xC0 == 0x80 else { return 0 }
    if first < 0xF0 {
      // No overlong form of two bytes, and no surrogates.
      if first == 0xE0 { return second >= 0xA0 ? 3 : 0 }
      return first == 0xED && second >= 0xA0 ? 0 : 3
    }
    guard rest >= 4, self[offset &+ 3] & 0xC0 == 0x80 else { return 0 }
    // No overlong form of three bytes, and nothing above U+10FFFF.
    if first == 0xF0 { return second >= 0x90 ? 4 : 0 }
    if first == 0xF4 { return second < 0x90 ? 4 : 0 }
    return first < 0xF4 ? 4 : 0
  }
}
