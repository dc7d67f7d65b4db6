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

  /// True if the bytes are valid UTF-8, without a look for mere ASCII first.
  package var isText: Bool { validUTF8ByteCount == count }
}
