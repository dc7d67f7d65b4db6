import ArgumentParser
import PageFile

/// Lists the contents of the two WAL files.
struct WALCommand: ParsableCommand {
  static let configuration = CommandConfiguration(
    commandName: "wal",
    abstract: "Lists the commits in both WAL files, and the reason why each scan stopped.")

  @OptionGroup var storeArgument: StoreArgument

  func run() throws {
    let report = try storeArgument.inspect().wal()
    let output = Output()
    let nameWidth = report.stops.map(\.file.visible.displayWidth).max() ?? 0
    let table = TextTable(
      .left("file", nameWidth), .right("offset", 10), .right("LSN", 12), .right("durable LSN", 12),
      .right("frames", 6), .right("bytes", 10))
    try output.line(table.header)
    for commit in report.commits {
      try output.line(
        table.row([
          commit.file.visible, "\(commit.offset)", "\(commit.lsn)", "\(commit.durableLSN)",
          "\(commit.frameCount)", "\(commit.byteCount)",
        ]))
    }
    for stop in report.stops { try output.line("\(stop.file.visible): \(stop.reason)") }
    try output.flush()
  }
}
