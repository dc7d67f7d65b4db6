import ArgumentParser
import MsgStore
import MsgStoreTools
import PageFile

/// Shows one message with all its fields, down to its bytes in the file.
struct GetCommand: ParsableCommand {
  static let configuration = CommandConfiguration(
    commandName: "get",
    abstract: "Shows one message: its fields, its page and cell, its records, and their bytes.",
    discussion: """
      A message in a segment is shown with the record that it would have in a cell of its own, as \
      a segment is compressed as a whole. With --json the fields are those of an export.
      """)

  @OptionGroup var storeArgument: StoreArgument
  @OptionGroup var options: ReportOptions

  @Option(help: "The conversation of the message.")
  var conversation: String

  @Argument(help: "The id of the message, or another name of it.")
  var message: String

  func run() throws {
    let (id, name) = (ConversationID(conversation), MessageID(message))
    let report = options.begin()
    try storeArgument.open().readOnce { snapshot in
      guard try snapshot.conversation(id) != nil else {
        throw ToolError.failure("there is no conversation \"\(id)\"")
      }
      guard let found = try snapshot.message(name, in: id),
        let cells = try snapshot.cells(of: name, in: id)
      else { throw ToolError.failure("there is no message \"\(name)\" in \"\(id)\"") }
      if report.isJSON, let exported = try snapshot.exportedMessage(name, in: id) {
        try report.output.record(.message(exported))
      }
      if !report.isJSON { try printFields(found, to: report) }
      try printCells(cells, to: report)
    }
    try report.flush()
  }

  private func printFields(_ message: Message, to report: Report) throws {
    func time(_ name: String, _ time: Timestamp?) throws {
      if let time { try report.fact(name, .time(time)) }
    }
    try report.fact("id", .text(message.id.string))
    try report.fact("conversation", .text(message.conversation.string))
    try report.fact("sender", .text(message.sender.string))
    try report.fact("status", .text(message.status.name))
    try time("server time", message.serverTimestamp)
    try time("local time", message.localTime)
    if let sequence = message.sequence { try report.fact("sequence", .number(sequence)) }
    if let reply = message.replyTo { try report.fact("reply to", .text(reply.string)) }
    try time("edited", message.editedAt)
    try time("retracted", message.retractedAt)
    try report.fact("text", .text(message.isRetracted ? nil : message.text))
    for note in MessageText.notes(message, report.times) { try report.line("  \(note)") }
  }

  private func printCells(_ cells: MessageCells, to report: Report) throws {
    let inspector = try storeArgument.inspect()
    try report.line("")
    let rows = try report.table(
      "cells", .text("tree", 18), .number("page", 10), .number("cell", 5),
      .number("value bytes", 12), .text("key", 32), .text("record", 40), .hidden("key_bytes"),
      .hidden("value"))
    for cell in [cells.cell] + cells.others {
      let place = try inspector.place(of: cell.key, tree: cell.tree)
      try rows.add([
        .text(SchemaReport.treeName(cell.tree)),
        place.map { .number(Int($0.page.rawValue)) } ?? .none,
        place.map { .number($0.index) } ?? .none, .number(cell.value.count),
        .text(SchemaReport.describeKey(cell.key, tree: cell.tree)),
        .text(RecordReport.describe(cell.key, cell.value, tree: cell.tree)),
        .text(cell.key.hexadecimal), .text(cell.value.hexadecimal),
      ])
    }
    if report.isJSON {
      try report.fact("record", .text(cells.record.hexadecimal))
      try report.endFacts()
      return
    }
    try report.line("")
    try report.line(cells.isInSegment ? "record, as outside its segment" : "record", .bold)
    for line in cells.record.hexadecimalLines { try report.line(line) }
  }
}
