import ArgumentParser
import MsgStore
import MsgStoreTools
import PageFile

/// Shows the facts about a store: its format, its numbers, its trees.
struct InfoCommand: ParsableCommand {
  static let configuration = CommandConfiguration(
    commandName: "info",
    abstract: "Shows the store's format, sizes, messages, commit numbers, and trees.")

  @OptionGroup var storeArgument: StoreArgument
  @OptionGroup var options: ReportOptions

  func run() throws {
    let file = try storeArgument.inspect().file()
    let report = options.begin()
    try printFacts(file, to: report)
    try printMessages(to: report)
    try report.endFacts()
    try printTrees(file, to: report)
    try printKinds(file, to: report)
    try printWords(file, to: report)
    try report.flush()
  }

  private func printFacts(_ file: FileReport, to report: Report) throws {
    try report.fact("format version", .number(Int(file.formatVersion)))
    try report.fact("store id", .text(file.storeID))
    try report.fact("page size", key: "page_bytes", .number(file.pageByteCount), " bytes")
    if let key = file.key {
      try report.fact("encrypted", .flag(true))
      try report.fact("key number", .number(Int(key.number)))
      try report.fact("seals", .count(key.sealCount))
    }
    try report.fact("generation", .count(file.generation))
    try report.fact("checkpoint LSN", .count(file.checkpointLSN.rawValue))
    try report.fact("last LSN", .count(file.lastLSN.rawValue))
    try report.fact("closed cleanly", .flag(file.isClean))
    try report.fact("data file", key: "data_file_bytes", .number(file.dataFileByteCount), " bytes")
    for (index, byteCount) in file.walByteCounts.enumerated() {
      try report.fact(
        "WAL file \(index)", key: "wal_file_\(index)_bytes", .number(byteCount), " bytes")
    }
    try report.fact("slots", .number(file.slotCount))
    try report.fact("free slots", .number(file.freeSlotCount))
    try report.fact("pages", .number(file.pageCount))
  }

  /// Prints the totals of the messages, if the file can be opened as a message store.
  private func printMessages(to report: Report) throws {
    let store: MessageStore
    do {
      store = try storeArgument.open()
    } catch {
      return try report.fact("messages", .none, ": \(ToolError.sentence(for: error))")
    }
    try report.fact("local member", .text(store.localMember?.string))
    try store.readOnce { snapshot in
      let found = try Totals(snapshot)
      try report.fact("conversations", .number(found.conversationCount))
      try report.fact("messages", .number(found.messageCount))
      try report.fact("first message", found.first.map { .time($0) } ?? .none)
      try report.fact("last message", found.last.map { .time($0) } ?? .none)
      let unread = try snapshot.unreadTotals
      try report.fact(
        "unread", .number(unread.messages),
        ", \(unread.mentions) of them name the local member; muted: \(unread.mutedMessages), "
          + "\(unread.mutedMentions)")
      let counts = try snapshot.outbox.counts()
      try report.fact(
        "outbox", .number(counts.total),
        try OutboxText.states(counts, holdsNewEntries: snapshot.outbox.holdsNewEntries))
      try report.fact("work in steps left", .flag(snapshot.hasWork))
    }
  }

  /// Counts of a store's messages, and the times of the first and the last that the server knows.
  private struct Totals {
    var conversationCount = 0
    var messageCount = 0
    var first: Timestamp?
    var last: Timestamp?

    init(_ snapshot: borrowing StoreSnapshot) throws {
      var totals = self
      try snapshot.forEachConversation { conversation in
        totals.conversationCount += 1
        totals.messageCount += conversation.messageCount
        guard conversation.messageCount > 0 else { return }
        let thread = try snapshot.thread(conversation.id)
        for message in try thread.at(Timestamp(microseconds: .min), count: 1) {
          if let time = message.serverTimestamp { totals.include(time) }
        }
        for message in try thread.tail(1) {
          if let time = message.serverTimestamp { totals.include(time) }
        }
      }
      self = totals
    }

    private mutating func include(_ time: Timestamp) {
      first = min(first ?? time, time)
      last = max(last ?? time, time)
    }
  }

  private func printTrees(_ file: FileReport, to report: Report) throws {
    try report.line("")
    let rows = try report.table(
      "trees", .number("tree", 4), .text("name", 18), .number("root", 10), .number("pages", 10),
      .number("depth", 5), .number("cells", 12))
    for tree in file.trees {
      try rows.add([
        .number(tree.number), .text(SchemaReport.treeName(tree.number)),
        .number(Int(tree.root.rawValue)), .number(tree.pageCount), .number(tree.depth),
        .number(tree.cellCount),
      ])
    }
  }

  /// Prints the numbers of the store as a whole that are set.
  private func printWords(_ file: FileReport, to report: Report) throws {
    try report.line("")
    let rows = try report.table("words", .text("word", 24), .number("value", 20))
    for (index, word) in file.words.enumerated() where word != 0 {
      try rows.add([.text(SchemaReport.wordName(index)), .count(word)])
    }
  }

  private func printKinds(_ file: FileReport, to report: Report) throws {
    try report.line("")
    let rows = try report.table(
      "kinds", .text("kind", 24), .number("pages", 10), .number("bytes", 14))
    for kind in file.pagesByKind {
      try rows.add([
        .text(kind.kind), .number(kind.count), .number(kind.count * file.pageByteCount),
      ])
    }
  }
}
