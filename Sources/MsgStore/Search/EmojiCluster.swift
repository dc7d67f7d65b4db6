import PageFile

/// Tells whether a match ends in the middle of an emoji or a flag of several scalars.
///
/// An emoji is a base, then selectors, skin tones, or a keycap; joiners connect several (UTS #51).
/// A flag is two regional indicators. Joiners and selectors fold to nothing, so only the source
/// shows them.
struct EmojiCluster {
  private var text = Bytes.empty
  private var isLoose = false
  /// For each end of a match an offset behind regional indicators, and their number, so that a long
  /// run is counted once.
  private var counted = (before: (offset: 0, count: 0), behind: (offset: 0, count: 0))

  /// Begins with another text.
  mutating func reset() { counted = ((0, 0), (0, 0)) }

  private static let joiner: UInt32 = 0x200D
  private static let keycap: UInt32 = 0x20E3
  private static let tones: ClosedRange<UInt32> = 0x1F3FB...0x1F3FF
  private static let indicators: ClosedRange<UInt32> = 0x1F1E6...0x1F1FF

  /// Returns true for a scalar that may begin or continue an emoji, and for what a keycap encloses.
  private static func mayBeEmoji(_ scalar: UInt32) -> Bool {
    switch scalar {
    case 0x23, 0x2A, 0x30...0x39, 0xA9, 0xAE, 0x203C, 0x2049, 0x20E3, 0x2190...0x2BFF, 0x3030,
      0x303D, 0x1F000...0x1FAFF:
      true
    default: false
    }
  }

  /// Returns true if the emoji at both ends of a match, if any, match as a whole.
  mutating func isWhole(
    _ folded: FoldedText, _ range: Range<Int>, in text: Bytes, isLoose: Bool
  ) -> Bool {
    (self.text, self.isLoose) = (text, isLoose)
    defer { self.text = .empty }
    let first = folded.scalars[range.lowerBound]
    if Self.mayBeEmoji(first), isContinued(before: Int(folded.offsets[range.lowerBound]), first) {
      return false
    }
    let last = folded.scalars[range.upperBound - 1]
    if Self.mayBeEmoji(last), isContinued(behind: Int(folded.offsets[range.upperBound - 1]), last) {
      return false
    }
    return true
  }

  /// Returns true if the scalar at an offset continues what precedes it.
  private mutating func isContinued(before offset: Int, _ scalar: UInt32) -> Bool {
    if Self.indicators.contains(scalar) {
      counted.before = indicatorCount(before: offset, counted.before)
      return counted.before.count % 2 == 1
    }
    if Self.tones.contains(scalar) || scalar == Self.keycap { return offset > 0 }
    guard let (joiner, start) = previous(offset), joiner == Self.joiner else { return false }
    // Some scripts have joiners, too: only what follows an emoji belongs to it.
    var end = start
    while let (scalar, start) = previous(end) {
      switch scalar {
      case 0xFE00...0xFE0F, Self.tones, Self.keycap: end = start
      default: return Self.mayBeJoined(scalar)
      }
    }
    return false
  }

  /// Returns true for a scalar that a joiner may connect with others.
  private static func mayBeJoined(_ scalar: UInt32) -> Bool { scalar > 0x39 && mayBeEmoji(scalar) }

  /// Returns true if what follows the scalar at an offset continues it.
  private mutating func isContinued(behind offset: Int, _ scalar: UInt32) -> Bool {
    var end = offset + text.scalar(at: offset).byteCount
    if Self.indicators.contains(scalar) {
      guard end < text.count, Self.indicators.contains(text.scalar(at: end).scalar) else {
        return false
      }
      counted.behind = indicatorCount(before: offset, counted.behind)
      return counted.behind.count % 2 == 0
    }
    while end < text.count {
      let (next, byteCount) = text.scalar(at: end)
      switch next {
      case 0xFE00...0xFE0F: break
      case Self.tones: if !isLoose { return true }
      case Self.joiner:
        guard end + byteCount < text.count else { return false }
        return Self.mayBeJoined(scalar)
          && Self.mayBeJoined(text.scalar(at: end + byteCount).scalar)
      default: return next == Self.keycap
      }
      end += byteCount
    }
    return false
  }

  /// Returns the number of regional indicators in a row before an offset, given that of another.
  private func indicatorCount(
    before offset: Int, _ counted: (offset: Int, count: Int)
  ) -> (offset: Int, count: Int) {
    var count = 0
    var start = offset
    while let (scalar, before) = previous(start), Self.indicators.contains(scalar) {
      if start == counted.offset { return (offset, count + counted.count) }
      count += 1
      start = before
    }
    return (offset, count)
  }

  /// Returns the scalar before an offset and where it begins.
  private func previous(_ offset: Int) -> (scalar: UInt32, offset: Int)? {
    guard offset > 0 else { return nil }
    var start = offset - 1
    while start > 0, offset - start < 4, text[start] & 0xC0 == 0x80 { start -= 1 }
    let (scalar, byteCount) = text.scalar(at: start)
    return start + byteCount == offset ? (scalar, start) : (0xFFFD, offset - 1)
  }
}
