/// The fast search for matches in a single text.
///
/// One place is remembered for each hash of four bytes, and the first match is taken.
///
/// The more places in succession have no match, the more are passed over, so what does not compress
/// takes little time.
@safe
struct FastSearch {
  /// The table takes 32 KiB.
  static let tableBits = 13
  static let tableCount = 1 << tableBits

  let window: Window
  /// The places by their hashes, each plus one; zeros at the beginning.
  let table: UnsafeMutableBufferPointer<UInt32>

  /// Writes the text as a block; returns its size, or 0 if there is no room.
  func encode(to target: MutableWindow) -> Int {
    var writer = SequenceWriter(window, to: target)
    let end = window.count
    let (lastStart, lastEnd) = (end &- Matches.startMargin, end &- Matches.endMargin)
    var anchor = 0
    var place = 0
    var stepCount = 64
    while place <= lastStart {
      // Unsafe: at least 12 bytes follow.
      let word = unsafe window.word64(at: place)
      let entry = replace(Matches.hash(word, 4, Self.tableBits), with: place)
      let distance = place &+ 1 &- Int(entry)
      guard entry > 0, distance <= Matches.maximumDistance,
        unsafe window.word32(at: place &- distance) == UInt32(truncatingIfNeeded: word)
      else {
        place &+= stepCount &>> 6
        stepCount &+= 1
        continue
      }
      let matchEnd = Matches.end(window, place &+ 4, distance, limit: lastEnd)
      var matchStart = place
      while matchStart > anchor && matchStart > distance,
        unsafe window.byte(at: matchStart &- 1) == window.byte(at: matchStart &- 1 &- distance)
      {
        matchStart &-= 1
      }
      guard
        writer.append(
          literals: anchor, matchStart &- anchor, distance: distance,
          matchCount: matchEnd &- matchStart)
      else { return 0 }
      place = matchEnd
      anchor = matchEnd
      stepCount = 64
      // Unsafe: at least eight bytes follow the place two before, which has at least five behind
      // it.
      if place <= lastStart {
        let word = unsafe window.word64(at: place &- 2)
        _ = replace(Matches.hash(word, 4, Self.tableBits), with: place &- 2)
      }
    }
    return writer.appendLast(literals: anchor, end &- anchor) ? writer.byteCount : 0
  }

  /// Remembers a place; returns the entry that it replaces.
  @inline(__always)
  private func replace(_ index: Int, with place: Int) -> UInt32 {
    // Unsafe: a hash is below the size of the table.
    let entry = unsafe table[index]
    unsafe table[index] = UInt32(truncatingIfNeeded: place &+ 1)
    return entry
  }
}
