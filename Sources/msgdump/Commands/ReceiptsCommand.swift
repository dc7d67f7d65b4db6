import ArgumentParser
import MsgStore
import MsgStoreTools

/// Shows how far members have read, and the receipts still to be sent to the server.
struct ReceiptsCommand: ParsableCommand {
  static let configuration = CommandConfiguration(
    commandName: "receipts",
    abstract: "Shows how far each member has read and received, and what is still to be told.")

  @OptionGroup var storeArgument: StoreArgument
  @OptionGroup var options: ReportOptions

  @Option(help: "The conversation to look at; all that have receipts, if left out.")
  var conversation: String?

  func run() throws {
    let report = options.begin()
    let rows = try report.table(
      nil, .name("conversation", 20), .text("member", 16), .text("kind", 22), .time("when"),
      .hidden("message"), .hidden("server_time"), .hidden("sequence"),
      .text("up to", 40, key: "text"))
    var isEmpty = true
    let store = try storeArgument.open()
    try store.readOnce { snapshot in
      try snapshot.forEachConversation(named: conversation) { conversation in
        let lines = try Self.lines(conversation.id, snapshot, local: store.localMember)
        isEmpty = isEmpty && lines.isEmpty
        for line in lines { try line.print(conversation.id, to: rows) }
      }
    }
    if isEmpty { try report.line("no receipts", .faint) }
    try report.flush()
  }

  /// One line of the table: how far a member has come.
  private struct Line {
    let member: String
    let kind: String
    var time: Timestamp?
    var position: MessagePosition?
    var message: MessageID?
    var note = ""

    func print(_ conversation: ConversationID, to rows: Report.Rows) throws(ToolError) {
      let place = position?.place
      try rows.add([
        .text(conversation.string), .text(member), .text(kind), time.map { .time($0) } ?? .none,
        .text((position?.id ?? message)?.string),
        (place?.time).map { .time(Timestamp(microseconds: $0)) } ?? .none,
        (place?.sequence).map { .number($0) } ?? .none,
        .text(position.map(ReceiptsCommand.text) ?? (message?.string ?? "") + note),
      ])
    }
  }

  private static func lines(
    _ id: ConversationID, _ snapshot: borrowing StoreSnapshot, local: MemberID?
  ) throws -> [Line] {
    var lines: [Line] = []
    if let marks = try snapshot.exportedMarks(of: id) {
      let name = local.map { "\($0.string) (you)" } ?? "(you)"
      let places = [
        ("read", marks.readMark), ("delivered", marks.deliveredMark),
        ("read, confirmed", marks.confirmedRead),
        ("delivered, confirmed", marks.confirmedDelivered),
      ]
      for case (let kind, let place?) in places {
        lines.append(Line(member: name, kind: kind, position: place))
      }
      for step in marks.read { lines.append(line(name, "read", step)) }
      for step in marks.delivered { lines.append(line(name, "delivered", step)) }
    }
    for receipts in try snapshot.exportedReceipts(of: id) {
      for step in receipts.read { lines.append(line(receipts.member.string, "read", step)) }
      for step in receipts.delivered {
        lines.append(line(receipts.member.string, "delivered", step))
      }
    }
    for untold in try snapshot.exportedUntold(of: id) {
      lines.append(
        Line(
          member: local?.string ?? "(you)", kind: "\(untold.kind.name), to be told",
          message: untold.message, note: untold.isLate ? ", once it is marked again" : ""))
    }
    return lines
  }

  private static func line(_ member: String, _ kind: String, _ step: ExportedStep) -> Line {
    Line(member: member, kind: kind, time: step.time, position: step.position)
  }

  private static func text(_ position: MessagePosition) -> String {
    let sequence = position.place.sequence.map { " (sequence \($0))" } ?? ""
    return position.id.string + sequence
  }
}
