import ArgumentParser
import MsgStore
import MsgStoreTools

/// Shows how far members have read, and the receipts still to be sent to the server.
struct ReceiptsCommand: ParsableCommand {
  static let configuration = CommandConfiguration(
    commandName: "receipts",
    abstract: "Shows how far each member has read and received, and what is still to be told.")

  private static let table = TextTable(
    .left("member", 16), .left("", 9), .left("when", 27), .left("up to", 0))

  @OptionGroup var storeArgument: StoreArgument

  @Option(help: "The conversation to look at.")
  var conversation: String?

  func run() throws {
    let output = Output()
    let store = try storeArgument.open()
    try store.readOnce { snapshot in
      var isFirst = true
      try snapshot.forEachConversation(named: conversation) { conversation in
        if !isFirst { try output.line("") }
        isFirst = false
        try output.line("# \(conversation.id.string.visible)")
        try output.line(Self.table.header)
        if let marks = try snapshot.exportedMarks(of: conversation.id) {
          try print(marks, to: output)
        }
        for receipts in try snapshot.exportedReceipts(of: conversation.id) {
          let name = receipts.member.string.visible
          for step in receipts.read { try print(name, "read", step, to: output) }
          for step in receipts.delivered { try print(name, "delivered", step, to: output) }
        }
        for untold in try snapshot.exportedUntold(of: conversation.id) {
          let rest = untold.isLate ? ", once it is marked again" : ""
          try output.line(
            "to be told: \(untold.kind.name) \(untold.message.string.visible)\(rest)")
        }
      }
    }
    try output.flush()
  }

  /// Prints the local member's marks, and those of them that the server knows.
  private func print(_ marks: ExportedMarks, to output: Output) throws {
    let places = [
      ("read", marks.readMark), ("delivered", marks.deliveredMark),
      ("confirmed as read", marks.confirmedRead),
      ("confirmed as delivered", marks.confirmedDelivered),
    ]
    for case (let name, let place?) in places {
      try output.line("here: \(name) up to \(Self.text(place))")
    }
    for step in marks.read { try print("(here)", "read", step, to: output) }
    for step in marks.delivered { try print("(here)", "delivered", step, to: output) }
  }

  private func print(
    _ member: String, _ kind: String, _ step: ExportedStep, to output: Output
  ) throws {
    try output.line(
      Self.table.row([
        member, kind, step.time.map(\.description) ?? "-", Self.text(step.position),
      ]))
  }

  private static func text(_ position: MessagePosition) -> String {
    let time = Timestamp(microseconds: position.place.time).description
    let sequence = position.place.sequence.map { ", sequence \($0)" } ?? ""
    return "\(position.id.string.visible) (\(time)\(sequence))"
  }
}
