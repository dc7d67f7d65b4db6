import PageFile

/// All positions of a sample, ordered by the bytes that follow: frequent strings are runs of
/// neighbours.
///
/// A suffix array cut off at 48 bytes. Chat text makes it cheap, since few strings are equal for
/// longer than two words. Positions are divided by their first two bytes, then ordered eight bytes
/// at a time. Only runs that are still long enough to matter are examined further.
///
/// 1. No string extends beyond the end of its message.
/// 2. `sharedByteCounts` holds the number of bytes with which two neighbours both begin, at most
///    48. It may be lower where no 8 positions share more.
struct SuffixOrder: ~Copyable {
  /// The beginnings of the strings, in order.
  ///
  /// The ends of messages, which are too short for a string, are left out.
  private(set) var positions: [UInt32] = []
  /// The number of bytes that each position shares with the one before it.
  private(set) var sharedByteCounts: [UInt8] = []

  private static let groupCountMin = DictionaryBuilder.messageCountMin
  private static let maximumDepth = DictionaryBuilder.maximumStringByteCount

  init(_ sample: borrowing TextSample) {
    let starts = divide(sample)
    var entries = [Entry](
      repeating: Entry(), count: zip(starts, starts.dropFirst()).map { $1 - $0 }.max() ?? 0)
    for (start, end) in zip(starts, starts.dropFirst()) where end - start >= Self.groupCountMin {
      order(start..<end, depth: 0, base: start, bytes: sample.bytes, entries: &entries)
    }
  }

  /// Sorts the positions by their first two bytes and returns the start of each pair's run.
  private mutating func divide(_ sample: borrowing TextSample) -> [Int] {
    let bytes = sample.bytes
    var starts = [Int](repeating: 0, count: 1 << 16 + 1)
    Self.forEachPosition(of: sample) { starts[Self.pair(bytes, $0) + 1] += 1 }
    for pair in 1..<starts.count { starts[pair] += starts[pair - 1] }
    positions = [UInt32](repeating: 0, count: starts[1 << 16])
    sharedByteCounts = [UInt8](repeating: 0, count: positions.count)
    var next = starts
    Self.forEachPosition(of: sample) { position in
      let pair = Self.pair(bytes, position)
      positions[next[pair]] = UInt32(position)
      next[pair] += 1
    }
    return starts
  }

  private static func pair(_ bytes: Bytes, _ position: Int) -> Int {
    Int(bytes[position]) << 8 | Int(bytes[position + 1])
  }

  private static func forEachPosition(of sample: borrowing TextSample, _ body: (Int) -> Void) {
    for message in 0..<sample.messageCount {
      let range = sample.range(of: message)
      var position = range.lowerBound
      while position + DictionaryBuilder.stringByteCountMin <= range.upperBound {
        body(position)
        position += 1
      }
    }
  }

  /// Orders a run of positions that share `depth` bytes.
  ///
  /// `base` is the index in `positions` of the first of `entries`.
  private mutating func order(
    _ range: Range<Int>, depth: Int, base: Int, bytes: Bytes, entries: inout [Entry]
  ) {
    for index in range {
      let position = positions[index]
      entries[index - base] = Entry(Self.word(bytes, Int(position) + depth), position)
    }
    Entry.sort(&entries, range.lowerBound - base, range.upperBound - base)
    for index in range { positions[index] = entries[index - base].position }
    var start = range.lowerBound
    while start < range.upperBound {
      let word = entries[start - base].word
      var end = start + 1
      while end < range.upperBound && entries[end - base].word == word { end += 1 }
      if end < range.upperBound {
        let difference = word ^ entries[end - base].word
        sharedByteCounts[end] = UInt8(
          min(depth + difference.leadingZeroBitCount / 8, Self.maximumDepth))
      }
      // A text that ends within the word ends the shared bytes, rule 1.
      let shared = min(depth + Self.textByteCount(of: word), Self.maximumDepth)
      for index in start + 1..<max(end, start + 1) { sharedByteCounts[index] = UInt8(shared) }
      if end - start >= Self.groupCountMin && shared == depth + 8 && shared < Self.maximumDepth {
        order(start..<end, depth: shared, base: base, bytes: bytes, entries: &entries)
      }
      start = end
    }
  }

  /// Returns the eight bytes at a position as a number with the same order, filled with ones from
  /// the end of the text on.
  private static func word(_ bytes: Bytes, _ position: Int) -> UInt64 {
    let byteCount = min(8, bytes.count - position)
    // The bytes after the sample follow its last separator, so they never count.
    let word = bytes.bigEndianHead(at: position, byteCount: byteCount)
    let textByteCount = textByteCount(of: word)
    return textByteCount == 8 ? word : word | ~0 >> UInt64(textByteCount * 8)
  }

  /// Returns the number of bytes in a word before the first separator.
  private static func textByteCount(of word: UInt64) -> Int {
    // Finds the first zero byte of the complement. A borrow only propagates upwards, so search from
    // below.
    let swapped = ~word.byteSwapped
    let marks = (swapped &- 0x0101_0101_0101_0101) & ~swapped & 0x8080_8080_8080_8080
    return marks == 0 ? 8 : marks.trailingZeroBitCount / 8
  }
}

/// A position and the eight bytes by which it is being ordered.
private struct Entry {
  var word: UInt64
  var position: UInt32

  init(_ word: UInt64 = 0, _ position: UInt32 = 0) {
    self.word = word
    self.position = position
  }

  /// Sorts by three-way quicksort, since most words occur more than once.
  ///
  /// Recursion takes the smaller outer part and therefore stays shallow. The pivot depends on the
  /// entries alone, so equal samples are ordered alike.
  static func sort(_ entries: inout [Entry], _ start: Int, _ end: Int) {
    var start = start
    var end = end
    while end - start > 12 {
      let pivot = median(
        entries[start].word, entries[start + (end - start) / 2].word, entries[end - 1].word)
      var below = start
      var index = start
      var above = end
      while index < above {
        let word = entries[index].word
        if word < pivot {
          entries.swapAt(index, below)
          below += 1
          index += 1
        } else if word > pivot {
          above -= 1
          entries.swapAt(index, above)
        } else {
          index += 1
        }
      }
      if below - start < end - above {
        sort(&entries, start, below)
        start = above
      } else {
        sort(&entries, above, end)
        end = below
      }
    }
    var next = start + 1
    while next < end {
      let entry = entries[next]
      var index = next
      while index > start && entries[index - 1].word > entry.word {
        entries[index] = entries[index - 1]
        index -= 1
      }
      entries[index] = entry
      next += 1
    }
  }

  private static func median(_ a: UInt64, _ b: UInt64, _ c: UInt64) -> UInt64 {
    max(min(a, b), min(max(a, b), c))
  }
}
