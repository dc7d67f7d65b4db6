import PageFile

/// A reader of a segment's columns, like `ByteReader` but tuned for long rows of short numbers.
///
/// It never traps. Each read returns nil instead of passing the end.
struct ColumnReader {
  private let bytes: Bytes
  private(set) var offset: Int

  init(_ bytes: Bytes, at offset: Int = 0) {
    self.bytes = bytes
    self.offset = max(0, min(offset, bytes.count))
  }

  var remainingByteCount: Int { bytes.count &- offset }

  @inline(__always)
  mutating func byte() -> UInt8? {
    guard offset < bytes.count else { return nil }
    defer { offset &+= 1 }
    return bytes[offset]
  }

  private static let highBits: UInt64 = 0x8080_8080_8080_8080

  /// Reads a number of up to 64 bits.
  ///
  /// Eight bytes are examined together. Most numbers end in the first.
  @inline(__always)
  mutating func varint() -> UInt64? {
    guard remainingByteCount >= 8 else { return longVarint() }
    let word = bytes.uint64(at: offset)
    if word & 0x80 == 0 {
      offset &+= 1
      return word & 0x7F
    }
    let ends = ~word & Self.highBits
    guard ends != 0 else { return longVarint() }
    offset &+= ends.trailingZeroBitCount &>> 3 &+ 1
    // Keep only the bytes up to the end, then move seven bits of each byte together.
    var value = word & (ends ^ (ends &- 1)) & ~Self.highBits
    value = (value & 0x7F00_7F00_7F00_7F00) &>> 1 | value & 0x007F_007F_007F_007F
    value = (value & 0x3FFF_0000_3FFF_0000) &>> 2 | value & 0x0000_3FFF_0000_3FFF
    return (value &>> 32) &<< 28 | value & 0x0FFF_FFFF
  }

  /// Reads a number that is long or near the end.
  @inline(never)
  private mutating func longVarint() -> UInt64? {
    var reader = ByteReader(bytes, at: offset)
    let value = reader.varint()
    offset = reader.offset
    return value
  }

  @inline(__always)
  mutating func signedVarint() -> Int64? {
    guard let folded = varint() else { return nil }
    return Int64(bitPattern: folded >> 1) ^ -Int64(bitPattern: folded & 1)
  }

  /// Takes the next bytes without copying them.
  @inline(__always)
  mutating func take(_ byteCount: Int) -> Bytes? {
    guard byteCount >= 0, byteCount <= remainingByteCount else { return nil }
    defer { offset &+= byteCount }
    return bytes.slice(offset, byteCount)
  }

  /// All remaining bytes, not copied.
  var rest: Bytes { bytes.dropFirst(offset) }
}

extension Bytes {
  /// Returns true if both are the same bytes in memory.
  func isSame(as other: Bytes) -> Bool {
    unsafe withUnsafeBytes { mine in
      unsafe other.withUnsafeBytes { theirs in
        unsafe mine.baseAddress == theirs.baseAddress && mine.count == theirs.count
      }
    }
  }
}
