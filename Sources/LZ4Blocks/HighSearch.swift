/// The thorough search for matches: all places with the same hash form a chain, newest first, and
/// the longest match of some is taken, unless the next place has a longer one.
///
/// The chain of a dictionary is made once. The chain of a text goes on in it, but does not change
/// it.
@safe
struct HighSearch {
  static let tableBits = 15
  static let tableCount = 1 << tableBits
  /// The number of places that are looked at for a match: twice as many as liblz4 looks at in its
  /// level 4, which looks for better neighbours instead.
  static let attemptCount = 32

  /// A dictionary, or nothing, and the text behind it.
  let window: Window
  /// The offset of the text in the window.
  let start: Int
  /// The newest places of the text by their hashes, each plus `base`.
  let heads: UnsafeMutableBufferPointer<UInt32>
  /// The newest places of the dictionary by their hashes, each plus one.
  let dictionaryHeads: UnsafeMutableBufferPointer<UInt16>
  /// The distance from each place to the next older one with its hash, or 0.
  let links: UnsafeMutableBufferPointer<UInt16>
  /// The number added to places: entries of earlier texts lie too far back to be taken.
  let base: UInt32

  private struct Match {
    var place: Int
    var distance = 0
    var count = 3
  }

  /// Writes the text as a block; returns its size, or 0 if there is no room.
  func encode(to target: MutableWindow) -> Int {
    var writer = SequenceWriter(window, to: target)
    let end = window.count
    let lastStart = end &- Matches.startMargin
    var anchor = start
    var place = start
    while place <= lastStart {
      link(place)
      var match = longest(at: place, atLeast: 3)
      guard match.count >= 4 else {
        place &+= 1
        continue
      }
      while place < lastStart {
        link(place &+ 1)
        place &+= 1
        let later = longest(at: place, atLeast: match.count)
        guard later.count > match.count else { break }
        match = later
      }
      extend(&match, downTo: anchor)
      guard
        writer.append(
          literals: anchor, match.place &- anchor, distance: match.distance,
          matchCount: match.count)
      else { return 0 }
      anchor = match.place &+ match.count
      place &+= 1
      while place < min(anchor, lastStart &+ 1) {
        link(place)
        place &+= 1
      }
      place = anchor
    }
    return writer.appendLast(literals: anchor, end &- anchor) ? writer.byteCount : 0
  }

  /// Chains the places of a dictionary, which is the whole window.
  func learn() {
    var place = 0
    while place &+ 4 <= window.count {
      // Unsafe: four bytes are there; a hash is below the size of the table, and a place of a
      // dictionary below 65,535.
      let index = unsafe Self.hash(window.word32(at: place))
      let previous = Int(unsafe dictionaryHeads[index]) &- 1
      unsafe links[place] = previous < 0 ? 0 : UInt16(truncatingIfNeeded: place &- previous)
      unsafe dictionaryHeads[index] = UInt16(truncatingIfNeeded: place &+ 1)
      place &+= 1
    }
  }

  /// Adds a place to its chain.
  @inline(__always)
  private func link(_ place: Int) {
    // Unsafe: at least 12 bytes follow; a hash is below the size of the tables.
    let index = unsafe Self.hash(window.word32(at: place))
    let entry = base &+ UInt32(truncatingIfNeeded: place)
    var distance = Int(entry &- (unsafe heads[index]))
    if distance > Matches.maximumDistance {
      let older = Int(unsafe dictionaryHeads[index])
      distance = older == 0 ? 0 : place &+ 1 &- older
      if distance > Matches.maximumDistance { distance = 0 }
    }
    unsafe links[place] = UInt16(truncatingIfNeeded: distance)
    unsafe heads[index] = entry
  }

  /// Returns the longest match at a place, if one is longer than `count`.
  @inline(__always)
  private func longest(at place: Int, atLeast count: Int) -> Match {
    var best = Match(place: place, count: count)
    let limit = window.count &- Matches.endMargin
    // Unsafe: the place and all before it have at least 12 bytes behind them; what is compared
    // behind the best match so far lies below the limit.
    let head = unsafe window.word32(at: place)
    var tail = unsafe window.word32(at: place &+ count &- 3)
    var distance = 0
    for _ in 0..<Self.attemptCount {
      let step = Int(unsafe links[place &- distance])
      distance &+= step
      if step == 0 || distance > Matches.maximumDistance { break }
      let older = place &- distance
      guard unsafe window.word32(at: older &+ best.count &- 3) == tail,
        unsafe window.word32(at: older) == head
      else { continue }
      let end = Matches.end(window, place &+ 4, distance, limit: limit)
      if end &- place > best.count {
        best.count = end &- place
        best.distance = distance
        if end == limit { break }
        tail = unsafe window.word32(at: end &- 3)
      }
    }
    return best
  }

  /// Moves the start of a match back over literals that repeat, too.
  @inline(__always)
  private func extend(_ match: inout Match, downTo anchor: Int) {
    while match.place > max(anchor, match.distance),
      unsafe window.byte(at: match.place &- 1)
        == window.byte(at: match.place &- 1 &- match.distance)
    {
      match.place &-= 1
      match.count &+= 1
    }
  }

  /// Mixes four bytes, the shortest match.
  @inline(__always)
  private static func hash(_ word: UInt32) -> Int {
    Int(truncatingIfNeeded: (word &* 0x9E37_79B1) &>> (32 &- UInt32(tableBits)))
  }
}
