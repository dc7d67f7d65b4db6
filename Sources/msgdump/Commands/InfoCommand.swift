import ArgumentParser
import MsgStore
import MsgStoreTools
import PageFile

/// Shows the facts about a store: its format, its numbers, its trees.
struct InfoCommand: ParsableCommand {
  static let configuration = CommandConfiguration(
    commandName: "info",
    abstract: "Shows the store's format, sizes, commit numbers, and trees.")

  @OptionGroup var storeArgument: StoreArgument

  func run() throws {
    let report = try storeArgument.inspect().file()
    let output = Output()
    try printFacts(report, to: output)
    try printMessages(to: output)
    try printTrees(report, to: output)
    try printKinds(report, to: output)
    try output.flush()
  }

  private func printFacts(_ report: FileReport, to output: Output) throws {
    let facts = TextTable(.left("", 18), .left("", 0))
    func fact(_ name: String, _ value: some CustomStringConvertible) throws {
      try output.line(facts.row([name, "\(value)"]))
    }
    try fact("format version", report.formatVersion)
    try fact("store id", report.storeID)
    try fact("page size", "\(report.pageByteCount) bytes")
    try fact("generation", report.generation)
    try fact("checkpoint LSN", report.checkpointLSN)
    try fact("last LSN", report.lastLSN)
    try fact("closed cleanly", report.isClean ? "yes" : "no")
    try fact("data file", "\(report.dataFileByteCount) bytes")
    for (index, byteCount) in report.walByteCounts.enumerated() {
      try fact("WAL file \(index)", "\(byteCount) bytes")
    }
    try fact("slots", "\(report.slotCount), \(report.freeSlotCount) of them free")
    try fact("pages", report.pageCount)
  }

  /// Prints the totals of the messages, if the file can be opened as a message store.
  private func printMessages(to output: Output) throws {
    guard let store = try? storeArgument.open() else { return }
    let facts = TextTable(.left("", 18), .left("", 0))
    try store.readOnce { snapshot in
      let totals = try snapshot.unreadTotals
      if let member = store.localMember {
        try output.line(facts.row(["local member", member.string.visible]))
      }
      try output.line(
        facts.row([
          "unread",
          "\(totals.messages), \(totals.mentions) of them name the local member; muted: "
            + "\(totals.mutedMessages), \(totals.mutedMentions)",
        ]))
      let outbox = snapshot.outbox
      try output.line(
        facts.row([
          "outbox", OutboxText.line(outbox.counts(), holdsNewEntries: outbox.holdsNewEntries),
        ]))
      if try snapshot.hasWork {
        try output.line(facts.row(["work", "is left to be done in steps"]))
      }
    }
  }

  private func printTrees(_ report: FileReport, to output: Output) throws {
    let table = TextTable(
      .right("tree", 4), .left("name", 18), .right("root", 10), .right("pages", 10),
      .right("depth", 5), .right("cells", 12))
    try output.line("")
    try output.line(table.header)
    for tree in report.trees {
      try output.line(
        table.row([
          "\(tree.number)", SchemaReport.treeName(tree.number), "\(tree.root)", "\(tree.pageCount)",
          "\(tree.depth)", "\(tree.cellCount)",
        ]))
    }
  }

  private func printKinds(_ report: FileReport, to output: Output) throws {
    let table = TextTable(.left("kind", 24), .right("pages", 10), .right("bytes", 14))
    try output.line("")
    try output.line(table.header)
    for kind in report.pagesByKind {
      let byteCount = kind.count * report.pageByteCount
      try output.line(table.row([kind.kind, "\(kind.count)", "\(byteCount)"]))
    }
  }
}
