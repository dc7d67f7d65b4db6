package import MsgStore

/// All that can be read of a conversation, but for what is said of each of its older messages.
package struct RoomPicture: Equatable, Sendable {
  /// What is said of a message by itself.
  package struct Details: Equatable, Sendable {
    package let delivery: Delivery?
    package let readers: [MemberReceipt]
    package let history: [MessageVersion]
    package let attachments: [AttachmentState]
    package let reactions: [Reaction]
    package let fields: [OwnField]
  }

  package var conversation: Conversation?
  package var messages: [Message] = []
  package var details: [Details] = []
  package var unread: [Bool] = []
  package var draft: Draft?
  package var participations: [Participation] = []
  package var gaps: [ClosedRange<Int64>] = []
  package var known: [ClosedRange<Int64>] = []
  package var positions: [SyncPosition] = []
  package var retention: Retention?
  package var pending: [PendingReceipt] = []
  package var fields: [OwnField] = []

  package init(
    _ id: ConversationID, _ chat: borrowing StoreSnapshot, _ steps: (any OutboxSteps)? = nil
  ) throws {
    conversation = try chat.conversation(id)
    if conversation == nil { return }
    let slice = try chat.thread(id).tail(40)
    messages = Array(slice)
    unread = try chat.unread(in: slice)
    for message in messages.suffix(6) {
      details.append(
        Details(
          delivery: try chat.delivery(of: message.id, in: id),
          readers: try chat.readers(of: message.id, in: id),
          history: try chat.history(of: message.id, in: id),
          attachments: try chat.attachments(of: message.id, in: id),
          reactions: try chat.reactions(to: message.id, in: id),
          fields: try chat.ownFields(of: .message(message.id, in: id))))
    }
    draft = try chat.draft(of: id)
    participations = try chat.participations(in: id)
    gaps = try chat.gaps(in: id)
    known = try chat.knownSequences(in: id)
    positions = try chat.syncPositions(in: id)
    retention = try chat.retention(of: id)
    for kind in [ReceiptKind.read, .delivered] {
      pending += try steps?.pendingReceipts(in: id, kind, as: .mark, of: chat) ?? []
    }
    fields = try chat.ownFields(of: .conversation(id))
  }
}

/// All that can be read of a store.
package struct WholePicture: Equatable, Sendable {
  package var rooms: [RoomPicture] = []
  package var list: [Conversation]
  package var archived: [Conversation]
  package var totals: UnreadTotals
  package var outbox: OutboxSlice
  package var counts: OutboxCounts
  package var holdsNewEntries: Bool
  package var nextTime: Timestamp?
  package var profiles: [MemberProfile]
  package var files: [String]
  package var transfers: [AttachmentState]
  package var positions: [SyncPosition]
  package var retention: Retention
  package var starred: Int
  package var waiting: WaitingFactCounts

  /// - Parameter steps: They know the receipts to be sent.
  package init(_ chat: borrowing StoreSnapshot, _ steps: (any OutboxSteps)? = nil) throws {
    for id in RandomActs.conversations { rooms.append(try RoomPicture(id, chat, steps)) }
    list = Array(try chat.conversations(count: 9))
    archived = Array(try chat.archivedConversations(count: 9))
    totals = try chat.unreadTotals
    outbox = try chat.outbox.entries(count: 50)
    counts = try chat.outbox.counts()
    holdsNewEntries = try chat.outbox.holdsNewEntries
    nextTime = try chat.outbox.nextTime
    profiles = try chat.profiles()
    // Their order follows from digests of the paths.
    files = try chat.unneededFiles(count: 50).sorted()
    transfers = try chat.runningTransfers()
    positions = try chat.syncPositions()
    retention = try chat.retention
    starred = try chat.tagged(.starred).count
    waiting = try chat.waitingFacts
  }
}
