import MsgStore
import MsgStoreTools

/// Counts anew what a store derives from what it was told, and compares.
///
/// The other half of a proof that `check()` begins. A check uses the store's own rules, so a wrong rule
/// agrees with itself. This one reads what an export writes, which is nothing but facts, and says the
/// rules once more, after docs/message-format.md: it shares no code with what it is compared with. Every
/// question that it asks the store is one that a client asks.
struct Recount {
  private(set) var differences: [String] = []
  private let localMember: MemberID?
  private let maximumInlineMemberCount: Int
  private var rooms: [RoomRecount] = []
  /// The time of the snapshot; nil while nothing has expired by it.
  private var now: Timestamp?
  private var transfers: Set<[String]> = []

  /// - Parameter maximumInlineMemberCount: The store's option, from which follows where receipts
  ///   give times.
  /// - Parameter isNarrow: Whether a step moves so few entries of the outbox that a merge of small
  ///   conversations leaves some on their way.
  /// - Returns: What is derived otherwise than it is counted here; nil when nothing is.
  static func defect(
    of store: MessageStore, for localMember: MemberID?, maximumInlineMemberCount: Int = 32,
    isNarrow: Bool = false
  ) throws -> String? {
    var recount = Recount(localMember, maximumInlineMemberCount)
    try store.read { chat in
      // Until two conversations have become one, what they have is in neither of them alone.
      if try chat.isMergingConversations { return }
      if isNarrow, try chat.isMovingEntries { return }
      // Counters follow the clock in steps.
      if chat.view.hiddenMessages.isCounted || chat.view.hiddenMessages.isLetGo { return }
      recount.now = chat.view.hiddenMessages.time.map { Timestamp(microseconds: $0) }
      try recount.count(chat)
    }
    return recount.differences.isEmpty ? nil : recount.differences.joined(separator: "\n")
  }

  private init(_ localMember: MemberID?, _ maximumInlineMemberCount: Int) {
    self.localMember = localMember
    self.maximumInlineMemberCount = maximumInlineMemberCount
  }

  /// - Parameter name: Of what is derived.
  mutating func expect<T: Equatable>(_ derived: T, _ counted: T, _ name: @autoclosure () -> String)
  {
    if derived != counted {
      differences.append("recount: \(name()): derived \(derived), counted \(counted)")
    }
  }

  private mutating func count(_ chat: borrowing StoreSnapshot) throws {
    var stored: [ExportedConversation] = []
    try chat.forEachExportedConversation { stored.append($0) }
    for conversation in stored {
      var room = RoomRecount(conversation, localMember, maximumInlineMemberCount)
      try room.read(chat)
      rooms.append(room)
    }
    // Messages that went with their conversation are removed in steps; until then they still count.
    for room in rooms where try isGoing(room.conversation, chat) { return }
    for room in rooms {
      try compare(room, chat)
      for transfer in room.transfers { transfers.insert(transfer) }
    }
    try compareLists(chat)
    try compareTotals(chat)
    try compareTagged(rooms, chat)
    try compareTransfers(chat)
    try compareFiles(chat)
    try compareOutbox(chat)
    try compareMemberFields(chat)
    try compareFieldEntries(chat)
  }

  private func isGoing(
    _ conversation: ExportedConversation, _ chat: borrowing StoreSnapshot
  ) throws -> Bool {
    guard let end = conversation.deletedUpTo else { return false }
    let first = try chat.thread(conversation.id).at(Timestamp(microseconds: .min), count: 1).first
    return first?.serverTimestamp.map { $0 <= end } ?? false
  }

  // MARK: One conversation

  private mutating func compareReactions(
    _ room: RoomRecount, _ chat: borrowing StoreSnapshot
  ) throws {
    let id = room.conversation.id
    for message in room.messages {
      guard let shown = try chat.message(message.id, in: id) else { continue }
      let kept = message.facts.reactions.filter { !$0.isRemoved }.map(\.reaction)
      let visible = shown.isRetracted ? [] : kept
      var members: [[UInt8]: [MemberID]] = [:]
      for reaction in visible {
        members[Array(reaction.emoji.utf8), default: []].append(reaction.member)
      }
      let used = members.sorted { a, b in
        a.value.count == b.value.count
          ? a.key.lexicographicallyPrecedes(b.key) : a.value.count > b.value.count
      }
      let counted = used.prefix(256).sorted { $0.key.lexicographicallyPrecedes($1.key) }
      expect(
        shown.reactionCounts.map { "\($0.emoji) \($0.count) \($0.isOwn)" },
        counted.map { emoji, members in
          let isOwn = localMember.map(members.contains) ?? false
          return "\(String(decoding: emoji, as: UTF8.self)) \(members.count) \(isOwn)"
        }, "\(id) \(message.id): reactions")
    }
  }

