import MsgStore
import MsgStoreTools
import Testing

/// What is read is exactly what is written, and what is wrong is refused with its place.
struct JSONReaderTests {
  // MARK: Strings

  @Test(arguments: [
    (#""""#, ""), (#""plain""#, "plain"), (#""a\"b\\c\/d""#, "a\"b\\c/d"),
    (#""\b\f\n\r\t""#, "\u{8}\u{c}\n\r\t"), (#""\u0041\u00e9\u20AC""#, "Aé€"),
    (#""\ud83d\ude00!""#, "😀!"), (#""\uD800\uDC00\uDBFF\uDFFF""#, "\u{10000}\u{10ffff}"),
    (#""\u0000""#, "\0"), (#""e\u0301""#, "e\u{301}"), ("\"\u{7f}\u{2028}\"", "\u{7f}\u{2028}"),
  ])
  func stringsAreReadExactly(json: String, expected: String) throws {
    let message = try #require(try message(of: line(#""text":\#(json)"#)))
    #expect(Array(message.text.utf8) == Array(expected.utf8))
  }

  @Test(arguments: [
    (#""\x""#, "unknown escape"), (#""\ud800""#, "unpaired surrogate"),
    (#""\ud800\u0041""#, "unpaired surrogate"), (#""\udc00""#, "unpaired surrogate"),
    (#""\u12""#, "expected four hexadecimal digits after \\u"),
    (#""\u00g0""#, "expected four hexadecimal digits after \\u"),
    (#""a\"#, "unterminated string"), (#""a"#, "unterminated string"),
    ("\"a\tb\"", "unescaped control character in a string"),
    ("'a'", "expected a string"), ("7", "expected a string"),
  ])
  func badStringsAreRefused(json: String, reason: String) {
    let refusal = refusal(of: line(#""text":\#(json)"#))
    #expect(refusal?.hasSuffix(reason) == true, "\(refusal ?? "nothing")")
  }

  @Test func badUTF8IsRefusedWithItsPlace() {
    let begin = Array("\n".utf8) + Array(#"{"text":"é"#.utf8)
    for bad: [UInt8] in [
      [0xff], [0xc0, 0x80], [0xed, 0xa0, 0x80], [0xf4, 0x90, 0x80, 0x80], [0xe2, 0x82],
    ] {
      let bytes = begin + bad + Array(#"b"}"#.utf8)
      #expect(refusal(of: bytes) == "line 2, byte 12: not valid UTF-8")
    }
    #expect(refusal(of: [0x7b, 0x22, 0xff, 0x22, 0x3a])?.hasSuffix("not valid UTF-8") == true)
    #expect(refusal(of: [0xff]) == "line 1, byte 1: expected '{'")
  }

  // MARK: Numbers

  @Test(arguments: [
    ("0", 0), ("-0", 0), ("7", 7), ("-7", -7), ("10", 10), ("9223372036854775807", Int64.max),
    ("-9223372036854775808", Int64.min), ("9007199254740993", 9_007_199_254_740_993),
    ("1.0", 1), ("100.000", 100), ("1e3", 1000), ("1.5E+1", 15), ("2000e-3", 2), ("0e999999999", 0),
    ("0.000", 0), ("1000000000000000000", 1_000_000_000_000_000_000),
  ])
  func wholeNumbersAreExact(json: String, expected: Int64) throws {
    let message = try #require(try message(of: line(#""text":"","sequence":\#(json)"#)))
    #expect(message.sequence == expected)
  }

  @Test(arguments: [
    ("1704067200000", 1_704_067_200_000_000), ("1704067200000.123", 1_704_067_200_000_123),
    ("1704067200000.1", 1_704_067_200_000_100), ("0.001", 1), ("0.5", 500), ("-0.0", 0),
    ("7258118399999.999", 7_258_118_399_999_999), ("1.000000", 1000),
    ("1.7e12", 1_700_000_000_000_000), ("1e-3", 1),
  ])
  func timesAreExactToTheMicrosecond(json: String, expected: Int64) throws {
    let message = try #require(try message(of: line(#""text":"","local_ms":\#(json)"#)))
    #expect(message.localTime == Timestamp(microseconds: expected))
  }

  @Test(arguments: [
    ("1.5", "not a whole number"), ("1e-1", "not a whole number"),
    ("9223372036854775808", "the number does not fit in 64 bits"),
    ("-9223372036854775809", "the number does not fit in 64 bits"),
    ("1e19", "the number does not fit in 64 bits"),
    ("1e999999999999999999999", "the number does not fit in 64 bits"),
    ("100000000000000000000000000000000000001", "the number does not fit in 64 bits"),
    ("01", "number with a leading zero"), ("1.", "expected a digit after the point"),
    ("1e", "expected a digit in the exponent"), ("-", "expected a number"),
    ("+1", "expected a number"), (".5", "expected a number"),
    ("NaN", "expected a number"), ("\"1\"", "expected a number"),
    ("true", "expected a number"), ("nul", "expected 'null'"),
  ])
  func badNumbersAreRefused(json: String, reason: String) {
    let refusal = refusal(of: line(#""text":"","sequence":\#(json)"#))
    #expect(refusal?.hasSuffix(reason) == true, "\(refusal ?? "nothing")")
  }

  @Test func timesBeyondAMicrosecondAreRefused() {
    #expect(
      refusal(of: line(#""text":"","local_ms":1.0001"#))?
        .hasSuffix("time finer than a microsecond") == true)
    #expect(
      refusal(of: line(#""text":"","local_ms":9223372036854775.808"#))?
        .hasSuffix("the time in microseconds does not fit in 64 bits") == true)
    for time in ["-0.001", "7258118400000", "9223372036854775.807", "-9223372036854775.808"] {
      let refusal = refusal(of: line(#""text":"","local_ms":\#(time)"#))
      #expect(refusal?.contains("a time is implausible") == true, "\(refusal ?? "nothing")")
    }
  }

  // MARK: Lines

  @Test func blanksAndOrderDoNotMatter() throws {
    let text =
      "\r\n \t{ \"text\" :\t\"t\" , \"timestamp_ms\":null,\"sender\":\"s\",\"id\":\"m\", "
      + "\"conversation\":\"c\" ,\"kind\":\"message\", \"reply_to\": null } \r\n"
    let message = try #require(try message(of: text))
    #expect(message.id == "m" && message.conversation == "c" && message.sender == "s")
    #expect(message.serverTimestamp == nil && message.assumedStatus == .pending)
  }

  @Test(arguments: [
    ("{", "line 1, byte 2: the line ends, expected a string"),
    ("[]", "line 1, byte 1: expected '{'"),
    ("x", "line 1, byte 1: expected '{'"),
    (#"{"kind" 1}"#, "line 1, byte 9: expected ':'"),
    (#"{"kind":"store","local_member":"a"} x"#, "line 1, byte 37: expected the end of the line"),
    (#"{"kind":"store","local_member":"a",}"#, "line 1, byte 36: expected a value"),
    (#"{"kind":"store" "local_member":"a"}"#, "line 1, byte 17: expected ','"),
    (#"{"color":1}"#, #"line 1, byte 2: unknown field "color""#),
    (#"{"id":"a","id":"b"}"#, #"line 1, byte 11: the field "id" appears twice"#),
    (#"{"kind":"poll"}"#, #"line 1: unknown kind "poll""#),
    (#"{"kind":"store"}"#, #"line 1: the field "local_member" is missing"#),
    (#"{"kind":"conversation","id":null}"#, #"line 1: the field "id" is null"#),
    (
      #"{"kind":"receipt","conversation":"c","up_to":"m","text":"t"}"#,
      #"line 1, byte 50: unknown field "text" of a receipt"#
    ),
    ("{}", #"line 1: the field "conversation" is missing"#),
    ("\n\n" + #"{"conversation":"c","id":"m","sender":"s","text":"t"}"#, "line 3: the field"),
  ])
  func badLinesAreRefused(text: String, reason: String) {
    let refusal = refusal(of: text)
    #expect(refusal?.hasPrefix(reason) == true, "\(refusal ?? "nothing")")
  }

  @Test func aLenientReaderPassesOverWhatItDoesNotKnow() throws {
    let extra = #""thread":{"a":[1,{"b":null},"x\n",true]},"ts_synthetic":true"#
    let message = try message(of: line(#""text":"old",\#(extra),"text":"new""#), isLenient: true)
    #expect(message?.text == "new")
    #expect(try records(of: #"{"kind":"poll","x":[]}"#, isLenient: true).isEmpty)
    for bad in [#"{"x":[1,]}"#, #"{"x":{"a"}}"#, #"{"x":tru}"#, #"{"x":[]]}"#] {
      #expect(refusal(of: bad, isLenient: true) != nil)
    }
    let deep = #"{"x":"# + String(repeating: "[", count: 100_000)
    #expect(
      refusal(of: deep, isLenient: true)?.hasSuffix("values nested too deeply") == true)
  }

  // MARK: Any bytes

  @Test func noBytesMakeItTrap() {
    let seed = UInt64.random(in: 0 ... .max)
    print("JSONReaderTests.noBytesMakeItTrap: seed \(seed)")
    var state = seed
    func below(_ limit: Int) -> Int {
      state = state &* 6_364_136_223_846_793_005 &+ 1_442_695_040_888_963_407
      return Int((state >> 33) % UInt64(limit))
    }
    let good = Array(
      (line(#""text":"é\u20ac\ud83d\ude00\n","sequence":-12.50e1,"local_ms":1.5,"status":"read""#)
        + "\n"
        + #"{"kind":"conversation","id":"c","participants":["a","b"],"title":null,"x":[{}]}"#).utf8)
    let alphabet = Array(#"{}[]",:\u0e1.-+dDnt"#.utf8) + [0, 0x0a, 0x0d, 0x80, 0xc3, 0xed, 0xff]
    var acceptedCount = 0
    for _ in 0..<20_000 {
      var bytes = good
      for _ in 0...below(4) {
        let place = below(bytes.count)
        switch below(4) {
        case 0: bytes[place] = alphabet[below(alphabet.count)]
        case 1: bytes.insert(alphabet[below(alphabet.count)], at: place)
        case 2: bytes.remove(at: place)
        default: bytes.removeSubrange(place...)
        }
        if bytes.isEmpty { bytes = [UInt8(below(256))] }
      }
      if refusal(of: bytes, isLenient: below(2) == 0) == nil { acceptedCount += 1 }
    }
    #expect(acceptedCount > 0)
  }
}
