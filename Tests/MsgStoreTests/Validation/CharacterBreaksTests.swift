import MsgStore
import Testing

/// Characters are what the standard library takes for characters.
struct CharacterBreaksTests {
  private let limits = TextLimits(maximumCharacterCount: 1 << 20)

  /// Both ends are letters, so that nothing is trimmed.
  private func expectSameCount(_ scalars: [Unicode.Scalar]) {
    var text = String.UnicodeScalarView()
    text.append("x")
    text.append(contentsOf: scalars)
    text.append("x")
    let string = String(text)
    let count = (1 << 20) - limits.check(string).characterCountLeft
    #expect(count == string.count, "\(scalars.map { String($0.value, radix: 16) })")
  }

  /// Few scalars of each class, and what is like them but is not of the class.
  private let samples: [Unicode.Scalar] = [
    "a", "\r", "\n", "\u{0}", "\u{AD}", "\u{200B}", "\u{200D}", "\u{200C}", "\u{94D}", "\u{9CD}",
    "\u{301}", "\u{FE0F}", "\u{20E3}", "\u{1F3FD}", "\u{93C}", "\u{903}", "\u{93F}", "\u{E33}",
    "\u{600}", "\u{D4E}", "\u{110BD}", "\u{1F1E9}", "\u{1F1EA}", "\u{A9}", "\u{1F468}", "\u{2764}",
    "\u{1F600}", "\u{915}", "\u{937}", "\u{995}", "\u{1100}", "\u{1161}", "\u{11A8}", "\u{AC00}",
    "\u{AC01}", "\u{D7A3}", "\u{A960}", "\u{D7B0}", "\u{D7CB}", "\u{E0067}", "\u{E007F}",
    "\u{E0101}", "\u{E0000}", "\u{E0FFF}", "\u{E1000}", "\u{20000}", "\u{10FFFF}", "\u{1FFFF}",
    "\u{FFFF}", "1", "é", "漢", "\u{B95}", "\u{BCD}",
  ]

  @Test func everyPairOfSamplesIsCountedRight() {
    for a in samples {
      for b in samples { expectSameCount([a, b]) }
    }
  }

  @Test(arguments: seeds(2)) func randomTextsAreCountedRight(seed: UInt64) {
    var random = SeededGenerator(seed: seed)
    for _ in 0..<4000 {
      // Of few different ones, so that long sequences that belong together come up.
      let few = (0..<Int.random(in: 1...5, using: &random)).map { _ in
        samples.randomElement(using: &random) ?? "a"
      }
      expectSameCount(
        (0..<Int.random(in: 1...12, using: &random)).map { _ in
          few.randomElement(using: &random) ?? "a"
        })
    }
  }

  /// Marks are read eight bytes at a time; what looks like them has to be told apart.
  @Test(arguments: seeds(2)) func runsOfMarksAreCountedRight(seed: UInt64) {
    var random = SeededGenerator(seed: seed)
    for _ in 0..<2000 {
      let range: ClosedRange<UInt32> = random.chance(50) ? 0x300...0x36F : 0x2FD...0x37F
      expectSameCount(
        (0..<Int.random(in: 1...40, using: &random)).compactMap { _ in
          random.chance(3)
            ? samples.randomElement(using: &random)
            : Unicode.Scalar(UInt32.random(in: range, using: &random))
        })
    }
  }

  @Test(arguments: seeds(2)) func randomWhiteSpaceIsTrimmed(seed: UInt64) {
    var random = SeededGenerator(seed: seed)
    let all: [Unicode.Scalar] = [" ", " ", "\n", "\r", "\t", "\u{B}", "\u{3000}", "\u{85}"]
    let others: [Unicode.Scalar] = ["a", "\u{8}", "\u{E}", "!", "\u{200B}", "é", "\u{10FFFF}"]
    func space() -> String {
      var text = String.UnicodeScalarView()
      for _ in 0..<Int.random(in: 0..<40, using: &random) {
        text.append(all.randomElement(using: &random) ?? " ")
      }
      return String(text)
    }
    for _ in 0..<2000 {
      let core = String(others.randomElement(using: &random) ?? "a")
      for text in [core, core + space() + core] {
        let left = limits.check(space() + text + space()).characterCountLeft
        #expect(left == (1 << 20) - text.count)
      }
      #expect(limits.check(space() + space()).problem == .empty)
    }
  }

  /// Asks of each scalar whether it goes with what it could go with; a few at a time, as counting
  /// by the standard library takes long.
  @Test func everyScalarHasTheClassThatTheStandardLibraryGivesIt() {
    let neighbours: [Unicode.Scalar] = [
      "a", "\u{301}", "\u{600}", "\u{1F1E9}", "\u{1F468}", "\u{200D}", "\u{1F468}", "\u{915}",
      "\u{94D}", "\u{915}", "\u{1100}", "\u{1161}", "\u{11A8}", "\u{AC00}", "\u{AC01}",
    ]
    for start in stride(from: UInt32(0), to: 0xE2000, by: 256) {
      // Nothing is assigned there, and all of it is alike.
      if (0x33000..<0xE0000).contains(start) { continue }
      var text = String.UnicodeScalarView("x".unicodeScalars)
      for value in start..<start + 256 {
        guard let scalar = Unicode.Scalar(value) else { continue }
        for neighbour in neighbours {
          text.append(neighbour)
          text.append(scalar)
        }
        text.append("x")
      }
      let string = String(text)
      let count = (1 << 20) - limits.check(string).characterCountLeft
      #expect(count == string.count, "\(String(start, radix: 16))")
    }
  }

  @Test func whiteSpaceIsWhatHasTheProperty() {
    for value in UInt32(0)..<0x11000 {
      guard let scalar = Unicode.Scalar(value) else { continue }
      let isEmpty = limits.check(String(scalar)).problem == .empty
      #expect(isEmpty == scalar.properties.isWhitespace)
    }
  }
}
