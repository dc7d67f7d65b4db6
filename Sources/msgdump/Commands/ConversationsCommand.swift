import ArgumentParser
import MsgStore
import MsgStoreTools

/// Lists the conversations, as a client shows them.
struct ConversationsCommand: ParsableCommand {
  static let configuration = CommandConfiguration(
    commandName: "conversations",
    abstract: "Lists the conversations: pinned ones, the others by activity, archived ones.",
    discussion: "With --sort all of them are read before the first is printed.")

  enum Order: String, ExpressibleByArgument, CaseIterable {
    case activity
    case messages
    case unread
  }

  private static let batchCount = 200
  private static let previewWidth = 40

  @OptionGroup var storeArgument: StoreArgument
  @OptionGroup var options: ReportOptions

  @Option(help: ArgumentHelp("The number of conversations to list.", valueName: "count"))
  var count: Int?

  @Option(help: "Their order: the list's own, or the most messages or unread messages first.")
  var sort = Order.activity

  func validate() throws {
    guard (count ?? 1) > 0 else { throw ValidationError("--count: below 1") }
  }

  func run() throws {
    let report = options.begin()
    let rows = try report.table(
      nil, .time("last activity"), .number("messages", 9), .number("unread", 6),
      .number("names me", 8, key: "unread_mentions"), .text("marks", 12),
      .name("conversation", 20), .text("title or participants", 24, key: "title"),
      .hidden("participants"), .hidden("participant_count"), .text("last message", 40))
    try storeArgument.open().readOnce { snapshot in
      switch sort {
      case .activity: try forEachInOrder(snapshot) { try print($0, to: rows) }
      case .messages: try printSorted(by: { $0.messageCount }, snapshot, to: rows)
      case .unread: try printSorted(by: { $0.unreadCount }, snapshot, to: rows)
      }
    }
    try report.flush()
  }

  /// Calls `body` for the first conversations in the order of the list.
  private func forEachInOrder(
    _ snapshot: borrowing StoreSnapshot, _ body: (Conversation) throws -> Void
  ) throws {
    var rest = count ?? .max
    var last: ConversationPosition?
    var isArchived = false
    while rest > 0 {
      let batchCount = min(Self.batchCount, rest)
      let slice =
        try isArchived
        ? snapshot.archivedConversations(count: batchCount, after: last)
        : snapshot.conversations(count: batchCount, after: last)
      for conversation in slice { try body(conversation) }
      rest -= slice.count
      last = slice.older
      guard last == nil else { continue }
      if isArchived { return }
      isArchived = true
    }
  }

  /// Prints the conversations with the greatest counts; those with equal ones are in the order of
  /// the list.
  private func printSorted(
    by size: (Conversation) -> Int, _ snapshot: borrowing StoreSnapshot, to rows: Report.Rows
  ) throws {
    // Names and counts alone, so that the previews of all conversations need not be kept.
    var found: [(id: ConversationID, size: Int)] = []
    try snapshot.forEachConversation { found.append(($0.id, size($0))) }
    let order = found.indices.sorted { (found[$0].size, $1) > (found[$1].size, $0) }
    for index in order.prefix(count ?? .max) {
      if let conversation = try snapshot.conversation(found[index].id) {
        try print(conversation, to: rows)
      }
    }
  }

  private func print(_ conversation: Conversation, to rows: Report.Rows) throws {
    let preview = conversation.preview.map {
      MessageText.preview($0).visible.shortened(to: Self.previewWidth)
    }
    try rows.add(
      [
        conversation.lastActivity.map { .time($0) } ?? .none, .number(conversation.messageCount),
        .number(conversation.unreadCount), .number(conversation.unreadMentionCount),
        Self.marks(conversation, rows), .text(conversation.id.string),
        rows.isJSON ? .text(conversation.title) : .text(Self.title(conversation)),
        .list(conversation.participants.map(\.string)), .number(conversation.participantCount),
        rows.isJSON ? Self.lastMessage(conversation) : .text(preview ?? ""),
      ], conversation.unreadCount > 0 ? .bold : .plain)
  }

  private static func title(_ conversation: Conversation) -> String {
    if let title = conversation.title { return title }
    let rest = conversation.participantCount - conversation.participants.count
    let names = conversation.participants.map(\.string).joined(separator: ", ")
    return names + (rest > 0 ? " and \(rest) more" : "")
  }

  private static func lastMessage(_ conversation: Conversation) -> Field {
    .text(conversation.preview.map { MessageText.preview($0) })
  }

  /// Returns the local member's marks of a conversation.
  private static func marks(_ conversation: Conversation, _ rows: Report.Rows) -> Field {
    let end = conversation.mutedUntil.map { " until \($0)" } ?? ""
    let all = [
      ("pinned", conversation.isPinned), ("muted\(end)", conversation.isMuted),
      ("archived", conversation.isArchived), ("draft", conversation.hasDraft),
      ("left", !conversation.isMember),
    ]
    let marks = all.filter(\.1).map(\.0)
    return rows.isJSON ? .list(marks) : .text(marks.joined(separator: " "))
  }
}
