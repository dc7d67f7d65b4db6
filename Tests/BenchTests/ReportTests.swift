import Testing
import msgstore_bench

/// The report says what was measured, in three forms that anybody's tools can read.
struct ReportTests {
  @Test func eachTableHasTheFiguresThatThereAre() {
    let text = report().text(as: .text)
    #expect(
      tables(in: text) == [
        """
        median                      msgstore       sqlite
        tail50-huge                  8.50 µs     23.62 µs
        slice50                       900 ns
        size                      90.0 B/msg  181.2 B/msg
        written                  2,412 B/msg
        scale/tail50-huge/10000      8.50 µs
        scale/tail50-huge             1.10 ×
        """,
        """
        99th percentile          msgstore    sqlite
        tail50-huge              13.82 µs  46.80 µs
        slice50                   1.20 µs
        scale/tail50-huge/10000   9.00 µs
        """,
        """
        versus msgstore  sqlite
        tail50-huge      2.77 ×
        size             2.01 ×
        """,
      ])
  }

  @Test func thereIsNoTableWithoutRows() {
    let size = Figure(
      engine: .msgstore, workload: "size", unit: Figure.perMessage, median: 90, p99: 90,
      operationCount: 1)
    let text = report(figures: [size]).text(as: .text)
    #expect(tables(in: text) == ["median    msgstore\nsize    90.0 B/msg"])
  }

  @Test func enginesSayWhatTheyWereMadeWith() {
    let text = report().text(as: .text)
    #expect(text.contains("\nmsgstore  16 MiB cache\n"))
    #expect(text.contains("\nsqlite    WAL, <64 MiB> & \"more\"\n"))
    #expect(text.contains("\nsettings  corpus made up, messages 2000\n"))
  }

  @Test func theJSONNamesStay() {
    let json = report().text(as: .json)
    for part in [
      #""machine": {"#, #""settings": {"#, #""results": ["#, #""corpus": "made up""#,
      #""sqlite": "WAL, <64 MiB> & \"more\"""#,
      #"{"engine": "msgstore", "workload": "tail50-huge", "unit": "ns/op", "median": 8500, "#
        + #""p99": 13820, "operations": 1000, "versus": {"sqlite": 2.770}}"#,
    ] {
      #expect(json.contains(part), "\(part)")
    }
  }

  private func tables(in text: String) -> [String] {
    let lines = text.split(separator: "\n", omittingEmptySubsequences: false)
    return lines.split(separator: "").dropFirst().map { $0.joined(separator: "\n") }
  }
}

/// A report of a few made-up figures.
func report(figures: [Figure]? = nil) -> Report {
  let machine = Machine(
    system: "Linux 6", processor: "A & B", coreCount: 4, memoryByteCount: 8 << 30,
    fileSystem: "ext4", sqliteVersion: "3.40.1", date: "2026-01-02 03:04 UTC")
  func figure(
    _ engine: EngineName, _ workload: String, _ unit: String, _ median: Double, p99: Double = 0,
    versus ratio: Double? = nil
  ) -> Figure {
    Figure(
      engine: engine, workload: workload, unit: unit, median: median, p99: p99,
      operationCount: 1_000, versus: ratio.map { [(.sqlite, $0)] } ?? [])
  }
  return Report(
    machine: machine, settings: [("corpus", .string("made up")), ("messages", .number(2_000))],
    engines: [(.msgstore, "16 MiB cache"), (.sqlite, "WAL, <64 MiB> & \"more\"")],
    summaries: ["tail50-huge": "newest 50 of <the> thread"],
    figures: figures ?? [
      figure(.msgstore, "tail50-huge", Figure.perOperation, 8_500, p99: 13_820, versus: 2.77),
      figure(.sqlite, "tail50-huge", Figure.perOperation, 23_620, p99: 46_800),
      figure(.msgstore, "slice50", Figure.perOperation, 900, p99: 1_200),
      figure(.msgstore, "size", Figure.perMessage, 90, versus: 2.01),
      figure(.sqlite, "size", Figure.perMessage, 181.2),
      figure(.msgstore, "written", Figure.perMessage, 2_412),
      figure(.msgstore, "scale/tail50-huge/10000", Figure.perOperation, 8_500, p99: 9_000),
      figure(.msgstore, "scale/tail50-huge", Figure.growth, 1.1),
    ])
}
