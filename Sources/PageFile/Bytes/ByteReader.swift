/// A reader of bytes that have not been validated: it checks every length and offset and never
/// traps.
///
/// Each read returns nil instead of going past the end. The caller turns nil into an error that
/// names the place.
@usableFromInline
package struct ByteReader {
  @usableFromInline let bytes: Bytes
  @usableFromInline package internal(set) var offset: Int

  @inlinable
  package init(_ bytes: Bytes, at offset: Int = 0) {
    self.bytes = bytes
    self.offset = max(0, min(offset, bytes.count))
  }

  @inlinable
  package var remainingByteCount: Int { bytes.count - offset }
  @inlinable
  package var isAtEnd: Bool { offset == bytes.count }

  @inlinable
  package mutating func byte() -> UInt8? {
    guard remainingByteCount >= 1 else { return nil }
    defer { offset += 1 }
    return bytes[offset]
  }

  @inlinable
  package mutating func uint16() -> UInt16? {
    guard remainingByteCount >= 2 else { return nil }
    defer { offset += 2 }
    return bytes.uint16(at: offset)
  }

  @inlinable
  package mutating func uint32() -> UInt32? {
    guard remainingByteCount >= 4 else { return nil }
    defer { offset += 4 }
    return bytes.uint32(at: offset)
  }

  @inlinable
  package mutating func uint64() -> UInt64? {
    guard remainingByteCount >= 8 else { return nil }
    defer { offset += 8 }
    return bytes.uint64(at: offset)
  }

  /// Reads a number written by `append(varint:)`.
  ///
  /// Accepts at most ten bytes and at most 64 bits. See docs/page-file-format.md, B-2.
  @inlinable
  @inline(never)
  package mutating func varint() -> UInt64? {
    var value: UInt64 = 0
    var shift: UInt64 = 0
    while let next = byte() {
      let bits = UInt64(next & 0x7F)
      if shift == 63 && bits > 1 { return nil }
      value |= bits << shift
      if next & 0x80 == 0 { return value }
      shift += 7
      if shift > 63 { return nil }
    }
    return nil
  }

  /// Reads a number written by `append(signedVarint:)`.
  @inlinable
  package mutating func signedVarint() -> Int64? {
    guard let folded = varint() else { return nil }
    return Int64(bitPattern: folded >> 1) ^ -Int64(bitPattern: folded & 1)
  }

  /// Reads the next `byteCount` bytes without copying them.
  @inlinable
  package mutating func take(_ byteCount: Int) -> Bytes? {
    guard byteCount >= 0, byteCount <= remainingByteCount else { return nil }
    defer { offset += byteCount }
    return bytes.slice(offset, byteCount)
  }

  /// Reads a length as a varint.
  ///
  /// Returns nil if it exceeds the remaining bytes.
  @inlinable
  package mutating func length() -> Int? {
    guard let value = varint(), value <= UInt64(remainingByteCount) else { return nil }
    return Int(value)
  }

  /// Reads all remaining bytes without copying them.
  @inlinable
  package mutating func rest() -> Bytes {
    defer { offset = bytes.count }
    return bytes.slice(offset, remainingByteCount)
  }
}
