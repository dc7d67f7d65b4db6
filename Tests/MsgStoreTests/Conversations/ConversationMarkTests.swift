import MsgStore
import MsgStoreTools
import PageFile
import Testing

/// The mark as unread, the time of the last change, and the way out of the archive.
struct ConversationMarkTests {
  private func room(_ store: MessageStore) throws -> Conversation {
    try #require(try store.read { try $0.conversation("room") })
  }

  @Test func aMarkAsUnreadStaysUntilSomethingIsRead() throws {
    let store = try memoryStore()
    try store.write { chat throws in
      try chat.insert(message("m1", at: 1, 1))
      try chat.markRead("room")
      #expect(try chat.setMarkedUnread(true, of: "room"))
      #expect(try !chat.setMarkedUnread(true, of: "room"))
      try chat.insert(message("m2", at: 2, 2), as: .history)
    }
    #expect(try room(store).isMarkedUnread && room(store).unreadCount == 0)
    let totals = try store.read { try $0.unreadTotals }
    #expect(totals == UnreadTotals())
    let restored = try MessageStore.restored(from: try store.lines())
    #expect(try room(restored).isMarkedUnread)
    #expect(try store.write { try $0.markRead("room") })
    #expect(try !room(store).isMarkedUnread)
    #expect(try !store.write { try $0.markRead("room") })
    // Nothing to read, but the mark goes.
    try store.write { try $0.setMarkedUnread(true, of: "room") }
    #expect(try store.write { try $0.markRead("room", upTo: "m1" as MessageID) })
    #expect(try !room(store).isMarkedUnread)
    try store.write { try $0.setMarkedUnread(true, of: "room") }
    #expect(try store.write { try $0.setMarkedUnread(false, of: "room") })
    #expect(try !room(store).isMarkedUnread)
    #expect(throws: StoreError.conversation(.notFound, "none")) {
      try store.write { try $0.setMarkedUnread(true, of: "none") }
    }
    try store.expectSound()
  }

  @Test func theLaterOfTwoDevicesDecides() throws {
    let store = try memoryStore()
    func receive(_ isMarked: Bool, at microseconds: Int64) throws {
      try store.write { chat throws in
        var given = ReceivedConversation("room", at: time(microseconds))
        given.isMarkedUnread = isMarked
        try chat.receive(given)
      }
    }
    try receive(true, at: 20)
    try receive(false, at: 10)
    #expect(try room(store).isMarkedUnread)
    try receive(false, at: 20)
    #expect(try room(store).isMarkedUnread)
    // Later than all that is known.
    try store.write { _ = try $0.markRead("room") }
    #expect(try !room(store).isMarkedUnread)
    try receive(true, at: 20)
    #expect(try !room(store).isMarkedUnread)
    try receive(true, at: 30)
    #expect(try room(store).isMarkedUnread)
    try store.write { _ = try $0.deleteConversation("room") }
    try store.write { try $0.insert(message("new", at: 100)) }
    #expect(try !room(store).isMarkedUnread)
    try store.expectSound()
  }

  @Test func theTimeOfTheLastChangeIsTheNewestOne() throws {
    let store = try memoryStore()
    try store.write { try $0.insert(message("m", at: 5)) }
    #expect(try room(store).updatedAt == nil)
    try store.write { chat throws in
      var given = ReceivedConversation("room", at: time(20))
      given.createdAt = time(3)
      try chat.receive(given)
    }
    #expect(try room(store).updatedAt == time(3))
    try store.write { chat throws in
      var given = ReceivedConversation("room", at: time(30))
      given.title = .text("a room")
      try chat.receive(given)
      given = ReceivedConversation("room", at: time(25))
      given.isMuted = true
      try chat.receive(given)
    }
    #expect(try room(store).updatedAt == time(30))
    try store.write { try $0.setPinned(true, of: "room") }
    #expect(try room(store).updatedAt == time(31))
  }

  private func archive(_ leaves: Bool, isMuted: Bool = false) throws -> MessageStore {
    var options = StoreOptions(localMember: "me", clock: { time(1000) }).makingConversations
    options.newMessagesLeaveArchive = leaves
    let store = try MessageStore(in: MemoryDirectory(), name: "store", options: options)
    try store.write { chat throws in
      try chat.insert(message("m1", at: 1, 1))
      try chat.setArchived(true, of: "room")
      try chat.setMuted(isMuted, of: "room")
    }
    return store
  }

  @Test(arguments: [1, 2, 40]) func aNewMessageLeavesTheArchiveOnRequest(count: Int64) throws {
    let messages = (0..<count).map { message(MessageID("n\(100 + $0)"), at: 10 + $0, 2 + $0) }
    for (leaves, isMuted) in [(true, false), (true, true), (false, false)] {
      let store = try archive(leaves, isMuted: isMuted)
      try store.write { try $0.insert(contentsOf: messages, as: .history) }
      #expect(try room(store).isArchived)
      // The same once more is nothing new.
      try store.write { try $0.insert(contentsOf: messages) }
      #expect(try room(store).isArchived)
      let newer = messages.map { message(MessageID("l" + $0.id.string), at: 100 + count) }
      try store.write { try $0.insert(contentsOf: newer) }
      #expect(try room(store).isArchived == !(leaves && !isMuted))
      let listed = try store.read { try $0.conversations(count: 9).map(\.id) }
      #expect(listed == (leaves && !isMuted ? ["room"] : []))
      try store.expectSound()
    }
  }

  @Test func aSentMessageLeavesTheArchiveOnRequest() throws {
    let store = try archive(true)
    try store.write { _ = try $0.send(message("s", at: nil, from: "me")) }
    #expect(try !room(store).isArchived)
    try store.expectSound()
  }
}
