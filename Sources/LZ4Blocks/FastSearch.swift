/// The fast search for matches: one place is remembered for each hash, and the first match is
/// taken.
///
/// The more places in succession have no match, the more are passed over, so what does not compress
/// takes little time.
///
/// With a dictionary many places have the same four bytes, of which the newest is remembered: five
/// are hashed then, for longer matches. Without one, that would only find fewer.
@safe
struct FastSearch {
  // The table takes 32 KiB. With half of it, blocks with a dictionary are a twentieth larger.
  static let tableBits = 13
  static let tableCount = 1 << tableBits

  /// A dictionary, or nothing, and the text behind it.
  let window: Window
  /// The offset of the text in the window.
  let start: Int
  /// The places by their hashes, each plus `base`.
  let table: UnsafeMutableBufferPointer<UInt32>
  /// The number added to places: entries of earlier texts lie too far back to be taken.
  let base: UInt32
  /// The number of bytes at a place that are hashed, 4 or 5.
  let hashedByteCount: Int

  /// Writes the text as a block; returns its size, or 0 if there is no room.
  func encode(to target: MutableWindow) -> Int {
    var writer = SequenceWriter(window, to: target)
    let end = window.count
    let (lastStart, lastEnd) = (end &- Matches.startMargin, end &- Matches.endMargin)
    var anchor = start
    var place = start
    var stepCount = 64
    while place <= lastStart {
      // Unsafe: at least 12 bytes follow.
      let word = unsafe window.word64(at: place)
      let entry = replace(hash(word), with: place)
      let distance = Int(base &+ UInt32(truncatingIfNeeded: place) &- entry)
      guard distance <= Matches.maximumDistance,
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
        _ = unsafe replace(hash(window.word64(at: place &- 2)), with: place &- 2)
      }
    }
    return writer.appendLast(literals: anchor, end &- anchor) ? writer.byteCount : 0
  }

  /// Remembers every third place of a dictionary.
  func learn() {
    var place = 0
    while place &+ 8 <= window.count {
      // Unsafe: eight bytes are there.
      _ = unsafe replace(hash(window.word64(at: place)), with: place)
      place &+= 3
    }
  }

  /// Remembers a place; returns the entry that it replaces.
  @inline(__always)
  private func replace(_ index: Int, with place: Int) -> UInt32 {
    // Unsafe: a hash is below the size of the table.
    let entry = unsafe table[index]
    unsafe table[index] = base &+ UInt32(truncatingIfNeeded: place)
    return entry
  }

  /// Mixes the first bytes of a word.
  @inline(__always)
  private func hash(_ word: UInt64) -> Int {
    let bytes = word &<< UInt64(truncatingIfNeeded: 64 &- 8 &* hashedByteCount)
    return Int(truncatingIfNeeded: (bytes &* 0x9E37_79B9_7F4A_7C15) &>> UInt64(64 - Self.tableBits))
  }
}
