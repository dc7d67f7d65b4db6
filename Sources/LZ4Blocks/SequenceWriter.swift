/// Writes the sequences of a block into limited room.
struct SequenceWriter {
  let source: Window
  let target: MutableWindow
  /// The number of bytes written.
  private(set) var byteCount = 0

  init(_ source: Window, to target: MutableWindow) {
    self.source = source
    self.target = target
  }

  /// Writes literals and the match behind them; returns false if there is no room.
  @inline(__always)
  mutating func append(
    literals start: Int, _ literalCount: Int, distance: Int, matchCount: Int
  ) -> Bool {
    let room = target.count &- byteCount
    let further = matchCount &- 4
    if literalCount < 15 && room >= 19 && start &+ 16 <= source.count {
      let token = UInt8(truncatingIfNeeded: literalCount &<< 4 | min(further, 15))
      // Unsafe: both sides have room for a vector, and the target for a token and a distance, too.
      unsafe target.store(token, at: byteCount)
      unsafe target.store(source.vector(at: start), at: byteCount &+ 1)
      byteCount &+= 1 &+ literalCount
    } else {
      guard room >= Self.byteCount(literalCount) &+ 2 else { return false }
      appendLiterals(start, literalCount, low: min(further, 15))
    }
    // Unsafe: there are two bytes left, by one comparison or the other.
    unsafe target.store(UInt16(truncatingIfNeeded: distance).littleEndian, at: byteCount)
    byteCount &+= 2
    if further < 15 { return true }
    guard target.count &- byteCount >= (further &- 15) / 255 &+ 1 else { return false }
    appendLength(further &- 15)
    return true
  }

  /// Writes the last literals, which need no match; returns false if there is no room.
  mutating func appendLast(literals start: Int, _ count: Int) -> Bool {
    guard target.count &- byteCount >= Self.byteCount(count) else { return false }
    appendLiterals(start, count, low: 0)
    return true
  }

  /// Returns the size of a token with literals.
  private static func byteCount(_ literalCount: Int) -> Int {
    1 &+ literalCount &+ (literalCount < 15 ? 0 : (literalCount &- 15) / 255 &+ 1)
  }

  private mutating func appendLiterals(_ start: Int, _ count: Int, low: Int) {
    // Unsafe: the caller has made sure of the room.
    unsafe target.store(UInt8(min(count, 15) &<< 4 | low), at: byteCount)
    byteCount &+= 1
    if count >= 15 { appendLength(count &- 15) }
    unsafe target.copy(source, at: start, to: byteCount, byteCount: count)
    byteCount &+= count
  }

  /// Writes the part of a length that has no place in the token.
  private mutating func appendLength(_ length: Int) {
    var rest = length
    while rest >= 255 {
      // Unsafe: the caller has made sure of the room.
      unsafe target.store(255 as UInt8, at: byteCount)
      byteCount &+= 1
      rest &-= 255
    }
    unsafe target.store(UInt8(truncatingIfNeeded: rest), at: byteCount)
    byteCount &+= 1
  }
}
