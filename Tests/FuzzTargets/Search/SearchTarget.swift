import MsgStore
import PageFile

/// Folds texts and searches them, and compares what is found with a search that is slow and plain.
enum SearchTarget {
  /// Where the code points are that fold, compose, are dropped, or make emoji.
  private static let areas: [(first: UInt32, count: UInt32)] = [
    (0x20, 0x5F), (0x61, 4), (0x9, 5), (0xA0, 0x160), (0x300, 0x70), (0x370, 0x90), (0x400, 0x100),
    (0x590, 0x100), (0x690, 0x70), (0x900, 0x80), (0x9B0, 0x30), (0xE00, 0x60), (0x1100, 0x100),
    (0x1AB0, 0x20), (0x1DC0, 0x40), (0x1E00, 0x100), (0x1F00, 0x100), (0x2000, 0x70),
    (0x20D0, 0x30),
    (0x2100, 0x50), (0x3040, 0xC0), (0x3130, 0x60), (0x4E00, 0x40), (0xAC00, 0x80), (0xF900, 0x40),
    (0xFB00, 0x50), (0xFE00, 0x20), (0xFF00, 0xF0), (0x1D15E, 0x10), (0x1F1E6, 0x1A),
    (0x1F3F0, 0x20), (0x1F466, 4), (0xE0000, 0x80),
    (0x85, 1), (0x1680, 1), (0x2028, 2), (0x2460, 0x40), (0x3380, 0x60), (0xFC50, 0x20),
    (0xFE70, 0x10), (0xD00, 0x80),
  ]

  static func run(_ input: inout FuzzInput) throws(BrokenPromise) {
    let isStrict = input.bool()
    let isRaw = input.bool()
    var texts = (0..<1 + input.index(below: 3)).map { _ in text(&input) }
    var query = query(&input, in: texts[0])
    if input.byte() >= 192 { query = "\"\(query)\"" }
    if isRaw { texts.append(String(decoding: input.rest(), as: UTF8.self)) }
    texts = texts.map(known)
    input.note("\"\(query)\" in \(texts)\(isStrict ? ", strictly" : "")")
    for text in texts { try compareFolds(of: text) }
    try search(query, in: texts, isStrict: isStrict)
  }

  private static func text(_ input: inout FuzzInput) -> String {
    var text = ""
    for _ in 0..<input.index(below: 24) {
      let area = areas[input.index(below: areas.count)]
      let code = area.first + UInt32(input.byte()) % area.count
      if let scalar = Unicode.Scalar(code) { text.unicodeScalars.append(scalar) }
    }
    return text
  }

  /// Returns a part of a text, or another one.
  private static func query(_ input: inout FuzzInput, in text: String) -> String {
    let scalars = Array(text.unicodeScalars)
    let isPart = input.byte() < 192
    guard isPart, !scalars.isEmpty else { return known(self.text(&input)) }
    let start = input.index(below: scalars.count)
    let part = scalars[start...].prefix(1 + input.index(below: 12))
    var query = ""
    query.unicodeScalars.append(contentsOf: part)
    return known(query)
  }

  /// Returns a text without the code points that came after the version of our tables: others know
  /// more of them.
  private static func known(_ text: String) -> String {
    var known = ""
    for scalar in text.unicodeScalars {
      let isKnown = (scalar.properties.age?.major ?? .max) <= 14
      known.unicodeScalars.append(isKnown ? scalar : "x")
    }
    return known
  }

  private static func compareFolds(of text: String) throws(BrokenPromise) {
    for isLoose in [false, true] {
      var folded = FoldedText()
      Bytes.with(Array(text.utf8)) { folded.fold($0, isLoose: isLoose) }
      let slow = SlowSearch.fold(text, isLoose: isLoose)
      try promise(
        folded.scalars == slow,
        "\(hexadecimal(text)), loose \(isLoose): \(folded.scalars), not \(slow)")
    }
  }

  private static func search(
    _ text: String, in texts: [String], isStrict: Bool
  ) throws(BrokenPromise) {
    let terms = SlowSearch.terms(of: text)
    let query: SearchQuery
    do throws(StoreError) {
      query = try SearchQuery(text, isStrict: isStrict)
    } catch {
      return try promise(
        terms.isEmpty && error == .input(.emptyQuery), "\(hexadecimal(text)): \(error)")
    }
    try promise(!terms.isEmpty, "\(hexadecimal(text)): a query of nothing is taken")
    var matcher = SearchMatcher(query)
    var isAnyFound = false
    for other in texts {
      let isFound = Bytes.with(Array(other.utf8)) { matcher.matches($0) }
      let isExpected = SlowSearch.matches(terms, in: other, isStrict: isStrict)
      let place = "\(hexadecimal(text)) in \(hexadecimal(other))"
      // The emoji that a match would cut are beyond the slow search.
      try promise(
        isFound == isExpected || isExpected && mayCutEmoji(other), "\(place): \(isFound)")
      isAnyFound = isAnyFound || isFound
      try checkRanges(matcher.ranges(in: other), of: other, isFound: isFound, place)
    }
    let block = texts.joined()
    let mayMatch = Bytes.with(Array(block.utf8)) { matcher.mayMatch($0) }
    try promise(mayMatch || !isAnyFound, "\(hexadecimal(text)): dismissed in a block")
  }

  private static func mayCutEmoji(_ text: String) -> Bool {
    text.unicodeScalars.contains { scalar in
      switch scalar.value {
      case 0x200D, 0x20E3, 0xFE00...0xFE0F, 0x1F1E6...0x1F1FF, 0x1F3FB...0x1F3FF,
        0xE0020...0xE007F:
        true
      default: false
      }
    }
  }

  private static func checkRanges(
    _ ranges: [Range<Int>], of text: String, isFound: Bool, _ place: String
  ) throws(BrokenPromise) {
    try promise(!isFound || !ranges.isEmpty, "\(place): found without a range")
    var boundaries: Set<Int> = [0]
    for character in text { boundaries.insert((boundaries.max() ?? 0) + character.utf8.count) }
    var end = -1
    for range in ranges {
      try promise(
        range.lowerBound > end && !range.isEmpty && boundaries.contains(range.lowerBound)
          && boundaries.contains(range.upperBound), "\(place): \(ranges)")
      end = range.upperBound
    }
  }

  private static func hexadecimal(_ text: String) -> String {
    text.unicodeScalars.map { String($0.value, radix: 16) }.joined(separator: " ")
  }
}
