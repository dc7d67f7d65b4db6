import PageFile

/// An index of strings that finds the longest piece of any of them with which a text begins.
///
/// A table of the positions where leading bytes occur, as in LZ4. Like LZ4 it examines a limited
/// number of them, so strings that all begin alike take no longer than others. A match tells how
/// useful a string is, never whether it is allowed.
struct StringIndex: ~Copyable {
  /// A piece of a string, by the string's number; has no bytes if nothing was found.
  struct Match {
    var string = 0
    var byteCount = 0
  }

  /// The maximum number of positions examined for one match.
  private static let maximumStepCount = 64

  private var content = ByteBuffer()
  /// For each position in `content`: the previous one with the same hash, and its string.
  private var earlier: [Int32] = []
  private var strings: [UInt32] = []
  private var newest = [Int32](repeating: -1, count: 1 << 16)
  private var stringCount: UInt32 = 0

  mutating func add(_ string: Bytes) {
    let start = content.count
    content.append(string)
    content.append(TextSample.separator)
    for place in start..<content.count {
      strings.append(stringCount)
      earlier.append(-1)
      guard place + DictionaryBuilder.stringByteCountMin < content.count else { continue }
      let hash = Self.hash(content.bytes, place)
      earlier[place] = newest[hash]
      newest[hash] = Int32(place)
    }
    stringCount += 1
  }

  /// Returns the longest piece with which the text begins.
  borrowing func longestMatch(_ text: Bytes) -> Match {
    var match = Match()
    guard text.count >= DictionaryBuilder.stringByteCountMin else { return match }
    var place = Int(newest[Self.hash(text, 0)])
    var stepCount = 0
    while place >= 0 && stepCount < Self.maximumStepCount {
      let room = min(content.count - place, DictionaryBuilder.maximumStringByteCount)
      let byteCount = content.bytes.slice(place, room).sharedPrefixByteCount(with: text)
      if byteCount > match.byteCount {
        match = Match(string: Int(strings[place]), byteCount: byteCount)
      }
      place = Int(earlier[place])
      stepCount += 1
    }
    return match.byteCount < DictionaryBuilder.stringByteCountMin ? Match() : match
  }

  private static func hash(_ bytes: Bytes, _ offset: Int) -> Int {
    let word = UInt64(bytes.uint32(at: offset)) | UInt64(bytes[offset + 4]) << 32
    return Int(truncatingIfNeeded: (word &* 0x9E37_79B9_7F4A_7C15) >> 48)
  }
}
