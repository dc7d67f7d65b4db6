import MsgStore
import PageFile

/// Decompresses blocks that anybody may have made.
///
///  1. A block gives exactly as many bytes as were asked for, or none.
///  2. They are those that the description of the format says.
enum CompressedText {
  static func run(_ input: inout FuzzInput) throws(BrokenPromise) {
    let byteCount = Int(input.number() & 0x3F_FFFF)
    let block = input.rest()
    var buffer = ByteBuffer()
    let isTaken = Bytes.with(block) { block in
      TextCompression.decompress(block, byteCount: byteCount, to: &buffer)
    }
    try promise(buffer.count == (isTaken ? byteCount : 0), "a block gives too much or too little")
    if isTaken {
      try promise(
        decoded(block, limit: byteCount) == buffer.bytes.array(), "a block gives something else")
    }
    // The right length for what it is, which the input hardly ever hits.
    guard let expected = decoded(block, limit: 1 << 16) else { return }
    var again = ByteBuffer()
    let isTakenAgain = Bytes.with(block) { block in
      TextCompression.decompress(block, byteCount: expected.count, to: &again)
    }
    try promise(!isTakenAgain || again.bytes.array() == expected, "a block gives something else")
  }

  /// What a block decompresses to by the description of the format; nil when it is none, or more
  /// than the limit.
  ///
  /// A block is a sequence of: a token, whose halves are the number of literals and the length of a
  /// match less 4; more bytes of either, as long as they are 255; the literals; the offset of the
  /// match, two bytes. The last sequence ends with its literals.
  private static func decoded(_ block: [UInt8], limit: Int) -> [UInt8]? {
    var result: [UInt8] = []
    var rest = block[...]
    while let token = rest.popFirst() {
      guard let literalCount = length(Int(token >> 4), &rest), literalCount <= rest.count,
        result.count + literalCount <= limit
      else { return nil }
      result += rest.prefix(literalCount)
      rest = rest.dropFirst(literalCount)
      if rest.isEmpty { return result }
      guard let low = rest.popFirst(), let high = rest.popFirst(),
        let matchCount = length(Int(token & 15), &rest)
      else { return nil }
      let offset = Int(low) | Int(high) << 8
      guard offset > 0, offset <= result.count, result.count + matchCount + 4 <= limit else {
        return nil
      }
      // A match may reach into what it makes.
      for _ in 0..<matchCount + 4 { result.append(result[result.count - offset]) }
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
