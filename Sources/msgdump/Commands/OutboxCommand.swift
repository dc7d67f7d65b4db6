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

  @OptionGroup var storeArgument: StoreArgument
  @OptionGroup var times: TimeOptions

  @Option(help: "The conversation to look at.")
  var conversation: String?

  @Option(help: "The form to print them in.")
  var format = Format.text

  @Flag(help: "The same as --format jsonl.")
  var json = false

  @Option(
    help: ArgumentHelp(
      "The time that ages are counted to, such as 2024-01-31T18:05; now, if left out.",
      valueName: "date"))
  var at: String?

  func validate() throws {
    guard at.map({ times.format.parse($0) != nil }) ?? true else {
      throw ValidationError("--at takes a date such as 2024-01-31 or 2024-01-31T18:05")
    }
  }

  func run() throws {
    let isJSON = json || format == .jsonl
    let report = Report(
      Output(), form: isJSON ? .json : .text(Terminal.current()), times: times.format)
    let id = conversation.map { ConversationID($0) }
    let now = at.flatMap(times.format.parse) ?? StoreOptions.systemClock()
    try storeArgument.open().readOnce { snapshot in
      let counts = try snapshot.outbox.counts(in: id)
      if let id, counts.total == 0, try snapshot.conversation(id) == nil {
        throw ToolError.failure("there is no conversation \"\(id)\"")
      }
      try report.line(OutboxText.line(counts, holdsNewEntries: snapshot.outbox.holdsNewEntries))
      guard counts.total > 0 else { return }
      guard !isJSON else {
        return try snapshot.forEachReportedEntry(in: id) { entry in
          try report.output.record(.outbox(entry.exported))
        }
      }
      let rows = try report.table(
        nil, .number("entry", 5), .text("task", 19), .text("conversation", 16),
        .text("message", 16), .text("state", 8), .time("due"), .number("tries", 5),
        .number("age", 7), .text("text", 24))
      try snapshot.forEachReportedEntry(in: id) { try print($0, at: now, to: rows) }
    }
    try report.flush()
  }

  private func print(_ reported: ReportedEntry, at now: Timestamp, to rows: Report.Rows) throws {
    let entry = reported.entry
    let hasFailed = if case .failed = entry.state { true } else { false }
    try rows.add(
      [
        .text("\(entry.id)"), .text(entry.kind.name), .text(entry.conversation?.string),
        .text(entry.message?.string), .text(reported.exported.state.name),
        OutboxText.due(reported), .number(Int(entry.attemptCount)),
        .text(OutboxText.age(from: entry.created, to: now)), .text(entry.text ?? ""),
      ], hasFailed ? .red : .plain)
    for note in OutboxText.notes(entry) { try rows.note(note, .faint) }
  }
}