  /// The messages that answer each one, as far as the store says that it knows them.
  private mutating func compareReplies(
    _ room: RoomRecount, _ chat: borrowing StoreSnapshot
  ) throws {
    let id = room.conversation.id
    var answers: [MessageID: [ExportedMessage]] = [:]
    for message in room.messages where !message.isRetracted && !message.isHidden {
      if let answered = message.replyTo { answers[answered, default: []].append(message) }
    }
    var names: Set<MessageID> = []
    for message in room.messages {
      let all = [message.id] + message.aliases + (message.serverName.map { [$0] } ?? [])
      names.formUnion(all)
      let found = all.flatMap { answers[$0] ?? [] }
      for name in all { try compareReplies(to: name, in: id, found, chat) }
    }
    // Of a message that is not here, more names may be known than are exported with it.
    for (name, replies) in answers where !names.contains(name) {
      let shown = try chat.replies(to: name, in: id)
      let missing = try Set(replies.map(\.id)).subtracting(shown.oldest(10_000).map(\.id))
      expect(missing, [], "\(id): replies to \"\(name)\", which is not here")
    }
  }

  private mutating func compareReplies(
    to name: MessageID, in id: ConversationID, _ counted: [ExportedMessage],
    _ chat: borrowing StoreSnapshot
  ) throws {
    let replies = try chat.replies(to: name, in: id)
    let expected = Set(counted.map(\.id))
    let shown = try replies.oldest(10_000).map(\.id)
    expect(Set(shown), expected, "\(id): replies to \"\(name)\"")
    expect(try replies.count(), expected.count, "\(id): number of replies to \"\(name)\"")
    expect(try replies.newest(10_000).map(\.id), shown, "\(id): replies backwards")
  }

  private mutating func compare(_ room: RoomRecount, _ chat: borrowing StoreSnapshot) throws {
    let id = room.conversation.id
    differences += room.disorder.map { "recount: \(id): \($0)" }
    try compareReactions(room, chat)
    try compareReplies(room, chat)
    try compareTags(room, chat)
    try compareFields(room, chat)
    if let shown = try chat.conversation(id) {
      expect(shown.isMuted, isMuted(room.conversation), "\(id): muted")
      expect(
        shown.mutedUntil, isMuted(room.conversation) ? room.conversation.mutedUntil : nil,
        "\(id): end of the mute")
      expect(shown.messageCount, room.messages.count, "\(id): number of messages")
      expect(shown.unreadCount, room.unreadCount, "\(id): unread messages")
      expect(shown.unreadMentionCount, room.unreadMentionCount, "\(id): unread mentions")
      expect(shown.lastActivity, room.lastActivity, "\(id): last activity")
      expect(shown.preview.map(PreviewText.init), room.preview, "\(id): preview")
      expect(
        shown.participantCount, room.conversation.members.count { !$0.hasLeft },
        "\(id): number of participants")
    } else {
      expect(true, room.conversation.isHidden, "\(id): hidden")
    }
    for run in zip(room.sequences, room.sequences.dropFirst())
    where run.0.upperBound.addingReportingOverflow(1).partialValue >= run.1.lowerBound {
      differences.append("recount: \(id): known sequences \(run.0) and \(run.1) touch")
    }
    for message in room.messages {
      guard let sequence = message.sequence, message.serverTimestamp != nil else { continue }
      expect(room.knows(sequence), true, "\(id): sequence \(sequence) is known")
    }
    if !room.conversation.isHidden { try compareStatus(room, chat) }
  }

  /// How far the local member's messages have come, as a screen shows it.
  private mutating func compareStatus(
    _ room: RoomRecount, _ chat: borrowing StoreSnapshot
  ) throws {
    let id = room.conversation.id
    for message in room.messages {
      let shown = try chat.message(message.id, in: id)
      expect(shown?.status, room.status(of: message), "\(id): status of \"\(message.id)\"")
      for kind in ReceiptKind.allCases {
        let time = kind == .read ? shown?.readAt : shown?.deliveredAt
        expect(time, room.time(kind, of: message), "\(id): \(kind) time of \"\(message.id)\"")
      }
    }
  }

  // MARK: The store

