import ArgumentParser
import MsgStore
import MsgStoreTools

/// Shows the entries waiting to be sent.
struct OutboxCommand: ParsableCommand {
  static let configuration = CommandConfiguration(
    commandName: "outbox",
    abstract: "Shows what waits to be sent, in order, and why.",
    discussion: """
      An entry is due now, at a time, in its turn behind others of its conversation, or not before \
      somebody has decided about it or what it needs. The lines of --format jsonl are those of an \
      export.
      """)

  enum Format: String, ExpressibleByArgument, CaseIterable {
    case text
    case jsonl
  }

  private static let table = TextTable(
    .right("entry", 5), .left("task", 19), .left("conversation", 16), .left("message", 16),
    .left("state", 8), .left("due", 27), .right("tries", 5), .right("age", 7), .left("text", 0))

  @OptionGroup var storeArgument: StoreArgument

  @Option(help: "The conversation to look at.")
  var conversation: String?

  @Option(help: "The form to print them in.")
  var format = Format.text

  @Option(
    help: ArgumentHelp(
      "What ages are counted to, in UTC, such as 2024-01-31T18:05; now, if left out.",
      valueName: "date"))
  var at: String?

  func validate() throws {
    guard at.map({ UTCDate.parse($0) != nil }) ?? true else {
      throw ValidationError("--at takes a date such as 2024-01-31 or 2024-01-31T18:05")
    }
  }

  func run() throws {
    let output = Output()
    let id = conversation.map { ConversationID($0) }
    let now = at.flatMap(UTCDate.parse) ?? StoreOptions.systemClock()
    try storeArgument.open().readOnce { snapshot in
      let counts = try snapshot.outbox.counts(in: id)
      if let id, counts.total == 0, try snapshot.conversation(id) == nil {
        throw ToolError.failure("there is no conversation \"\(id)\"")
      }
      if format == .text {
        try output.line(OutboxText.line(counts, holdsNewEntries: snapshot.outbox.holdsNewEntries))
        if counts.total > 0 { try output.line(Self.table.header) }
      }
      try snapshot.forEachReportedEntry(in: id) { entry in
        switch format {
        case .text: try print(entry, at: now, to: output)
        case .jsonl: try output.record(.outbox(entry.exported))
        }
      }
    }
    try output.flush()
  }

  private func print(_ reported: ReportedEntry, at now: Timestamp, to output: Output) throws {
    let entry = reported.entry
    try output.line(
      Self.table.row([
        "\(entry.id)", entry.kind.name, entry.conversation?.string.visible ?? "-",
        entry.message?.string.visible ?? "-", reported.exported.state.name,
        OutboxText.due(reported), "\(entry.attemptCount)",
        OutboxText.age(from: entry.created, to: now), entry.text?.visible ?? "",
      ]))
    for note in OutboxText.notes(entry) {
      try output.line(Self.table.row(["", "", "", "", "", "", "", "", "  \(note)"]))
    }
  }
}
