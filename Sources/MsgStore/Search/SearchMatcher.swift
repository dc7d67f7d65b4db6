package import PageFile

/// Decides whether texts match a query, with memory that is reused from text to text.
package struct SearchMatcher {
  private let terms: [SearchTerm]
  /// True if all terms are ASCII.
  private let areASCII: Bool
  /// The longest term, if all terms are ASCII.
  private let filter: ASCIITerm?
  private var loose = FoldedText()
  private var strict = FoldedText()
  private var hasLoose = false
  private var hasStrict = false
  private var emoji = EmojiCluster()

  package init(_ query: SearchQuery) {
    terms = query.terms
    areASCII = terms.allSatisfy { $0.ascii != nil }
    filter = areASCII ? terms.compactMap(\.ascii).max { $0.bytes.count < $1.bytes.count } : nil
  }

  /// Returns false if no text within some bytes can match.
  package func mayMatch(_ block: Bytes) -> Bool {
    guard let filter else { return !block.isASCII }
    return filter.mayBeFound(in: block, hiding: FoldingTable.shared.hiddenASCII(in: block))
  }

  /// Returns true if each term occurs in a text.
  package mutating func matches(_ text: Bytes) -> Bool {
    if text.isASCII {
      guard areASCII else { return false }
      for term in terms where term.ascii?.isFound(in: text) != true { return false }
      return true
    }
    guard mayMatch(text) else { return false }
    begin()
    for index in terms.indices where !contains(terms[index], text) { return false }
    return true
  }

  /// Returns true if each term occurs in a text or in one of some names.
  mutating func matches(anyOf text: Bytes, _ names: [String]) -> Bool {
    var isFound = terms.map { _ in false }
    find(in: text, &isFound)
    for name in names where isFound.contains(false) {
      Bytes.with(Array(name.utf8)) { find(in: $0, &isFound) }
    }
    return !isFound.contains(false)
  }

  /// Notes the terms that occur in a text.
  private mutating func find(in text: Bytes, _ isFound: inout [Bool]) {
    begin()
    for index in terms.indices where !isFound[index] {
      isFound[index] = contains(terms[index], text)
    }
  }

  /// Returns true if a message matches by its text and its file names.
  mutating func matches(_ message: Message) -> Bool {
    Bytes.with(Array(message.text.utf8)) { text in
      matches(anyOf: text, message.attachments.compactMap(\.fileName))
    }
  }

  private mutating func begin() {
    (hasLoose, hasStrict) = (false, false)
    emoji.reset()
  }

  private mutating func contains(_ term: SearchTerm, _ text: Bytes) -> Bool {
    next(term, in: text, from: 0) != nil
  }

  /// Returns the next range of folded scalars at which a term occurs in a text.
  private mutating func next(
    _ term: SearchTerm, in text: Bytes, from start: Int
  ) -> Range<Int>? {
    prepare(term, text)
    let folded = term.isLoose ? loose : strict
    var start = start
    while let range = term.next(in: folded, from: start) {
      if emoji.isWhole(folded, range, in: text, isLoose: term.isLoose) { return range }
      start = range.lowerBound + 1
    }
    return nil
  }

  private mutating func prepare(_ term: SearchTerm, _ text: Bytes) {
    if term.isLoose {
      if !hasLoose { loose.fold(text, isLoose: true) }
      hasLoose = true
    } else {
      if !hasStrict { strict.fold(text, isLoose: false) }
      hasStrict = true
    }
  }

  /// Returns the ranges of bytes of a text in which terms occur, widened to whole characters,
  /// ascending; ranges that overlap or touch are one.
  package mutating func ranges(in text: String) -> [Range<Int>] {
    var source = ByteBuffer(capacity: text.utf8.count)
    source.append(text)
    let bytes = source.bytes
    begin()
    var found: [Range<Int>] = []
    for term in terms {
      var start = 0
      while let range = next(term, in: bytes, from: start) {
        let folded = term.isLoose ? loose : strict
        // The marks on a letter are sorted, so the first of them need not be the first in the text.
        let offsets = folded.offsets[range]
        let lower = Int(offsets.min() ?? 0)
        let last = Int(offsets.max() ?? 0)
        found.append(lower..<last + bytes.scalar(at: last).byteCount)
        start = range.upperBound
      }
    }
    return Self.widened(Self.united(found), in: text)
  }

  private static func united(_ ranges: [Range<Int>]) -> [Range<Int>] {
    var united: [Range<Int>] = []
    for range in ranges.inOrder(of: { UInt64($0.lowerBound) }) {
      if let last = united.last, range.lowerBound <= last.upperBound {
        united[united.count - 1] = last.lowerBound..<max(last.upperBound, range.upperBound)
      } else {
        united.append(range)
      }
    }
    return united
  }

  /// Widens ascending ranges to whole characters.
  private static func widened(_ ranges: [Range<Int>], in text: String) -> [Range<Int>] {
    var wide: [Range<Int>] = []
    var (character, end) = (text.startIndex, 0)
    var start = 0
    /// Moves to the character that a byte is in.
    func move(to offset: Int) {
      while end <= offset, character < text.endIndex {
        start = end
        let next = text.index(after: character)
        end += text.utf8.distance(from: character, to: next)
        character = next
      }
    }
    for range in ranges {
      move(to: range.lowerBound)
      let lower = start
      move(to: range.upperBound - 1)
      wide.append(lower..<end)
    }
    return united(wide)
  }
}
