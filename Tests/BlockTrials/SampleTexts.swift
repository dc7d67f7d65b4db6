package import Simulation

/// Texts that compress like those of messages, or not at all, and dictionaries for them.
package enum SampleTexts {
  private static let words = [
    "the ", "you ", "and ", "that ", "it's ", "I ", "to ", "is ", "what ", "of ", "in ", "for ",
    "installed ", "package ", "kernel ", "does anybody know ", "thanks", "ok", "?", ".\n", "... ",
    "apt-get install ", "https://", "example.org/", "problem ", "with ", "sound ", "works ",
    "はい、", "그래요 ", "ça ", "größer ", "🙂",
  ]

  /// A text of words, common ones more often, with numbers and noise between them.
  package static func words(_ random: inout SeededRandom, byteCount: Int) -> [UInt8] {
    var text: [UInt8] = []
    while text.count < byteCount {
      switch random.below(24) {
      case 0: text += Array(String(random.below(100_000)).utf8)
      case 1: text += noise(&random, byteCount: random.below(9))
      case 2 where !text.isEmpty:
        // A quotation.
        let start = random.below(text.count)
        text += text[start..<min(text.count, start + random.below(200))]
      case 3 where random.once(in: 20):
        text += Array(repeating: UInt8(ascii: "="), count: random.below(400))
      default: text += Array(words[random.below(1 + random.below(words.count))].utf8)
      }
    }
    return Array(text.prefix(byteCount))
  }

  /// Bytes that do not repeat.
  package static func noise(_ random: inout SeededRandom, byteCount: Int) -> [UInt8] {
    (0..<byteCount).map { _ in UInt8(truncatingIfNeeded: random.next() >> 32) }
  }

  /// A text of any kind, mostly of words and short.
  package static func any(_ random: inout SeededRandom) -> [UInt8] {
    let limits = [20, 64, 300, 300, 1000, 5000]
    let byteCount = random.below(limits[random.below(limits.count)] + 1)
    switch random.below(8) {
    case 0: return noise(&random, byteCount: byteCount)
    case 1:
      // Few letters: matches that overlap themselves.
      return (0..<byteCount).map { _ in UInt8(random.below(2)) }
    default: return words(&random, byteCount: byteCount)
    }
  }

  /// Changes a block a little, in the ways that matter to its lengths and offsets.
  package static func damage(_ block: [UInt8], _ random: inout SeededRandom) -> [UInt8] {
    var block = block
    for _ in 0..<1 + random.below(3) where !block.isEmpty {
      let index = random.below(block.count)
      switch random.below(5) {
      case 0: block[index] ^= 1 << UInt8(random.below(8))
      case 1: block[index] = [0, 1, 0x0F, 0xF0, 0xFF][random.below(5)]
      case 2: block.remove(at: index)
      case 3: block.insert(UInt8(random.below(256)), at: index)
      default: block.removeLast(min(block.count, random.below(12)))
      }
    }
    return block
  }
}