  private mutating func compareLists(_ chat: borrowing StoreSnapshot) throws {
    for isArchived in [false, true] {
      let slice =
        try isArchived
        ? chat.archivedConversations(count: 10_000) : chat.conversations(count: 10_000)
      let expected = rooms.filter {
        !$0.conversation.isHidden && $0.conversation.isArchived == isArchived
      }
      let name = isArchived ? "archived conversations" : "conversations"
      expect(Set(slice.map(\.id)), Set(expected.map(\.conversation.id)), name)
      var times: [ConversationID: Timestamp] = [:]
      for room in expected { times[room.conversation.id] = room.listTime }
      for (above, below) in zip(slice, slice.dropFirst()) {
        var isInOrder = above.isPinned
        if isArchived || above.isPinned == below.isPinned {
          // A conversation without messages need not tell how old it is.
          isInOrder =
            times[below.id].flatMap { below in times[above.id].map { $0 >= below } } ?? true
        }
        expect(isInOrder, true, "\(name): \"\(above.id)\" stands above \"\(below.id)\"")
      }
    }
  }

  /// Whether a conversation is muted now, by what was told of it.
  private func isMuted(_ conversation: ExportedConversation) -> Bool {
    guard conversation.isMuted, let end = conversation.mutedUntil, let now else {
      return conversation.isMuted
    }
    return now < end
  }

  private mutating func compareTotals(_ chat: borrowing StoreSnapshot) throws {
    let totals = try chat.unreadTotals
    func sum(_ isMuted: Bool, _ count: KeyPath<RoomRecount, Int>) -> Int {
      rooms.filter { self.isMuted($0.conversation) == isMuted }.map { $0[keyPath: count] }.reduce(
        0, +)
    }
    expect(totals.messages, sum(false, \.unreadCount), "all unread messages")
    expect(totals.mutedMessages, sum(true, \.unreadCount), "all muted unread messages")
    expect(totals.mentions, sum(false, \.unreadMentionCount), "all unread mentions")
    expect(totals.mutedMentions, sum(true, \.unreadMentionCount), "all muted unread mentions")
  }

  private mutating func compareTransfers(_ chat: borrowing StoreSnapshot) throws {
    let moving = try chat.runningTransfers().map {
      [$0.conversation.string, $0.message.string, $0.attachment.id]
    }
    expect(Set(moving), transfers, "running transfers")
    expect(moving.count, Set(moving).count, "number of running transfers")
  }

  /// No file is unneeded that an attachment has.
  private mutating func compareFiles(_ chat: borrowing StoreSnapshot) throws {
    var needed: Set<String> = []
    for room in rooms {
      for message in room.messages {
        for attachment in message.facts.attachments {
          if let path = attachment.attachment.localPath { needed.insert(path) }
        }
      }
    }
    let listed = try chat.unneededFiles(count: 100_000)
    expect(needed.intersection(listed), [], "unneeded files that an attachment has")
    expect(Set(listed).count, listed.count, "number of unneeded files")
  }

  private mutating func compareOutbox(_ chat: borrowing StoreSnapshot) throws {
    let entries = try chat.outbox.entries(count: 100_000).entries
    var counts: [ConversationID?: OutboxCounts] = [:]
    var all = OutboxCounts()
    for entry in entries {
      all.add(entry.state)
      counts[entry.conversation, default: OutboxCounts()].add(entry.state)
    }
    expect(try chat.outbox.counts(), all, "entries of the outbox")
    for room in rooms where !room.conversation.isHidden {
      expect(
        try chat.outbox.counts(in: room.conversation.id),
        counts[room.conversation.id] ?? OutboxCounts(),
        "entries of the outbox in \(room.conversation.id)")
    }
    var sends: Set<[String]> = []
    for entry in entries where entry.kind == .send {
      guard let room = entry.conversation, let message = entry.message else { continue }
      sends.insert([room.string, message.string])
    }
    for room in rooms {
      for message in room.messages where message.waitsToBeSent(by: localMember) {
        let id = room.conversation.id
        expect(
          sends.contains([id.string, message.id.string]), true,
          "\(id): \"\(message.id)\" is \(message.status ?? message.assumedStatus) and in the outbox"
        )
      }
    }
    for (above, below) in zip(entries, entries.dropFirst()) where above.id >= below.id {
      differences.append("recount: the outbox lists \(above.id) before \(below.id)")
    }
  }
}

extension StoreSnapshot {
  fileprivate var isMovingEntries: Bool {
    get throws(StoreError) {
      try within { (view) throws(StoreError) in
        try view.outbox.sweeps().contains(where: \.isMerge)
      }
    }
  }
}

extension OutboxCounts {
  fileprivate mutating func add(_ state: OutboxState) {
    switch state {
    case .queued: queued += 1
    case .held, .scheduled: held += 1
    case .running: running += 1
    case .waiting: waiting += 1
    case .failed: failed += 1
    }
  }
}

extension ExportedMessage {
  /// Whether it was written here, and nobody has said that it needs no more attempts.
  fileprivate func waitsToBeSent(by member: MemberID?) -> Bool {
    serverTimestamp == nil && sender == member && !isRetracted && !isHidden
      && [.pending, .held, .sending, .retrying].contains(status ?? assumedStatus)
  }
}
