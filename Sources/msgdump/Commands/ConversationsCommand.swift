import ArgumentParser
import MsgStore

/// The list of conversations, as a client shows it.
struct ConversationsCommand: ParsableCommand {
  static let configuration = CommandConfiguration(
    commandName: "conversations",
    abstract: "Lists the conversations, newest activity first.")

  private static let batchCount = 200
  private static let previewWidth = 40

  @OptionGroup var storeArgument: StoreArgument

  func run() throws {
    let output = Output()
    let table = TextTable(
      .left("last activity", 27), .right("messages", 9), .right("unread", 6),
      .left("conversation", 20), .left("title or participants", 24), .left("last message", 0))
    try output.line(table.header)
    try storeArgument.open().readOnce { snapshot in
      var last: ConversationPosition?
      repeat {
        let slice = try snapshot.conversations(count: Self.batchCount, after: last)
        for conversation in slice { try output.line(table.row(Self.cells(conversation))) }
        last = slice.older
      } while last != nil
    }
    try output.flush()
  }

  private static func cells(_ conversation: Conversation) -> [String] {
    let participants = conversation.participants.map(\.string).joined(separator: ", ")
    let preview = conversation.preview.map { preview in
      "\(preview.sender): \(preview.text)".visible.shortened(to: previewWidth)
    }
    return [
      conversation.lastActivity.map(UTCDate.format) ?? "-",
      "\(conversation.messageCount)",
      "\(conversation.unreadCount)",
      conversation.id.string.visible,
      (conversation.title ?? participants).visible,
      preview ?? "",
    ]
  }
}
