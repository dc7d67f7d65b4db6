/// White space at both ends of a text: scalars with the Unicode property White_Space.
enum WhiteSpace {
  /// Returns the range of valid UTF-8 that remains after trimming; empty if everything is white
  /// space.
  static func trimmed(_ bytes: Span<UInt8>) -> Range<Int> {
    var start = 0
    while start < bytes.count {
      if start &+ 8 <= bytes.count, isAllASCII(bytes, at: start) {
        start &+= 8
        continue
      }
      var next = start
      guard contains(CharacterBreaks.scalar(bytes, &next)) else { break }
      start = next
    }
    var end = bytes.count
    while end > start {
      if end &- 8 >= start, isAllASCII(bytes, at: end &- 8) {
        end &-= 8
        continue
      }
      var last = end &- 1
      while bytes[last] & 0xC0 == 0x80 { last &-= 1 }
      var next = last
      guard contains(CharacterBreaks.scalar(bytes, &next)) else { break }
      end = last
    }
    return start..<end
  }

  /// Returns true if eight bytes are ASCII white space: spaces, and U+0009 to U+000D.
  @inline(__always)
  private static func isAllASCII(_ bytes: Span<UInt8>, at offset: Int) -> Bool {
    // Unsafe: any bytes are a valid number; the caller checks that they exist.
    let word = unsafe bytes.bytes.unsafeLoadUnaligned(fromByteOffset: offset, as: UInt64.self)
    let tops: UInt64 = 0x8080_8080_8080_8080
    guard word & tops == 0 else { return false }
    // No byte has its top bit set, so an addition sets it for values from a certain one on.
    let isNoSpace = (word ^ 0x2020_2020_2020_2020) &+ 0x7F7F_7F7F_7F7F_7F7F
    let isFrom09 = word &+ 0x7777_7777_7777_7777
    let isFrom0E = word &+ 0x7272_7272_7272_7272
    return (~isNoSpace | isFrom09 & ~isFrom0E) & tops == tops
  }

  /// Returns true if a scalar has the property.
  ///
  /// A test compares this with the standard library.
  @inline(__always)
  static func contains(_ scalar: UInt32) -> Bool {
    switch scalar {
    case 0x20, 0x09...0x0D, 0x85, 0xA0, 0x1680, 0x2000...0x200A, 0x2028, 0x2029, 0x202F, 0x205F,
      0x3000:
      true
    default: false
    }
  }
}
