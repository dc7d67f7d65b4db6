import MsgStore
import Simulation
import Testing

/// What is found, and where.
struct SearchMatchTests {
  /// Returns the found parts of a text, or nil if the text is not found.
  private func found(
    _ query: String, in text: String, isStrict: Bool = false
  ) throws -> [String]? {
    let store = try memoryStore()
    try store.write { chat in try chat.insert(message("m", at: 1, text: text)) }
    let slice = try store.read { try $0.search(SearchQuery(query, isStrict: isStrict)) }
    #expect(slice.edge == nil && slice.searchedMessageCount == 1)
    return slice.first.map { hit in
      hit.textRanges.map { range in
        let utf8 = Array(text.utf8)
        return String(decoding: utf8[range], as: UTF8.self)
      }
    }
  }

  /// Each query with a text and the parts of it that are hits; with its type, which is slow to infer.
  private static let hits: [(query: String, text: String, hits: [String])] = [
    ("hello", "Say HELLO, hello!", ["HELLO", "hello"]),
    ("ell lo", "hello", ["ello"]),
    ("a", "banana", ["a", "a", "a"]),
    ("\"new york\"", "New \n\t York", ["New \n\t York"]),
    ("“new york", "new york new", ["new york"]),
    ("«a b» c", "c a  b", ["c", "a  b"]),
    ("example.org/path?q", "see https://example.org/path?q=1", ["example.org/path?q"]),
    ("@ann", "mail bob@ann.example", ["@ann"]),
    ("strasse", "Straße", ["Straße"]),
    ("STRASSE", "straße", ["straße"]),
    ("fi", "ﬁnd", ["ﬁ"]),
    ("2", "２", ["２"]),
    ("ガ", "ｶﾞ", ["ｶﾞ"]),
    ("cafe", "Café", ["Café"]),
    ("cafe", "Cafe\u{301}s", ["Cafe\u{301}"]),
    ("café", "cafe\u{301}", ["cafe\u{301}"]),
    ("ελλας", "Ἑλλάς", ["Ἑλλάς"]),
    ("все", "всё", ["всё"]),
    ("سلام", "سَلَـام", ["سَلَـام"]),
    ("שלום", "שָׁלוֹם", ["שָׁלוֹם"]),
    ("你好", "我说你好吗", ["你好"]),
    ("好", "你好", ["好"]),
    ("กิน", "ไปกินข้าว", ["กิน"]),
    ("हिन्दी", "मैं हिन्दी में", ["हिन्दी"]),
    ("가", "가방", ["가"]),
    ("👍", "ok 👍🏽!", ["👍🏽"]),
    ("❤", "I ❤️ you", ["❤️"]),
    ("🇩🇪", "🇫🇷🇩🇪", ["🇩🇪"]),
    ("👩‍👧", "a 👩‍👧 b", ["👩‍👧"]),
    ("😀", "😀😀", ["😀😀"]),
    ("\u{200D}a", "a", ["a"]),
    ("K", "200 K", ["K"]),
    ("zz(10)", "zz⑽", ["zz⑽"]),
    ("\"room (12)\"", "Room ⑿", ["Room ⑿"]),
    ("kcal!!", "㎉!! ok", ["㎉!!"]),
    ("\"new york\"", "new\u{2028}york", ["new\u{2028}york"]),
    ("\"new york\"", "new\u{85}\u{1680}york", ["new\u{85}\u{1680}york"]),
    ("ab", "a\u{FE71}b", ["a\u{FE71}b"]),
    ("👍", "സൂപ്പര്\u{200D}👍", ["👍"]),
    ("1", "1\u{200D}2", ["1\u{200D}"]),
    ("\u{1DD0}\u{367}", "\u{367}\u{1DD0}", ["\u{367}\u{1DD0}"]),
    ("Å", "Å", ["Å"]),
  ]

  @Test(arguments: hits)
  func thisIsFound(query: String, text: String, parts: [String]) throws {
    let ranges = try found(query, in: text)
    // Touching ranges are one.
    #expect(ranges?.joined() == parts.joined())
  }

  @Test(arguments: [
    ("helo", "hello"), ("hello world", "hello"), ("\"a b\"", "ab"), ("\"a b\"", "b a"),
    ("café", "cafe"), ("всё", "все"), ("パパ", "ハハ"), ("ハハ", "パパ"), ("กน", "กิน"), ("가", "각"),
    ("🇩🇪", "🇦🇩🇪🇷"), ("👩", "👩‍👧"), ("👧", "👩‍👧"), ("👍🏽", "👍"), ("👍🏽", "👍🏿"), ("1", "1️⃣"),
    ("ı", "i"), ("и", "й"), ("سَلَام", "سلام"), ("\u{301}", "é"),
  ])
  func thisIsNotFound(query: String, text: String) throws {
    #expect(try found(query, in: text) == nil)
  }

  @Test func allCountsIfStrict() throws {
    #expect(try found("cafe", in: "café", isStrict: true) == nil)
    #expect(try found("👍", in: "👍🏽", isStrict: true) == nil)
    #expect(try found("CAFÉ", in: "café", isStrict: true) == ["café"])
  }

  @Test(arguments: [
    "", " ", "\n\u{3000}\u{A0}", "\"", "\"\"", "“ ”", "\u{FE0F}", "\u{200B}\u{AD}", "\" \" « »",
  ])
  func aQueryOfNothingIsRefused(text: String) {
    #expect(throws: StoreError.input(.emptyQuery)) { try SearchQuery(text) }
  }

  @Test func aLongQueryIsRefused() throws {
    let limit = SearchQuery.maximumByteCount
    _ = try SearchQuery(String(repeating: "a ", count: limit / 2))
    let fault = InputFault.tooLong(.query, byteCount: 1 << 20, limit: limit)
    #expect(throws: StoreError.input(fault)) {
      try SearchQuery(String(repeating: "a", count: 1 << 20))
    }
  }

  @Test func marksAloneAreATerm() throws {
    #expect(try found("\u{301}", in: "\u{301}") == ["\u{301}"])
    #expect(try found("\u{640}", in: "ـ") == ["ـ"])
  }

  @Test func longRunsOfFlagsTakeLinearTime() throws {
    let flags = String(repeating: "🇩🇪", count: 100_000)
    #expect(try found("🇪🇩", in: flags) == nil)
    #expect(try found("🇩🇪", in: flags) == [flags])
    let same = String(repeating: "\u{1F1E6}", count: 200_000)
    #expect(try found("\u{1F1E6}\u{1F1E6}\u{1F1E6}", in: same) == nil)
  }

  @Test func manyMarksOnALetterTakeLinearTime() throws {
    let marks = ["\u{301}", "\u{316}"].map { String(repeating: $0, count: 250_000) }.joined()
    #expect(try found("é", in: "я" + marks) == nil)
    #expect(try found("я\u{316}", in: "я" + marks) == ["я" + marks])
  }
}
