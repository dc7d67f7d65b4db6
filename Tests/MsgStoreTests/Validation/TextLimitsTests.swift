import MsgStore
import Testing

/// What may be sent, and what is left while one writes.
struct TextLimitsTests {
  private let limits = TextLimits()

  private func check(_ text: String, hasAttachment: Bool = false) -> TextValidation {
    limits.check(text, hasAttachment: hasAttachment)
  }

  @Test func tenThousandCharactersAreKeptAndOneMoreIsNot() {
    for character in ["a", "é", "e\u{301}", "漢", "👍🏽", "🇩🇪", "👨‍👩‍👧‍👦", "\r\n", "क्षि"] {
      let text = "x" + String(repeating: character, count: 9998) + "x"
      #expect(check(text).problem == nil && check(text).characterCountLeft == 0)
      #expect(check("x" + text).problem == .tooManyCharacters(count: 10_001, limit: 10_000))
      #expect(check("x" + text).characterCountLeft == -1)
    }
  }

  @Test func onlyTheTrimmedTextIsCounted() {
    let text = String(repeating: "a", count: 10_000)
    let padded = " \u{3000}\n\t" + text + "\u{2028}\r\n\u{A0}"
    #expect(check(padded).problem == nil && check(padded).characterCountLeft == 0)
    #expect(check(padded).byteCountLeft == (1 << 20) - padded.utf8.count)
    #expect(check(" a b ").characterCountLeft == 10_000 - 3)
  }

  @Test func whatIsEmptyAfterTrimmingNeedsAnAttachment() {
    for text in ["", " ", "\n\r\n\t ", "\u{3000}\u{2003}\u{85}\u{A0}\u{1680}\u{205F}\u{202F}"] {
      #expect(check(text).problem == .empty && !check(text).isValid)
      #expect(check(text, hasAttachment: true).problem == nil)
      #expect(check(text).characterCountLeft == 10_000)
    }
    #expect(check("\u{200B}").problem == nil)
    #expect(check(" \u{301} ").characterCountLeft == 9999)
  }

  @Test func bytesAreCountedFirst() {
    // One character of 200,001 bytes.
    let one = "a" + String(repeating: "\u{301}", count: 100_000)
    #expect(check(one).problem == nil && check(one).characterCountLeft == 9999)
    let full = "a" + String(repeating: "\u{20D0}", count: 349_525)
    #expect(full.utf8.count == 1 << 20)
    #expect(check(full).problem == nil && check(full).byteCountLeft == 0)
    let over = check(full + "a")
    #expect(over.problem == .tooManyBytes(count: 1 << 20 + 1, limit: 1 << 20))
    #expect(over.byteCountLeft == -1 && over.characterCountLeft == 0)
    #expect(check(String(repeating: " ", count: 1 << 20 + 1)).problem?.isTooManyBytes == true)
  }

  @Test func theSurplusIsCountedUpToAThousand() {
    for (count, left) in [(10_999, -999), (11_000, -1000), (11_001, -1000), (500_000, -1000)] {
      let result = check(String(repeating: "a", count: count))
      #expect(result.characterCountLeft == left)
      #expect(result.problem == .tooManyCharacters(count: 10_000 - left, limit: 10_000))
    }
  }

  @Test func limitsAreOptionsWithinWhatAStoreKeeps() {
    let short = TextLimits(maximumCharacterCount: 3, maximumByteCount: 5)
    #expect(short.check("abc").problem == nil && short.check("abc").byteCountLeft == 2)
    #expect(short.check("abcd").problem == .tooManyCharacters(count: 4, limit: 3))
    #expect(short.check("éééé").problem == .tooManyBytes(count: 8, limit: 5))
    #expect(
      TextLimits(maximumCharacterCount: .max, maximumByteCount: .max).maximumByteCount == 1 << 20)
    let none = TextLimits(maximumCharacterCount: .min, maximumByteCount: .min)
    #expect(none.check("").problem == .empty)
    #expect(none.check("a").problem == .tooManyBytes(count: 1, limit: 0))
  }

  /// The best of many tries, as others use the machine too.
  ///
  /// It is half a millisecond, or some fifty times as long without optimisation. A walk over the
  /// characters of families takes two.
  @Test func noTextTakesLong() {
    #if DEBUG
      let limit = Duration.milliseconds(50)
    #else
      let limit = Duration.microseconds(500)
    #endif
    let marks = "a" + String(repeating: "\u{301}\u{36F}\u{300}", count: 17)
    for (unit, count) in [
      ("a", 1 << 20), ("a", 10_000), ("漢", 349_525), ("👨‍👩‍👧‍👦", 10_000), ("👨‍👩‍👧‍👦", 41_943), (" ", 1 << 20),
      ("\r\n", 1 << 19), ("\u{301}", 1 << 19), (marks, 10_000), ("क्षि", 10_000), ("🇩🇪", 10_000),
    ] {
      let text = String(repeating: unit, count: count)
      let best = (0..<20).map { _ in ContinuousClock().measure { _ = limits.check(text) } }.min()
      #expect(text.utf8.count <= 1 << 20 && best ?? limit < limit, "\(unit): \(best ?? limit)")
    }
  }
}

extension TextValidation.Problem {
  fileprivate var isTooManyBytes: Bool {
    if case .tooManyBytes = self { true } else { false }
  }
}
