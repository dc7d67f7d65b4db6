import MsgStore
import MsgStoreTools
import Testing
import msgdump

/// How the tool shows times and other people's text.
struct ToolTextTests {
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

  @Test(arguments: [
    (100, "one <two> three <four>"), (18, "one <two> three <four>"),
    (17, "one <two> three <fo>…"),
    (7, "one <tw>…"), (5, "… <tw>…"), (3, "…<t>…"),
  ])
  func anExcerptShowsItsFirstMark(width: Int, text: String) {
    var excerpt = Excerpt()
    excerpt.append("one two three four", marking: [4..<7, 14..<18])
    #expect(excerpt.shortened(to: width).text { "<\($0)>" } == text)
  }

  @Test func anExcerptBeginsShortlyBeforeItsFirstMark() {
    var excerpt = Excerpt()
    excerpt.append("\u{1b}[2J" + String(repeating: "漢字 ", count: 30) + "é", marking: [214..<216])
    #expect(excerpt.shortened(to: 20).text { "<\($0)>" } == "…漢字 <é>")
    excerpt.append("\n" + String(repeating: "x", count: 30))
    #expect(excerpt.shortened(to: 20).text { "<\($0)>" } == "…漢字 <é>\\nxxxxxxxxxx…")
    #expect(excerpt.text { $0 }.hasPrefix("\\u{1b}[2J"))
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

  // MARK: Tables

  private static let table = TextTable([
    .time("time"), .number("count", 6), .text("marks", 12), .name("id", 20), .text("text", 40),
  ])
  private static let fields: [Field] = [
    .time(Timestamp(microseconds: 1_706_724_309_250_000)), .number(12), .list(["pinned", "muted"]),
    .text("a-name-of-thirty-characters-30"), .text("a text of some length\nin two lines"),
  ]

  @Test func aPipeGetsEverything() {
    let row = Self.table.row(Self.fields, .utc)
    #expect(row.hasPrefix("2024-01-31T18:05:09.250Z         12  pinned, muted  a-name"))
    #expect(row.hasSuffix(#"characters-30  a text of some length\nin two lines"#))
  }

  /// From a wide terminal to one narrower than any.
  @Test func noRowIsWiderThanTheTerminal() {
    for width in 60...140 {
      let table = Self.table.fitted(to: width)
      for line in [table.header, table.row(Self.fields, .utc)] {
        #expect(line.displayWidth <= width, "\(width): \(line)")
      }
    }
  }

  @Test func aNarrowTerminalGetsShortTimesAndTheStartsOfTexts() {
    let row = Self.table.fitted(to: 65).row(Self.fields, .utc)
    #expect(row == "2024-01-31 18:05      12  pinned,…  a-name-of-thi…  a text of so…")
  }

  @Test func namesStayWhenThereIsNoRoom() {
    let table = Self.table.fitted(to: 40)
    #expect(table.header.contains("id") && table.header.contains("text"))
    #expect(!table.header.contains("marks") && !table.header.contains("count"))
  }

  // MARK: Time zones

  @Test(arguments: [
    (Int64(3600), "2024-01-31T19:05:09.250+01:00"), (-12_600, "2024-01-31T14:35:09.250-03:30"),
    (0, "2024-01-31T18:05:09.250+00:00"),
  ])
  func timesOfAZoneNameItsOffset(offset: Int64, text: String) {
    let time = Timestamp(microseconds: 1_706_724_309_250_000)
    let zone = TimeFormat(offset: offset)
    #expect(zone.text(time) == text)
    #expect(UTCDate.parse(text) == time && zone.parse(text) == time)
    #expect(zone.parse(String(text.dropLast(6))) == time)
  }

  @Test func theEndsOfTheCalendarHaveNoZone() {
    for microseconds in [Int64.min, .max] {
      let time = Timestamp(microseconds: microseconds)
      #expect(!TimeFormat(offset: 3600).text(time).isEmpty)
      #expect(!TimeFormat(offset: -3600).shortText(time).isEmpty)
    }
  }

  // MARK: Progress

  @Test(
    arguments: [
      (nil, 3, 3, "packing: 3 s"), (0.005, 3, 3, "packing: 0 %, 3 s"),
      (0.25, 10, 15, "packing: 25 %, 15 s, 30 s left"),
      (0.5, 300, 310, "packing: 50 %, 5 min 10 s, 5 min 0 s left"),
      (0.5, 0, 9, "packing: 50 %, 9 s"),
      (1, 10, 10, "packing: 100 %, 10 s, 0 s left"),
    ] as [(Double?, Int, Int, String)])
  func progressSaysPartAndTime(part: Double?, phase: Int, all: Int, line: String) {
    #expect(
      Progress.line("packing", part: part, of: .seconds(phase), in: .seconds(all)) == line)
  }
}
