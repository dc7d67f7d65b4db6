/// The search for the matches of a text.
///
/// At each place the longest match of a few candidates is taken, unless the next place has a longer
/// one. The candidates are looked up and compared without a branch, as a mispredicted one costs
/// more than all of them: the last place in the text with the same four bytes, and three places in
/// the dictionary; without one, another place in the text.
///
/// An entry of a table may be of a text that has been cut since. It is compared like any other, and
/// taken only if it lies before the place.
@safe
struct MatchSearch {
  static let tableBits = 11
  static let tableCount = 1 << tableBits
  /// A match from which on the next place is not looked at.
  private static let goodByteCount = 16

  /// The dictionary, and the text behind it.
  let window: Window
  /// The tables of the dictionary; nil without one.
  let dictionary: DictionaryTables?
  /// The places of the text by the hashes of their first four bytes.
  let four: UnsafeMutableBufferPointer<UInt32>
  /// The places of the text by the hashes of their first six bytes; used without a dictionary.
  let six: UnsafeMutableBufferPointer<UInt32>

  /// Appends the matches from a place on, until the block has more than `limit` bytes.
  ///
  /// Returns the place up to which all matches were found: the end, or less if the limit is passed.
  ///
  /// - Parameter byteCount: The size of the block up to `anchor`, where the last match ends.
  func append(
    to matches: inout [Match], from start: Int, anchor: Int, byteCount: Int, limit: Int
  ) -> Int {
    var (anchor, place, byteCount) = (anchor, start, byteCount)
    let lastStart = window.count &- Matches.startMargin
    while place <= lastStart {
      var (matchPlace, match) = (place, longest(at: place))
      guard match.count >= 4 else {
        place &+= 1
        continue
      }
      while matchPlace < lastStart, match.count < Self.goodByteCount {
        let later = longest(at: matchPlace &+ 1)
        place = matchPlace &+ 1
        if later.count <= match.count { break }
        (matchPlace, match) = (place, later)
      }
      // Unsafe: both places are at least one.
      while matchPlace > anchor, matchPlace > match.distance,
        unsafe window.byte(at: matchPlace &- 1)
          == window.byte(at: matchPlace &- 1 &- match.distance)
      {
        matchPlace &-= 1
        match.count &+= 1
      }
      matches.append(
        Match(
          place: matchPlace, count: match.count, distance: match.distance,
          byteCountBefore: byteCount))
      byteCount &+= Match.byteCount(literals: matchPlace &- anchor, match: match.count)
      if byteCount > limit { return matchPlace }
      anchor = matchPlace &+ match.count
      // Every second place will do: matches are extended downwards, too.
      place &+= 1
      while place < min(anchor, lastStart &+ 1) {
        remember(place)
        place &+= 2
      }
      place = anchor
    }
    return window.count
  }

  /// Returns the longest of the matches at a place, of fewer than four bytes if there is none, and
  /// remembers the place.
  @inline(__always)
  private func longest(at place: Int) -> (count: Int, distance: Int) {
    // Unsafe: at least 12 bytes follow; a hash is below the size of its table.
    let word = unsafe window.word64(at: place)
    let entry = UInt32(truncatingIfNeeded: place)
    let index = Matches.hash(word, 4, Self.tableBits)
    var best = Int(unsafe four[index])
    unsafe four[index] = entry
    var count = sharedByteCount(word, place, best)
    @inline(__always) func consider(_ other: Int) {
      let otherCount = sharedByteCount(word, place, other)
      best = otherCount > count ? other : best
      count = max(count, otherCount)
    }
    if let dictionary {
      consider(dictionary.placeOfFour(word))
      consider(dictionary.placeOfSix(word))
      consider(dictionary.placeOfEight(word))
    } else {
      let index = Matches.hash(word, 6, Self.tableBits)
      consider(Int(unsafe six[index]))
      unsafe six[index] = entry
    }
    let limit = window.count &- Matches.endMargin
    let distance = place &- best
    if count == 8 {
      count = Matches.end(window, place &+ 8, distance, limit: limit) &- place
    }
    return (min(count, limit &- place), distance)
  }

  /// Returns the number of bytes, up to eight, that a place shares with an earlier one; 0 if the
  /// other place is not earlier, or too far away.
  @inline(__always)
  private func sharedByteCount(_ word: UInt64, _ place: Int, _ other: Int) -> Int {
    let isNear = UInt(bitPattern: place &- other &- 1) < UInt(Matches.maximumDistance)
    // Unsafe: a place that is not earlier may lie behind the end; then the place itself is read.
    let difference = unsafe word ^ window.word64(at: isNear ? other : place)
    return isNear ? difference.trailingZeroBitCount &>> 3 : 0
  }

  @inline(__always)
  private func remember(_ place: Int) {
    // Unsafe: at least 12 bytes follow; a hash is below the size of its table.
    let word = unsafe window.word64(at: place)
    unsafe four[Matches.hash(word, 4, Self.tableBits)] = UInt32(truncatingIfNeeded: place)
    if case .none = dictionary {
      unsafe six[Matches.hash(word, 6, Self.tableBits)] = UInt32(truncatingIfNeeded: place)
    }
  }
}
