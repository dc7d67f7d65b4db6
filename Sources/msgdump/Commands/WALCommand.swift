import ArgumentParser
import MsgStoreTools
import PageFile

/// Lists the contents of the two WAL files.
struct WALCommand: ParsableCommand {
  static let configuration = CommandConfiguration(
    commandName: "wal",
    abstract: "Lists the commits in both WAL files, and the reason why each scan stopped.",
    discussion: """
      The files are used again and again, so bytes of earlier commits usually follow the last one.
      """)

  @OptionGroup var storeArgument: StoreArgument
  @OptionGroup var options: ReportOptions

  func run() throws {
    let wal = try storeArgument.inspect().wal()
    let report = options.begin()
    let nameWidth = wal.stops.map(\.file.visible.displayWidth).max() ?? 0
    let rows = try report.table(
      "commits", .text("file", nameWidth), .number("offset", 10), .number("LSN", 12),
      .number("durable LSN", 12), .number("frames", 6), .number("bytes", 10))
    for commit in wal.commits {
      try rows.add([
        .text(commit.file), .number(commit.offset), .count(commit.lsn.rawValue),
        .count(commit.durableLSN.rawValue), .number(commit.frameCount), .number(commit.byteCount),
      ])
    }
    for stop in wal.stops {
      if report.isJSON {
        try report.fact("file", .text(stop.file))
        try report.fact("end", .text(stop.reason))
        try report.endFacts()
      } else {
        try report.line("\(stop.file.visible): \(stop.reason)", .faint)
      }
    }
    for commit in wal.commits where !commit.words.isEmpty {
      let words = commit.words.map { "\(SchemaReport.wordName($0.index)) \($0.word)" }
        .joined(separator: ", ")
      if report.isJSON {
        try report.fact("lsn", .count(commit.lsn.rawValue))
        try report.fact("words", .text(words))
        try report.endFacts()
      } else {
        try report.line("commit \(commit.lsn): words: \(words)", .faint)
      }
    }
    try report.flush()
  }
}
