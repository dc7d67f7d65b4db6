import MsgStore

/// All that can be read of a conversation, but for what is said of each of its older messages.
struct RoomPicture: Equatable, Sendable {
  /// What is said of a message by itself.
  struct Details: Equatable, Sendable {
    let delivery: Delivery?
    let readers: [MemberReceipt]
    let history: [MessageVersion]
    let attachments: [AttachmentState]
    let reactions: [Reaction]
    let fields: [OwnField]
  }

  var conversation: Conversation?
  var messages: [Message] = []
  var details: [Details] = []
  var unread: [Bool] = []
  var draft: Draft?
  var participations: [Participation] = []
  var gaps: [ClosedRange<Int64>] = []
  var known: [ClosedRange<Int64>] = []
  var positions: [SyncPosition] = []
  var retention: Retention?
  var pending: [PendingReceipt] = []
  var fields: [OwnField] = []

  init(_ id: ConversationID, _ chat: borrowing StoreSnapshot) throws {
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
      pending += try chat.pendingReceipts(in: id, kind, as: .mark)
    }
    fields = try chat.ownFields(of: .conversation(id))
  }
}

/// All that can be read of a store.
struct WholePicture: Equatable, Sendable {
  var rooms: [RoomPicture] = []
  var list: [Conversation]
  var archived: [Conversation]
  var totals: UnreadTotals
  var outbox: OutboxSlice
  var counts: OutboxCounts
  var holdsNewEntries: Bool
  var nextTime: Timestamp?
  var profiles: [MemberProfile]
  var files: [String]
  var transfers: [AttachmentState]
  var positions: [SyncPosition]
  var retention: Retention
  var starred: Int
  var waiting: WaitingFactCounts

  init(_ chat: borrowing StoreSnapshot) throws {
    for id in RandomActs.conversations { rooms.append(try RoomPicture(id, chat)) }
    list = Array(try chat.conversations(count: 9))
    archived = Array(try chat.archivedConversations(count: 9))
    totals = try chat.unreadTotals
    outbox = try chat.outbox.entries(count: 50)
    counts = try chat.outbox.counts()
    holdsNewEntries = try chat.outbox.holdsNewEntries
    nextTime = try chat.outbox.nextTime
    profiles = try chat.profiles()
    files = try chat.unneededFiles(count: 50)
    transfers = try chat.runningTransfers()
    positions = try chat.syncPositions()
    retention = try chat.retention
    starred = try chat.tagged(.starred).count
    waiting = try chat.waitingFacts
  }
}
