/// The rules for matches, which both searches keep.
enum Matches {
  /// A distance takes two bytes.
  static let maximumDistance = 65_535
  /// The first number added to the places in a table of hashes: an empty entry, which is 0, then
  /// lies further back than any distance.
  static let firstBase: UInt32 = 65_536
  /// The last match begins at least this many bytes before the end of a text.
  static let startMargin = 12
  /// The last bytes of a text, which no match may cover.
  static let endMargin = 5

  /// Returns the number added to the places of the next text: all those of this one then lie
  /// further back than any distance.
  static func base(after base: UInt32, _ window: Window) -> UInt32 {
    base + UInt32(window.count) + firstBase
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
