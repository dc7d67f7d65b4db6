/// An LZ4 block, decoded by the words of the format's description: slow, and sharing no code with a
/// codec.
///
/// A block is a sequence of: a token, whose halves are the number of literals and the length of a
/// match less 4; more bytes of either, as long as they are 255; the literals; the offset of the
/// match, two bytes. The last sequence ends with its literals. No bytes are a token of zero.
package struct DescribedBlock {
  /// The decoded bytes.
  package private(set) var bytes: [UInt8] = []
  /// True if an offset is zero: a match then has no bytes to repeat, and is given as zeros.
  package private(set) var hasZeroOffset = false
  /// True if the last five bytes are literals, and the last match starts at least 12 bytes before
  /// the end: the rules for encoders.
  package private(set) var keepsEndRules = true

  /// True if no rule is broken; liblz4 takes some blocks of which that does not hold.
  package var keepsAllRules: Bool { keepsEndRules && !hasZeroOffset }

  /// Nil for bytes that are no block, or one of more bytes than the limit.
  package init?(_ block: [UInt8], dictionary: [UInt8] = [], limit: Int) {
    var rest = block[...]
    var lastMatch: Range<Int>?
    while let token = rest.popFirst() {
      guard let literalCount = Self.length(Int(token >> 4), &rest), literalCount <= rest.count,
        bytes.count + literalCount <= limit
      else { return nil }
      bytes += rest.prefix(literalCount)
      rest = rest.dropFirst(literalCount)
      if rest.isEmpty {
        if bytes.isEmpty && token != 0 { return nil }
        if let lastMatch {
          keepsEndRules =
            lastMatch.lowerBound + 12 <= bytes.count && lastMatch.upperBound + 5 <= bytes.count
        }
        return
      }
      guard let low = rest.popFirst(), let high = rest.popFirst(),
        let further = Self.length(Int(token & 15), &rest)
      else { return nil }
      let offset = Int(low) | Int(high) << 8
      let end = bytes.count + further + 4
      guard offset <= bytes.count + dictionary.count, end <= limit else { return nil }
      lastMatch = bytes.count..<end
      if offset == 0 {
        hasZeroOffset = true
        bytes += Array(repeating: 0, count: further + 4)
      }
      // A match may reach into what it makes.
      while bytes.count < end {
        let index = bytes.count - offset
        bytes.append(index >= 0 ? bytes[index] : dictionary[dictionary.count + index])
      }
    }
    return nil
  }

  private static func length(_ start: Int, _ rest: inout ArraySlice<UInt8>) -> Int? {
    guard start == 15 else { return start }
    var length = start
    while let more = rest.popFirst() {
      length += Int(more)
      if more < 255 { return length }
    }
    return nil
  }
}
