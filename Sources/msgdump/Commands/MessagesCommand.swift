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
      "Messages around a time in UTC, such as 2024-01-31 or 2024-01-31T18:05.",
      valueName: "date"))
  var at: String?

  @Option(help: "The number of messages to print, with --before, --after, and --at.")
  var count = 50

  @Option(help: "The form to print them in.")
  var format = Format.text

  func validate() throws {
    let placeCount = [tail.map(String.init), before, after, at].count { $0 != nil }
    guard placeCount <= 1 else {
      throw ValidationError("--tail, --before, --after and --at exclude one another")
    }
    if conversation == nil && (before != nil || after != nil || at != nil) {
      throw ValidationError("--before, --after and --at need a --conversation")
    }
    guard (tail ?? count) > 0 else { throw ValidationError("the count must be above zero") }
    guard at.map({ UTCDate.parse($0) != nil }) ?? true else {
      throw ValidationError("--at takes a date such as 2024-01-31 or 2024-01-31T18:05")
    }
  }

  func run() throws {
    let printer = MessagePrinter(format: format, output: Output())
    try storeArgument.open().readOnce { snapshot in
      var isFirst = true
      try snapshot.forEachConversation(named: conversation) { found in
        if conversation == nil { try printer.print(heading: found, isFirst: isFirst) }
        isFirst = false
        try print(found, in: snapshot, with: printer)
      }
    }
    try printer.output.flush()
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
      if slice.isEmpty, case .gap(_, let beyond) = slice.older {
        slice = try thread.before(beyond, count: count)
      }
      try printer.print(slice, in: snapshot)
    } else if let after {
      let position = try position(of: after, in: conversation, snapshot)
      var slice = try thread.after(position, count: count)
      if slice.isEmpty, case .gap(_, let beyond) = slice.newer {
        slice = try thread.after(beyond, count: count)
      }
      try printer.print(slice, in: snapshot)
    } else if let time = at.flatMap(UTCDate.parse) {
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
  let format: MessagesCommand.Format
  let output: Output

  private static let table = TextTable(
    .left("time", 27), .left("status", 9), .left("id", 20), .left("sender", 12), .left("text", 0))

  func print(heading conversation: Conversation, isFirst: Bool) throws {
    guard format == .text else { return }
    if !isFirst { try output.line("") }
    let title = conversation.title.map { ": \($0.visible)" } ?? ""
    try output.line("# \(conversation.id.string.visible)\(title)")
  }

  func print(_ slice: MessageSlice, in snapshot: borrowing StoreSnapshot) throws {
    try printEdge(slice.older, "the thread begins here", "--before", slice.first)
    for message in slice { try print(message, in: snapshot) }
    try printEdge(slice.newer, "the thread ends here", "--after", slice.last)
  }

  func print(_ message: Message, in snapshot: borrowing StoreSnapshot) throws {
    guard format == .text else {
      if let stored = try snapshot.exportedMessage(message.id, in: message.conversation) {
        try output.record(.message(stored))
      }
      return
    }
    let time = message.serverTimestamp ?? message.localTime
    try output.line(
      Self.table.row([
        time.map(\.description) ?? "-", message.status.name, message.id.string.visible,
        message.sender.string.visible, MessageText.line(message),
      ]))
    for note in MessageText.notes(message) {
      try output.line(Self.table.row(["", "", "", "", "  \(note)"]))
    }
  }

  private func printEdge(
    _ edge: SliceBoundary, _ end: String, _ option: String, _ outermost: Message?
  ) throws {
    guard format == .text else { return }
    switch (edge, outermost) {
    case (.end, _): try output.line("-- \(end)")
    case (.more, let message?): try output.line("-- more: \(option) \(message.id.string.visible)")
    case (.more, nil): break
    case (.gap(let missing, _), _): try print(missing: missing)
    }
  }

  func print(missing: ClosedRange<Int64>) throws {
    guard format == .text else { return }
    try output.line("-- gap: \(missing.lowerBound)…\(missing.upperBound)")
  }
}
