import PageFile

/// Numbers in arrays of bytes, wherever they are.
///
/// What lies outside reads as zero and is not written.
extension [UInt8] {
  func uint(_ byteCount: Int, at offset: Int) -> UInt64 {
    guard offset >= 0, offset <= count - byteCount else { return 0 }
    var value: UInt64 = 0
    for index in 0..<byteCount { value |= UInt64(self[offset + index]) << UInt64(8 * index) }
    return value
  }

  mutating func store(_ value: UInt64, _ byteCount: Int, at offset: Int) {
    guard offset >= 0, offset <= count - byteCount else { return }
    for index in 0..<byteCount {
      self[offset + index] = UInt8(truncatingIfNeeded: value >> UInt64(8 * index))
    }
  }

  /// Writes as many of the bytes as lie inside.
  mutating func store(_ bytes: [UInt8], at offset: Int) {
    for (index, byte) in bytes.enumerated() where indices.contains(offset + index) {
      self[offset + index] = byte
    }
  }

  /// The checksum of a range, which has to lie inside.
  func checksum(_ range: Range<Int>, seed: UInt64) -> UInt64 {
    unsafe withUnsafeBytes { buffer in
      unsafe Checksum.of(Bytes(UnsafeRawBufferPointer(rebasing: buffer[range])), seed: seed)
    }
  }
}
