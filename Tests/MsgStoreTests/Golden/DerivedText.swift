import MsgStore
import MsgStoreTools

/// Everything that a store derives, as text, by questions that a client asks.
struct DerivedText {
  private(set) var lines: [String] = []

  static func lines(of store: MessageStore) throws -> [String] {
    try store.read { try lines(of: $0) }
  }

  static func lines(of chat: borrowing StoreSnapshot) throws -> [String] {
    var text = DerivedText()
    try text.add(chat)
    return text.lines
  }

  private mutating func add(_ chat: borrowing StoreSnapshot) throws {
    let totals = try chat.unreadTotals
    lines.append(
      "totals: \(totals.messages) unread, \(totals.mutedMessages) muted,"
        + " \(totals.mentions) mentions, \(totals.mutedMentions) muted")
    let waiting = try chat.waitingFacts
    lines.append("waiting: \(waiting.waiting), dropped \(waiting.dropped)")
    for room in try chat.conversations(count: 1000) { add(room, to: "list") }
    for room in try chat.archivedConversations(count: 1000) { add(room, to: "archive") }
    for transfer in try chat.runningTransfers() {
      lines.append(
        "transfer: \(transfer.conversation) \(transfer.message) \(transfer.attachment.id)"
          + " up \(transfer.upload) down \(transfer.download)")
    }
    for path in try chat.unneededFiles(count: 1000) { lines.append("unneeded file: \(path)") }
    let counts = try chat.outbox.counts()
    lines.append("outbox: \(Self.text(counts))")
    for entry in try chat.outbox.entries(count: 1000).entries {
      lines.append(
        "entry: \(entry.kind) \(entry.conversation?.string ?? "-") \(entry.message?.string ?? "-")"
          + " blocked \(entry.isBlocked) attempts \(entry.attemptCount)")
    }
    var ids: [ConversationID] = []
    try chat.forEachExportedConversation { ids.append($0.id) }
    for id in ids { try add(id, chat) }
  }

  private mutating func add(_ room: Conversation, to list: String) {
    let preview = room.preview.map {
      "\($0.messageID) \($0.sender) \($0.status) deleted \($0.isRetracted)"
        + " \($0.attachment.map { "\($0.kind)" } ?? "-") \($0.text.debugDescription)"
    }
    let end = room.mutedUntil.map { " until \($0.microseconds)" } ?? ""
    lines.append(
      "\(list): \(room.id) pinned \(room.isPinned) muted \(room.isMuted)\(end)"
        + " \(room.participantCount) participants, \(room.messageCount) messages,"
        + " \(room.unreadCount) unread, \(room.unreadMentionCount) mentions,"
        + " \(Self.text(room.lastActivity)), \(preview ?? "-")")
  }

  private mutating func add(_ id: ConversationID, _ chat: borrowing StoreSnapshot) throws {
    let known = try chat.knownSequences(in: id, count: 1000)
    lines.append("\(id): known \(known)")
    for kind in ReceiptKind.allCases {
      for receipt in try chat.pendingReceipts(in: id, kind, as: .ids(maximumCount: 500)) {
        lines.append("\(id): to tell \(kind) \(receipt.ids.map(\.string))")
      }
    }
    lines.append("\(id): outbox \(Self.text(try chat.outbox.counts(in: id)))")
    for tag in MessageTag.builtIn {
      let tagged = try chat.thread(id).tagged(tag)
      let (count, ids) = (try tagged.count, try tagged.tail(1000).map(\.id.string))
      if count > 0 { lines.append("\(id): \(count) \(tag) \(ids)") }
    }
    let firstUnread = try chat.thread(id).firstUnread(count: 1).first?.id
    lines.append("\(id): first unread near \(firstUnread?.string ?? "-")")
    var messages: [MessageID] = []
    try chat.forEachExportedMessage(in: id) { messages.append($0.id) }
    for message in messages {
      let replies = try chat.replies(to: message, in: id).newest(1000)
      if !replies.isEmpty { lines.append("\(id): \(message) answered by \(replies.map(\.id))") }
      try addEdits(of: message, in: id, chat)
      guard let delivery = try chat.delivery(of: message, in: id) else { continue }
      if delivery.recipientCount == 0 { continue }
      lines.append(
        "\(id): \(message) \(delivery.status) of \(delivery.recipientCount):"
          + " \(delivery.deliveredCount) have it, \(delivery.readCount) have read it")
    }
  }

  /// Adds the server's ids of a message's edits, the shown one last.
  private mutating func addEdits(
    of message: MessageID, in id: ConversationID, _ chat: borrowing StoreSnapshot
  ) throws {
    guard let shown = try chat.message(message, in: id), shown.editedAt != nil else { return }
    let names = try chat.history(of: message, in: id).map(\.serverName) + [shown.editServerName]
    if names.allSatisfy({ $0 == nil }) { return }
    lines.append("\(id): \(message) edited as \(names.map { $0?.string ?? "-" })")
  }

  private static func text(_ counts: OutboxCounts) -> String {
    "queued \(counts.queued) held \(counts.held) running \(counts.running)"
      + " waiting \(counts.waiting) failed \(counts.failed)"
  }

  private static func text(_ time: Timestamp?) -> String {
    time.map { "\($0.microseconds)" } ?? "-"
  }
}
