import ArgumentParser
import MsgStore
import MsgStoreTools

/// Prints the messages of one conversation, or of all.
struct MessagesCommand: ParsableCommand {
  static let configuration = CommandConfiguration(
    commandName: "messages",
    abstract: "Prints messages, oldest first.",
    discussion: """
      Without a place, every message of the conversation is printed; without a conversation, those \
      of all conversations. The id of a printed message is a place to continue from, even beyond \
      a gap in the sequence numbers.
      """)

  enum Format: String, ExpressibleByArgument, CaseIterable {
    case text
    case jsonl
  }

  @OptionGroup var storeArgument: StoreArgument
  @OptionGroup var times: TimeOptions

  @Option(help: "The conversation to read.")
  var conversation: String?

  @Option(help: ArgumentHelp("The newest messages.", valueName: "count"))
  var tail: Int?

  @Option(help: ArgumentHelp("Messages older than this one.", valueName: "message id"))
  var before: String?

  @Option(help: ArgumentHelp("Messages newer than this one.", valueName: "message id"))
  var after: String?

  @Option(
    help: ArgumentHelp(
      "Messages around a time, such as 2024-01-31 or 2024-01-31T18:05.",
      valueName: "date"))
  var at: String?

  @Option(help: "The number of messages to print, with --before, --after, and --at.")
  var count = 50

  @Option(help: "The form to print them in.")
  var format = Format.text

  @Flag(help: "The same as --format jsonl.")
  var json = false

  func validate() throws {
    let placeCount = [tail.map(String.init), before, after, at].count { $0 != nil }
    guard placeCount <= 1 else {
      throw ValidationError("--tail, --before, --after and --at exclude one another")
    }
    if conversation == nil && (before != nil || after != nil || at != nil) {
      throw ValidationError("--before, --after and --at need a --conversation")
    }
    guard (tail ?? count) > 0 else { throw ValidationError("the count must be above zero") }
    guard at.map({ times.format.parse($0) != nil }) ?? true else {
      throw ValidationError("--at takes a date such as 2024-01-31 or 2024-01-31T18:05")
    }
  }

  func run() throws {
    let isJSON = json || format == .jsonl
    let report = Report(
      Output(), form: isJSON ? .json : .text(Terminal.current()), times: times.format)
    let printer = MessagePrinter(report)
    try storeArgument.open().readOnce { snapshot in
      var isFirst = true
      try snapshot.forEachConversation(named: conversation) { found in
        if conversation == nil { try printer.print(heading: found, isFirst: isFirst) }
        isFirst = false
        try print(found, in: snapshot, with: printer)
      }
    }
    try report.flush()
  }

  private func print(
    _ conversation: Conversation, in snapshot: borrowing StoreSnapshot, with printer: MessagePrinter
  ) throws {
    let thread = try snapshot.thread(conversation.id)
    if let tail {
      try printer.print(thread.tail(tail), in: snapshot)
    } else if let before {
      let position = try position(of: before, in: conversation, snapshot)
      var slice = try thread.before(position, count: count)
      if slice.isEmpty, let beyond = slice.older.beyondGap {
        slice = try thread.before(beyond, count: count)
      }
      try printer.print(slice, in: snapshot)
    } else if let after {
      let position = try position(of: after, in: conversation, snapshot)
      var slice = try thread.after(position, count: count)
      if slice.isEmpty, let beyond = slice.newer.beyondGap {
        slice = try thread.after(beyond, count: count)
      }
      try printer.print(slice, in: snapshot)
    } else if let time = at.flatMap(times.format.parse) {
      try printer.print(thread.at(time, count: count), in: snapshot)
    } else {
      try thread.forEachMessage(
        { try printer.print($0, in: snapshot) }, gap: printer.print(missing:))
    }
  }

  private func position(
    of id: String, in conversation: Conversation, _ snapshot: borrowing StoreSnapshot
  ) throws -> MessagePosition {
    guard let message = try snapshot.message(MessageID(id), in: conversation.id) else {
      throw ToolError.failure("there is no message \"\(id)\" in \"\(conversation.id)\"")
    }
    return message.position
  }
}

/// Prints messages in one of the formats.
///
/// In text form, a slice also tells what lies beyond it.
private struct MessagePrinter {
  private let report: Report
  private let rows: Report.Rows

  init(_ report: Report) {
    self.report = report
    rows = report.untitledTable(
      .time("time"), .text("status", 9), .name("id", 20), .text("sender", 12), .text("text", 40))
  }

  func print(heading conversation: Conversation, isFirst: Bool) throws {
    if !isFirst { try report.line("") }
    let title = conversation.title.map { ": \($0.visible)" } ?? ""
    try report.line("# \(conversation.id.string.visible)\(title)", .bold)
  }

  func print(_ slice: MessageSlice, in snapshot: borrowing StoreSnapshot) throws {
    try printEdge(slice.older, "the thread begins here", "--before", slice.first)
    for message in slice { try print(message, in: snapshot) }
    try printEdge(slice.newer, "the thread ends here", "--after", slice.last)
  }

  func print(_ message: Message, in snapshot: borrowing StoreSnapshot) throws {
    guard !report.isJSON else {
      if let stored = try snapshot.exportedMessage(message.id, in: message.conversation) {
        try report.output.record(.message(stored))
      }
      return
    }
    let time = message.serverTimestamp ?? message.localTime
    try rows.add(
      [
        time.map { .time($0) } ?? .none, .text(message.status.name), .text(message.id.string),
        .text(message.sender.string), .text(MessageText.line(message, report.times)),
      ], message.status == .failed ? .red : .plain)
    for note in MessageText.notes(message, report.times) { try rows.note(note, .faint) }
  }

  private func printEdge(
    _ edge: SliceBoundary, _ end: String, _ option: String, _ outermost: Message?
  ) throws {
    switch (edge, outermost) {
    case (.end, _): try report.line("-- \(end)", .faint)
    case (.more, let message?):
      try report.line("-- more: \(option) \(message.id.string.visible)", .faint)
    case (.more, nil): break
    case (.gap(let missing, _), _): try print(missing: missing)
    case (.pruned, _): try report.line("-- pruned", .yellow)
    }
  }

  func print(missing: ClosedRange<Int64>) throws {
    try report.line("-- gap: \(missing.lowerBound)…\(missing.upperBound)", .yellow)
  }
}

extension SliceBoundary {
  /// The position beyond a gap or pruned messages, or nil if neither is here.
  fileprivate var beyondGap: MessagePosition? {
    switch self {
    case .gap(_, let beyond): beyond
    case .pruned(let beyond): beyond
    case .end, .more: nil
    }
  }
}
