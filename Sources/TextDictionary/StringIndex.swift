import PageFile

/// Finds the longest piece of any of its strings that a text begins with.
///
/// A table of the places where the first bytes occur, as LZ4 has it. Like LZ4 it looks at a limited
/// number of them, so that strings which all begin alike take no longer than others; what is found
/// says how useful a string is, never whether it is allowed.
struct StringIndex: ~Copyable {
  /// A piece of a string, by its number; of no bytes when nothing was found.
  struct Match {
    var string = 0
    var byteCount = 0
  }

  /// How many places are looked at for one match.
  private static let stepCountMax = 64

  private var content = ByteBuffer()
  /// For each place of `content`: the place before it that has the same hash, and the string there.
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

  /// The longest piece that the text begins with.
  borrowing func longestMatch(_ text: Bytes) -> Match {
    var match = Match()
    guard text.count >= DictionaryBuilder.stringByteCountMin else { return match }
    var place = Int(newest[Self.hash(text, 0)])
    var stepCount = 0
    while place >= 0 && stepCount < Self.stepCountMax {
      let room = min(content.count - place, DictionaryBuilder.stringByteCountMax)
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
