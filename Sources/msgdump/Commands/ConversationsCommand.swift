import ArgumentParser
import MsgStore

/// Lists the conversations, as a client shows them.
struct ConversationsCommand: ParsableCommand {
  static let configuration = CommandConfiguration(
    commandName: "conversations",
    abstract: "Lists the conversations: pinned ones, the others by activity, archived ones.")

  private static let batchCount = 200
  private static let previewWidth = 40

  private static let table = TextTable(
    .left("last activity", 27), .right("messages", 9), .right("unread", 6), .right("names me", 8),
    .left("marks", 12), .left("conversation", 20), .left("title or participants", 24),
    .left("last message", 0))

  @OptionGroup var storeArgument: StoreArgument

  func run() throws {
    let output = Output()
    try output.line(Self.table.header)
    try storeArgument.open().readOnce { snapshot in
      var last: ConversationPosition?
      repeat {
        let slice = try snapshot.conversations(count: Self.batchCount, after: last)
        for conversation in slice { try print(conversation, to: output) }
        last = slice.older
      } while last != nil
      repeat {
        let slice = try snapshot.archivedConversations(count: Self.batchCount, after: last)
        for conversation in slice { try print(conversation, to: output) }
        last = slice.older
      } while last != nil
    }
    try output.flush()
  }

  private func print(_ conversation: Conversation, to output: Output) throws {
    let preview = conversation.preview.map {
      MessageText.preview($0).visible.shortened(to: Self.previewWidth)
    }
    try output.line(
      Self.table.row([
        conversation.lastActivity.map(\.description) ?? "-", "\(conversation.messageCount)",
        "\(conversation.unreadCount)", "\(conversation.unreadMentionCount)",
        Self.marks(conversation), conversation.id.string.visible, Self.title(conversation),
        preview ?? "",
      ]))
  }

  private static func title(_ conversation: Conversation) -> String {
    if let title = conversation.title { return title.visible }
    let rest = conversation.participantCount - conversation.participants.count
    return MessageText.list(conversation.participants) + (rest > 0 ? " and \(rest) more" : "")
  }

  /// Returns the local member's marks of a conversation.
  private static func marks(_ conversation: Conversation) -> String {
    let marks = [
      ("pinned", conversation.isPinned), ("muted", conversation.isMuted),
      ("archived", conversation.isArchived), ("draft", conversation.hasDraft),
      ("left", !conversation.isMember),
    ]
    return marks.filter(\.1).map(\.0).joined(separator: " ")
  }
}
