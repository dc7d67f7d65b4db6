/// The terms that the workloads search for, drawn from the corpus.
struct SearchTerms {
  /// Words of the most frequent.
  var common: [String] = []
  /// Words that one message in a thousand has.
  var rare: [String] = []
  /// The same for the messages of the huge thread.
  var rareInConversation: [String] = []
  /// Two rare words in one, of which those are kept that occur nowhere.
  var absent: [String] = []
  /// Parts of texts of 1 to 12 characters.
  var drawn: [String] = []

  /// The number of terms of each kind, and of parts of texts.
  private static let kindCount = 4
  private static let drawnCount = 100
  private static let lengths = 5...10

  var all: [String] { common + rare + rareInConversation + absent + drawn }

  init(_ corpus: any Corpus, messageCount: Int, conversation: Int, seed: UInt64) {
    var generator = SeededGenerator(seed: seed &+ 19)
    let share = Double(Self.drawnCount) / Double(messageCount)
    var whole = WordCounts()
    var thread = WordCounts()
    var stream = corpus.makeStream()
    for _ in 0..<messageCount {
      let message = stream.next()
      whole.add(message.text)
      if message.conversation == conversation { thread.add(message.text) }
      if generator.chance(share), let part = Self.part(of: message.text, &generator) {
        drawn.append(part)
      }
    }
    common = whole.words(near: .max, count: Self.kindCount)
    rare = whole.words(near: messageCount / 1_000, count: Self.kindCount)
    rareInConversation = thread.words(near: thread.textCount / 1_000, count: Self.kindCount)
    absent = zip(rare, rare.dropFirst() + rare.prefix(1)).map { $0 + $1 }
  }

  /// Returns a part of a text; nil if it has a character that engines understand in other ways than
  /// as itself: a blank, a quote, an emoji, a mark.
  private static func part(of text: String, _ generator: inout SeededGenerator) -> String? {
    let characters = Array(text)
    guard !characters.isEmpty else { return nil }
    let start = generator.index(below: characters.count)
    let end = min(characters.count, start + 1 + generator.index(below: 12))
    let part = characters[start..<end]
    let isPlain = part.allSatisfy { character in
      character.unicodeScalars.count == 1
        && character.unicodeScalars.allSatisfy { scalar in
          scalar.properties.isAlphabetic || scalar.properties.numericType != nil
            || "@#/:.,-_!?%".unicodeScalars.contains(scalar)
        }
    }
    return isPlain ? String(part) : nil
  }

  /// The number of texts with each word of ASCII letters.
  private struct WordCounts {
    private var counts: [String: Int] = [:]
    private(set) var textCount = 0

    mutating func add(_ text: String) {
      textCount += 1
      var words: Set<String> = []
      for word in text.utf8.split(whereSeparator: { !Self.isLetter($0) })
      where SearchTerms.lengths.contains(word.count) {
        words.insert(String(decoding: word.map { $0 | 0x20 }, as: UTF8.self))
      }
      for word in words { counts[word, default: 0] += 1 }
    }

    private static func isLetter(_ byte: UInt8) -> Bool { (0x61...0x7A).contains(byte | 0x20) }

    /// Returns the words whose counts are nearest to a number.
    func words(near wanted: Int, count: Int) -> [String] {
      counts.sorted {
        (($0.value - wanted).magnitude, $0.key) < (($1.value - wanted).magnitude, $1.key)
      }.prefix(count).map(\.key)
    }
  }
}
