/// A match that was found, and the size of the block up to where its literals begin.
struct Match {
  var place: Int
  var count: Int
  let distance: Int
  let byteCountBefore: Int

  var end: Int { place &+ count }

  /// Returns the size of a sequence of literals and a match.
  @inline(__always)
  static func byteCount(literals: Int, match: Int) -> Int {
    byteCount(literals: literals) &+ 2 &+ (match < 19 ? 0 : (match &- 19) / 255 &+ 1)
  }

  /// Returns the size of a sequence of literals alone.
  @inline(__always)
  static func byteCount(literals: Int) -> Int {
    1 &+ literals &+ (literals < 15 ? 0 : (literals &- 15) / 255 &+ 1)
  }
}

/// The rules for matches, which both searches keep.
enum Matches {
  /// A distance takes two bytes.
  static let maximumDistance = 65_535
  /// The last match begins at least this many bytes before the end of a text.
  static let startMargin = 12
  /// The last bytes of a text, which no match may cover.
  static let endMargin = 5

  /// Mixes the first bytes of a word into a number of so many bits.
  @inline(__always)
  static func hash(_ word: UInt64, _ byteCount: Int, _ bitCount: Int) -> Int {
    let bytes = word &<< UInt64(truncatingIfNeeded: 64 &- 8 &* byteCount)
    return Int(
      truncatingIfNeeded: (bytes &* 0x9E37_79B9_7F4A_7C15)
        &>> UInt64(truncatingIfNeeded: 64 &- bitCount))
  }

  /// Returns the end of a match: `offset`, or any later place up to which bytes repeat.
  ///
  /// - Parameter limit: At least five bytes before the end of the window.
  @inline(__always)
  static func end(_ window: Window, _ offset: Int, _ distance: Int, limit: Int) -> Int {
    var offset = offset
    while offset &+ 8 <= limit {
      // Unsafe: eight bytes are there, and more at the place before.
      let difference = unsafe window.word64(at: offset) ^ window.word64(at: offset &- distance)
      if difference != 0 { return offset &+ difference.trailingZeroBitCount &>> 3 }
      offset &+= 8
    }
    while offset < limit,
      unsafe window.byte(at: offset) == window.byte(at: offset &- distance)
    {
      offset &+= 1
    }
    return offset
  }
}
