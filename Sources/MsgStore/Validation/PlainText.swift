import PageFile

extension Bytes {
  /// Whether all bytes from an offset on are below 128.
  ///
  /// Made for the few dozen bytes of a message: 32 at a time, the last of them once more where they do
  /// not come out even.
  @inline(__always)
  func isASCII(from start: Int) -> Bool {
    let byteCount = count - start
    guard byteCount >= 32 else { return dropFirst(start).isASCII }
    return unsafe withUnsafeBytes { (buffer: UnsafeRawBufferPointer) -> Bool in
      // Unsafe: every load lies between `start` and `count`.
      guard let base = buffer.baseAddress else { return true }
      var bits = unsafe base.loadUnaligned(
        fromByteOffset: count - 32, as: SIMD4<UInt64>.self)
      var offset = start
      while offset + 32 <= count {
        bits |= unsafe base.loadUnaligned(fromByteOffset: offset, as: SIMD4<UInt64>.self)
        offset += 32
      }
      return (bits[0] | bits[1] | bits[2] | bits[3]) & 0x8080_8080_8080_8080 == 0
    }
  }
}
