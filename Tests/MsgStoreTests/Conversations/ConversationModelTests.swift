import MsgStore
import PageFile
import Testing

/// Random acts on conversations: after each, what is stored is what a recount finds.
struct ConversationModelTests {
  private struct Room {
    var messages: Set<Int64> = []
    var isPinned = false
    var isArchived = false
    var deletedUpTo: Int64 = -1
  }

  @Test(arguments: seeds(3)) func storedCountersAndListsEqualARecount(seed: UInt64) throws {
    var random = SeededGenerator(seed: seed)
    let directory = MemoryDirectory()
    // The clock has no say, and jumps.
    func clock() -> Int64 { [0, 1 << 50, -1 << 50, .max].randomElement(using: &random) ?? 0 }
    var store = try memoryStore(directory, clock: clock(), packing: .random(seed))
    var rooms: [ConversationID: Room] = [:]
    let ids: [ConversationID] = ["a", "b", "c", "d"]
    for round in 0..<120 {
      try store.write(.relaxed) { chat in
        for _ in 0..<Int.random(in: 1..<6, using: &random) {
          let id = ids.randomElement(using: &random) ?? "a"
          try act(on: id, &rooms, chat, &random)
        }
      }
      if round % 10 == 0 { try store.finishWork() }
      if round % 10 == 5 { try store.expectSound() }
      try store.read { chat in try compare(chat, rooms) }
      if random.chance(5) {
        try store.close()
        store = try memoryStore(directory, clock: clock(), packing: .random(seed))
      }
    }
    try store.finishWork()
    try store.expectSound()
    try store.close()
  }

  private func act(
    on id: ConversationID, _ rooms: inout [ConversationID: Room], _ chat: borrowing StoreWriter,
    _ random: inout SeededGenerator
  ) throws {
    let isThere = try chat.conversation(id) != nil
    let at = Int64.random(in: 1..<200, using: &random)
    switch Int.random(in: 0..<100, using: &random) {
    case ..<60:
      try chat.insert(chatMessage(MessageID("m\(at)"), in: id, at: at))
      if at > rooms[id]?.deletedUpTo ?? -1 { rooms[id, default: Room()].messages.insert(at) }
    case ..<68 where isThere:
      rooms[id]?.isPinned.toggle()
      try chat.setPinned(rooms[id]?.isPinned ?? false, of: id)
    case ..<76 where isThere:
      rooms[id]?.isArchived.toggle()
      try chat.setArchived(rooms[id]?.isArchived ?? false, of: id)
    case ..<82 where isThere:
      let ends: [Int64?] = [nil, 1, 1 << 49, 1 << 51]
      let end = ends.randomElement(using: &random) ?? nil
      try chat.setMuted(random.chance(50), of: id, until: end.map { time($0) })
    case ..<88 where isThere:
      #expect(try chat.deleteConversation(id) == [])
      let newest = rooms[id]?.messages.max() ?? 0
      rooms[id] = Room(deletedUpTo: max(newest, rooms[id]?.deletedUpTo ?? 0, 0))
    case ..<94 where isThere:
      try chat.markRead(id)
    default:
      break
    }
  }

  private func compare(
    _ chat: borrowing StoreSnapshot, _ rooms: [ConversationID: Room]
  ) throws {
    for (id, room) in rooms {
      let stored = try chat.conversation(id)
      #expect(stored?.messageCount ?? 0 == room.messages.count, "\(id)")
      #expect(stored?.isPinned ?? false == room.isPinned, "\(id)")
    }
    let list = try chat.conversations(count: 9)
    var order: [(Bool, Int64)] = []
    for room in list {
      order.append((room.isPinned, room.lastActivity?.microseconds ?? .min))
      #expect(!room.isArchived)
    }
    let sorted = order.sorted { a, b in a.0 != b.0 ? a.0 : a.1 > b.1 }
    #expect(order.map(\.1) == sorted.map(\.1))
    // Totals follow the clock in steps, and the lists at once.
    if chat.view.hiddenMessages.isCounted || chat.view.hiddenMessages.isLetGo { return }
    let totals = try chat.unreadTotals
    let all = Array(list) + Array(try chat.archivedConversations(count: 9))
    #expect(totals.messages == all.reduce(0) { $0 + ($1.isMuted ? 0 : $1.unreadCount) })
    #expect(totals.mutedMessages == all.reduce(0) { $0 + ($1.isMuted ? $1.unreadCount : 0) })
  }
}
