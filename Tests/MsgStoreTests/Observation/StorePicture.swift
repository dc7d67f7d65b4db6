import MsgStore
import PageFile
import Testing

/// All that a reader sees of a store at one moment.
struct StorePicture {
  struct Room: Equatable {
    var messages: [MessageID: Message] = [:]
    var deliveries: [MessageID: Delivery] = [:]
    var histories: [MessageID: [MessageVersion]] = [:]
    var attachments: [MessageID: [AttachmentState]] = [:]
    var gaps: [ClosedRange<Int64>] = []
    var conversation: Conversation?
    var draft: Draft?
  }

  var rooms: [ConversationID: Room] = [:]
  /// What conversations that are in one of the lists show there.
  var listed: [ConversationID: Conversation] = [:]
  /// What names lead to.
  var names: [ConversationID: ConversationID] = [:]
  var totals = UnreadTotals()

  init(_ store: MessageStore, names candidates: [ConversationID]) throws {
    try store.read { chat in
      totals = try chat.unreadTotals
      for conversation in try chat.conversations(count: 1000) {
        listed[conversation.id] = conversation
      }
      for conversation in try chat.archivedConversations(count: 1000) {
        listed[conversation.id] = conversation
      }
      for name in candidates {
        guard let conversation = try chat.conversation(name) else { continue }
        names[name] = conversation.id
        if rooms[conversation.id] == nil {
          rooms[conversation.id] = try Self.room(conversation, chat)
        }
      }
    }
  }

  private static func room(
    _ conversation: Conversation, _ chat: borrowing StoreSnapshot
  ) throws -> Room {
    let id = conversation.id
    var room = Room(conversation: conversation, draft: try chat.draft(of: id))
    room.gaps = try chat.gaps(in: id, count: 1000)
    let thread = try chat.thread(id)
    var slice = try thread.tail(500)
    while true {
      for message in slice {
        room.messages[message.id] = message
        room.deliveries[message.id] = try chat.delivery(of: message.id, in: id)
        room.histories[message.id] = try chat.history(of: message.id, in: id)
        room.attachments[message.id] = try chat.attachments(of: message.id, in: id)
      }
      guard let next = slice.older.next else { return room }
      slice = try thread.before(next, count: 500)
    }
  }
}

extension StoreChanges {
  /// Checks that these changes lead from one picture to the other: what they do not tell is as it was,
  /// and places are as told.
  ///
  /// Those of several commits also name messages that came and went, as somebody may have read the
  /// store in between.
  func check(from before: StorePicture, to after: StorePicture) throws {
    if coversEverything { return }
    try expect(hasCounterChanges || before.totals == after.totals)
    for id in Set(before.names.keys).union(after.names.keys) {
      let (old, new) = (before.names[id], after.names[id])
      if old == id, let new, new != id { try expect(conversations[id]?.newID == new) }
    }
    for id in Set(before.rooms.keys).union(after.rooms.keys) {
      let changes = conversations[id]
      let old = before.rooms[id] ?? StorePicture.Room()
      let new = after.rooms[id] ?? StorePicture.Room()
      if changes?.newID != nil, after.names[id] != id { continue }
      try changes.checkMessages(from: old, to: new)
      try changes.checkEntry(
        from: old, to: new, before.listed[id], after.listed[id],
        namesAreTold: tellsNames(of: old.conversation) || tellsNames(of: new.conversation))
    }
    for (id, changes) in conversations {
      // What was renamed may have been deleted since, under its new name.
      let name = after.names[id]
      try expect(changes.newID == nil || name == changes.newID || name == nil)
    }
  }

  /// Whether the changes say that a name of one whom the conversation shows may be another.
  private func tellsNames(of conversation: Conversation?) -> Bool {
    guard let conversation, hasProfileChanges else { return false }
    let shown = conversation.participants + (conversation.preview.map { [$0.sender] } ?? [])
    return coversAllProfiles || shown.contains { profiles.contains($0) }
  }
}

extension ConversationChanges? {
  fileprivate func checkMessages(
    from old: StorePicture.Room, to new: StorePicture.Room
  ) throws {
    if self?.coversAllMessages ?? false { return }
    if old.conversation != nil, new.conversation != nil {
      try expect(self?.hasSequenceChanges ?? false || old.gaps == new.gaps)
    }
    for id in Set(old.messages.keys).union(new.messages.keys) {
      let (a, b) = (old.messages[id], new.messages[id])
      let change = self?.messages[id]
      if change == nil {
        try expect(a?.position == b?.position)
      } else {
        try expect(change?.from == a?.position && change?.to == b?.position)
      }
      guard var a, let b else { continue }
      let parts = change?.parts ?? []
      let isDelivered = self?.delivery.map { $0.contains(b.position) } ?? false
      if isDelivered {
        (a.status, a.deliveredAt, a.readAt) = (b.status, b.deliveredAt, b.readAt)
      } else if parts.isDisjoint(with: [.delivery, .status]) {
        try expect(a.status == b.status)
      }
      if parts.isEmpty { try expect(a == b) }
      // What the local member has read shows in the counters.
      if b.sender == "me", !isDelivered,
        parts.isDisjoint(with: [.delivery, .status, .place, .other])
      {
        try expect(old.deliveries[id] == new.deliveries[id])
      }
      if !parts.contains(.text) {
        try expect(a.text == b.text && a.mentions == b.mentions && a.editedAt == b.editedAt)
        try expect(a.editServerName == b.editServerName)
        try expect(old.histories[id] == new.histories[id])
      }
      if !parts.contains(.reactions) { try expect(a.reactions == b.reactions) }
      if !parts.contains(.attachments) {
        try expect(a.attachments == b.attachments)
        try expect(old.attachments[id] == new.attachments[id])
      }
      if !parts.contains(.deletion) {
        try expect(a.isRetracted == b.isRetracted && a.retractedAt == b.retractedAt)
      }
      if !parts.contains(.other) {
        try expect(a.sender == b.sender && a.replyTo == b.replyTo && a.localTime == b.localTime)
      }
    }
    for (id, change) in self?.messages ?? [:] {
      let cameAndWent = change.from == nil && change.to == nil
      try expect(old.messages[id] != nil || new.messages[id] != nil || cameAndWent)
    }
  }

  fileprivate func checkEntry(
    from old: StorePicture.Room, to new: StorePicture.Room,
    _ before: Conversation?, _ after: Conversation?, namesAreTold: Bool
  ) throws {
    guard let entry = self?.entry else {
      try expect(before?.position == after?.position)
      try expect(old.draft == new.draft)
      // Receipts may change how the last message is shown.
      if self?.delivery == nil, self?.messages.isEmpty ?? true, !namesAreTold {
        try expect(old.conversation == new.conversation)
      }
      return
    }
    try expect(entry.from == before?.position)
    try expect(entry.to == after?.position)
  }
}

/// A change that was not told, or told wrongly: thrown, so that who has made it can be made small.
struct UntoldChange: Error {
  let line: UInt
}

func expect(_ isTold: Bool, line: UInt = #line) throws {
  if !isTold { throw UntoldChange(line: line) }
}
