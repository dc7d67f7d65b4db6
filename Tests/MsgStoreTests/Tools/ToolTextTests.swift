import MsgStore
import Testing
import msgdump

/// How the tool shows times and other people's text.
@Suite struct ToolTextTests {
  @Test(arguments: [
    (Int64(0), "1970-01-01T00:00:00.000Z"), (-1, "1969-12-31T23:59:59.999999Z"),
    (951_782_400_000_000, "2000-02-29T00:00:00.000Z"),
    (1_704_067_199_250_000, "2023-12-31T23:59:59.250Z"),
    (4_107_542_400_000_001, "2100-03-01T00:00:00.000001Z"),
    (-62_135_596_800_000_000, "0001-01-01T00:00:00.000Z"),
  ])
  func timesGoBothWays(microseconds: Int64, text: String) {
    #expect(Timestamp(microseconds: microseconds).description == text)
    #expect(UTCDate.parse(text) == Timestamp(microseconds: microseconds))
  }

  @Test func everyTimeCanBeShown() {
    for microseconds in [Int64.min, .max] {
      #expect(!Timestamp(microseconds: microseconds).description.isEmpty)
    }
  }

  @Test(arguments: [
    ("2024-01-31", "2024-01-31T00:00:00Z"), ("2024-01-31 18:05", "2024-01-31T18:05:00.0Z"),
    ("2024-01-31T18:05+02:00", "2024-01-31T16:05:00Z"),
    ("2024-01-01T00:30:00.5-01:30", "2024-01-01T02:00:00.500Z"),
  ])
  func datesCanBeShort(short: String, long: String) {
    #expect(UTCDate.parse(short) == UTCDate.parse(long))
    #expect(UTCDate.parse(short) != nil)
  }

  @Test(arguments: [
    "", "yesterday", "2024", "2024-13-01", "2023-02-29", "2024-1-1", "2024-01-31T", "2024-01-31x",
    "2024-01-31T24:00", "2024-01-31T18:05:60", "2024-01-31T18:05.", "2024-01-31T18:05+2",
    "٢٠٢٤-01-01",
  ])
  func otherTextIsNoDate(text: String) {
    #expect(UTCDate.parse(text) == nil)
  }

  @Test func textCannotLeaveItsLine() {
    #expect("a\nb\tc\u{1b}[2J\u{202e}d\u{85}".visible == #"a\nb\tc\u{1b}[2J\u{202e}d\u{85}"#)
    #expect("שלום 👩‍👩‍👧 e\u{301}".visible == "שלום 👩‍👩‍👧 e\u{301}")
  }

  @Test func widthsFollowTheTerminal() {
    #expect("abc".displayWidth == 3)
    #expect("読書会".displayWidth == 6)
    #expect("👩‍👩‍👧e\u{301}".displayWidth == 3)
    #expect("読書会です".shortened(to: 6) == "読書…")
    #expect("short".shortened(to: 5) == "short")
  }
}
