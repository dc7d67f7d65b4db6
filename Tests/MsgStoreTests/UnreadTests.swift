import MsgStore
import PageFile
import Testing

/// What counts as unread for the local member.
struct UnreadTests {
  private func unread(_ store: MessageStore) throws -> Int? {
    try store.read { try $0.conversation("room")?.unreadCount }
  }

  @Test func onlyLiveMessagesOfOthersCount() throws {
    let store = try memoryStore()
    try store.write { chat in
      try chat.insert(message("theirs", at: 1))
      try chat.insert(message("mine", at: 2, from: "me"))
      try chat.insert(message("old", at: 0), as: .history)
      try chat.insert(message("theirs", at: 1))
    }
    #expect(try unread(store) == 1)
    #expect(try store.write { try $0.markRead("room") })
    #expect(try unread(store) == 0)
    #expect(try !store.write { try $0.markRead("room") })
    #expect(try !store.write { try $0.markRead("unknown") })
    try store.expectSound()
  }

  @Test func aMarkInTheMiddleLeavesWhatIsBehindIt() throws {
    let store = try memoryStore()
    try store.write { chat in
      try chat.insert(contentsOf: (0..<10).map { message(MessageID("m\($0)"), at: Int64($0)) })
    }
    let positions = try store.read { try $0.thread("room").tail(10).map(\.position) }
    #expect(try store.write { try $0.markRead("room", upTo: positions[3]) })
    #expect(try unread(store) == 6)
    // The mark never goes back.
    #expect(try !store.write { try $0.markRead("room", upTo: positions[1]) })
    #expect(try !store.write { try $0.markRead("room", upTo: positions[3]) })
    #expect(try unread(store) == 6)
    #expect(try store.write { try $0.markRead("room", upTo: positions[9]) })
    #expect(try unread(store) == 0)
  }

  @Test func whatComesLateBelowTheMarkIsUnreadUntilTheNextMark() throws {
    let store = try memoryStore()
    try store.write { chat in
      try chat.insert(message("m5", at: 5))
      try chat.markRead("room")
      try chat.insert(message("late", at: 2))
      try chat.insert(message("older", at: 1), as: .history)
    }
    #expect(try unread(store) == 1)
    try store.expectSound()
    // Everything up to the same place is read again, and with it what came late.
    #expect(try store.write { try $0.markRead("room") })
    #expect(try unread(store) == 0)
    try store.write { try $0.insert(message("later", at: 3)) }
    #expect(try unread(store) == 1)
    try store.write { try $0.delete("later", in: "room") }
    #expect(try unread(store) == 0)
    try store.expectSound()
  }

  @Test func everythingCanBeReadAlsoWhenTheNewestIsGone() throws {
    let store = try memoryStore()
    try store.write { chat in
      try chat.insert(message("m5", at: 5))
      try chat.markRead("room")
      try chat.insert(message("late", at: 2))
      try chat.delete("m5", in: "room")
      #expect(try chat.conversation("room")?.unreadCount == 1)
      #expect(try chat.markRead("room"))
      #expect(try chat.conversation("room")?.unreadCount == 0)
    }
    try store.expectSound()
  }

  @Test func aPendingMessageMarksUpToTheNewestAcknowledgedOne() throws {
    let store = try memoryStore()
    try store.write { chat in
      try chat.insert(message("waits", at: nil, from: "me"))
      #expect(try !chat.markRead("room"))
      try chat.insert(message("m1", at: 1))
      let waits = try chat.thread("room").tail(1)[0].position
      #expect(try chat.markRead("room", upTo: waits))
      #expect(try chat.conversation("room")?.unreadCount == 0)
      try chat.insert(message("m2", at: 2))
      #expect(try chat.conversation("room")?.unreadCount == 1)
    }
    try store.expectSound()
  }

  @Test func aMoveKeepsWhetherAMessageWasSeen() throws {
    let store = try memoryStore()
    try store.write { chat in
      try chat.insert(message("m5", at: 5))
      try chat.markRead("room")
      // A pending one from somebody else lies behind the mark and goes below it.
      try chat.insert(message("p", at: nil))
      try chat.acknowledge("p", in: "room", serverTimestamp: time(3))
      #expect(try chat.conversation("room")?.unreadCount == 1)
      try chat.acknowledge("m5", in: "room", serverTimestamp: time(4))
      #expect(try chat.conversation("room")?.unreadCount == 1)
    }
    try store.expectSound()
    try store.write { try $0.markRead("room") }
    #expect(try unread(store) == 0)
    try store.expectSound()
  }

  @Test func aLocalMemberWhoComesLaterIsCountedFor() throws {
    let directory = MemoryDirectory()
    var store = try memoryStore(directory, localMember: nil)
    try store.write { chat in
      try chat.insert(message("m1", at: 1))
      try chat.insert(message("m2", at: 2, from: "me"))
      try chat.markRead("room")
      try chat.insert(message("m3", at: 3))
      try chat.insert(message("late", at: 1))
      try chat.insert(message("m4", at: 4, from: "me"))
      #expect(try chat.conversation("room")?.unreadCount == 0)
    }
    try store.close()
    store = try memoryStore(directory, localMember: "me")
    #expect(store.localMember == "me")
    #expect(try unread(store) == 2)
    try store.expectSound()
    try store.close()

    #expect(throws: StoreError.opening(.localMemberDiffers(stored: "me", given: "you"))) {
      try memoryStore(directory, localMember: "you")
    }
    store = try memoryStore(directory, localMember: nil)
    #expect(store.localMember == "me")
    #expect(try unread(store) == 2)
  }
}
