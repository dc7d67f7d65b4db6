import PageFile

/// Chooses among the strings that a dictionary may hold those that save the most.
///
/// What a string saves depends on what else is chosen: where a longer one lies, the shorter is not
/// needed, and where the longer one finds no room, its uses fall to what is left. So the sample is
/// divided into strings twice: by all that the rule allows, and then by those that have survived the
/// first choice. A string is worth its uses, each of which saves its length less the three bytes of a
/// match; what fits best into little room is what saves most for each byte of its own.
struct StringChoice {
  /// A string of the dictionary, by a place in the sample where it stands.
  struct Choice {
    let position: Int
    let byteCount: Int
    var savedByteCount: Int

    /// Whether this one comes first; by place where two save the same, so that the order is total.
    func isBetter(than other: Choice) -> Bool {
      let mine = savedByteCount * (other.byteCount + 1)
      let theirs = other.savedByteCount * (byteCount + 1)
      return mine == theirs ? position < other.position : mine > theirs
    }
  }

  private(set) var choices: [Choice] = []

  /// What a match of LZ4 takes: its offset and its share of a token.
  private static let matchByteCount = 3

  /// Every string that is used when each text is divided into the longest common strings.
  init(
    _ lengths: consuming [UInt8], order: borrowing SuffixOrder, sample: borrowing TextSample
  ) {
    for message in 0..<sample.messageCount {
      Self.keepUsed(&lengths, in: sample.range(of: message))
    }
    // Equal strings are neighbours, if longer ones that begin with them are passed over.
    var counts = [Int](repeating: 0, count: DictionaryBuilder.stringByteCountMax + 1)
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

  /// Walks over a text, a longest string at a time, and leaves only the lengths of those.
  ///
  /// Steps over a byte where the next string is longer, as LZ4 does in high compression.
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

  /// Keeps what saves the most in a dictionary of at most `byteCountMax` bytes.
  ///
  /// Twice as much at first, because the uses of a string that is dropped fall to those that stay.
  mutating func keepBest(byteCountMax: Int, sample: borrowing TextSample) {
    cut(to: byteCountMax * 2)
    count(in: sample)
    cut(to: byteCountMax)
  }

  /// Counts what each string saves when nothing but these strings is there, and drops those that lie
  /// within others.
  private mutating func count(in sample: borrowing TextSample) {
    choices.sort {
      $0.byteCount == $1.byteCount ? $0.isBetter(than: $1) : $0.byteCount > $1.byteCount
    }
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

  /// Adds to each string what it would save in a text.
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

  /// Puts the best strings first and drops those for which there is no room.
  private mutating func cut(to byteCountMax: Int) {
    choices.sort { $0.isBetter(than: $1) }
    var room = byteCountMax
    choices.removeAll { choice in
      guard choice.savedByteCount > 0, room > choice.byteCount else { return true }
      room -= choice.byteCount + 1
      return false
    }
  }

  /// The strings with a separator behind each, the best one last: LZ4 in fast mode remembers best
  /// what it saw last.
  func dictionary(_ sample: borrowing TextSample) -> ByteBuffer {
    var result = ByteBuffer(capacity: DictionaryBuilder.dictionaryByteCountMax)
    for choice in choices.reversed() {
      result.append(sample.bytes.slice(choice.position, choice.byteCount))
      result.append(TextSample.separator)
    }
    return result
  }
}
