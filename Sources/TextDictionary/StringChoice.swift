import PageFile

/// Selects those of the allowed strings that save the most in a dictionary.
///
/// The savings of a string depend on the other strings chosen. Where a longer one matches, the
/// shorter is not needed; where the longer one finds no room, its uses fall to the rest. The sample
/// is therefore divided into strings twice: first by all allowed strings, then by those that
/// survived the first selection. Each use of a string saves its length less the three bytes of a
/// match. Strings are ranked by their savings per byte of their own.
struct StringChoice {
  /// A string of the dictionary, given by one of its positions in the sample.
  struct Choice {
    let position: Int
    let byteCount: Int
    var savedByteCount: Int

    /// Returns true if this string ranks above another.
    ///
    /// Ties are broken by position, so that the order is total.
    func isBetter(than other: Choice) -> Bool {
      let mine = savedByteCount * (other.byteCount + 1)
      let theirs = other.savedByteCount * (byteCount + 1)
      return mine == theirs ? position < other.position : mine > theirs
    }
  }

  private(set) var choices: [Choice] = []

  /// The bytes of an LZ4 match: its offset and its share of a token.
  private static let matchByteCount = 3

  /// Creates the choice of all strings used when each text is divided into the longest common
  /// strings.
  init(
    _ lengths: consuming [UInt8], order: borrowing SuffixOrder, sample: borrowing TextSample
  ) {
    for message in 0..<sample.messageCount {
      Self.keepUsed(&lengths, in: sample.range(of: message))
    }
    // Equal strings are neighbours once longer strings with the same prefix are skipped.
    var counts = [Int](repeating: 0, count: DictionaryBuilder.maximumStringByteCount + 1)
    var places = counts
    var active: UInt64 = 0
    for index in 0...order.positions.count {
      let shared = index < order.positions.count ? Int(order.sharedByteCounts[index]) : 0
      while active >> UInt64(shared + 1) != 0 {
        let byteCount = 63 - active.leadingZeroBitCount
        let saved = counts[byteCount] * (byteCount - Self.matchByteCount)
        choices.append(
          Choice(position: places[byteCount], byteCount: byteCount, savedByteCount: saved))
        counts[byteCount] = 0
        active &= ~(1 << UInt64(byteCount))
      }
      guard index < order.positions.count else { break }
      let position = Int(order.positions[index])
      let byteCount = Int(lengths[position])
      guard byteCount > 0 else { continue }
      counts[byteCount] += 1
      places[byteCount] = position
      active |= 1 << UInt64(byteCount)
    }
  }

  /// Walks a text one longest string at a time and clears all other lengths.
  ///
  /// Skips a byte if the next string is longer, as LZ4 does in high compression.
  private static func keepUsed(_ lengths: inout [UInt8], in range: Range<Int>) {
    var position = range.lowerBound
    while position < range.upperBound {
      let length = lengths[position]
      if length == 0 {
        position += 1
      } else if position + 1 < range.upperBound && lengths[position + 1] > length {
        lengths[position] = 0
        position += 1
      } else {
        for covered in position + 1..<position + Int(length) { lengths[covered] = 0 }
        position += Int(length)
      }
    }
  }

  /// Keeps the strings that save the most in a dictionary of at most `maximumByteCount` bytes.
  ///
  /// The first cut keeps twice as much, because the uses of a dropped string fall to those that
  /// stay.
  mutating func keepBest(maximumByteCount: Int, sample: borrowing TextSample) {
    cut(to: maximumByteCount * 2)
    count(in: sample)
    cut(to: maximumByteCount)
  }

  /// Counts what each string saves if only these strings exist, and drops strings contained in
  /// others.
  private mutating func count(in sample: borrowing TextSample) {
    sort(isByLength: true)
    var index = StringIndex()
    choices.removeAll { choice in
      let string = sample.bytes.slice(choice.position, choice.byteCount)
      if index.longestMatch(string).byteCount == choice.byteCount { return true }
      index.add(string)
      return false
    }
    for index in choices.indices { choices[index].savedByteCount = 0 }
    for message in 0..<sample.messageCount {
      countUses(sample.bytes, sample.range(of: message), index)
    }
  }

  /// Adds the savings in one text to each string.
  private mutating func countUses(
    _ bytes: Bytes, _ range: Range<Int>, _ index: borrowing StringIndex
  ) {
    var position = range.lowerBound
    var match = index.longestMatch(bytes.slice(position, range.upperBound - position))
    while position < range.upperBound {
      let next =
        position + 1 < range.upperBound
        ? index.longestMatch(bytes.slice(position + 1, range.upperBound - position - 1))
        : StringIndex.Match()
      if match.byteCount == 0 || next.byteCount > match.byteCount {
        position += 1
        match = next
      } else {
        choices[match.string].savedByteCount += match.byteCount - Self.matchByteCount
        position += match.byteCount
        match = index.longestMatch(bytes.slice(position, range.upperBound - position))
      }
    }
  }

  /// Sorts the best strings first, or the longest ones.
  @inline(never)
  private mutating func sort(isByLength: Bool) {
    choices.sort {
      isByLength && $0.byteCount != $1.byteCount
        ? $0.byteCount > $1.byteCount : $0.isBetter(than: $1)
    }
  }

  /// Sorts the best strings first and drops those that do not fit.
  private mutating func cut(to maximumByteCount: Int) {
    sort(isByLength: false)
    var room = maximumByteCount
    choices.removeAll { choice in
      guard choice.savedByteCount > 0, room > choice.byteCount else { return true }
      room -= choice.byteCount + 1
      return false
    }
  }

  /// Returns the strings, each followed by a separator, the best one last.
  ///
  /// In fast mode, LZ4 best remembers what it saw last.
  func dictionary(_ sample: borrowing TextSample) -> ByteBuffer {
    var result = ByteBuffer(capacity: DictionaryBuilder.maximumDictionaryByteCount)
    for choice in choices.reversed() {
      result.append(sample.bytes.slice(choice.position, choice.byteCount))
      result.append(TextSample.separator)
    }
    return result
  }
}
