import MsgStore
import PageFile
import Testing

/// The lists, and the totals of what is unread.
struct ConversationListTests {
  @Test func pinnedFirstThenNewestActivityAndAnEmptyOneByItsCreation() throws {
    let clock = TestClock(50)
    let store = try memoryStore(clock: clock)
    try store.write { chat in
      for (id, at) in [("a", 10), ("b", 99), ("c", 20), ("d", 5)] as [(ConversationID, Int64)] {
        try chat.insert(chatMessage("m", in: id, at: at))
      }
      _ = try chat.createGroup("empty", participants: ["ann"])
      #expect(try chat.conversations(count: 9).map(\.id) == ["b", "empty", "c", "a", "d"])
      try chat.setPinned(true, of: "d")
      try chat.setPinned(true, of: "c")
      #expect(try chat.conversations(count: 9).map(\.id) == ["c", "d", "b", "empty", "a"])
      try chat.insert(chatMessage("n", in: "d", at: 60))
      #expect(try chat.conversations(count: 9).map(\.id) == ["d", "c", "b", "empty", "a"])
      try chat.receive(ReceivedConversation("empty", at: time(1)) { $0.createdAt = time(3) })
      #expect(try chat.conversations(count: 9).map(\.id) == ["d", "c", "b", "a", "empty"])
    }
    try store.expectSound()
  }

  @Test func archivedOnesAreApart() throws {
    let store = try memoryStore()
    try store.write { chat in
      for (id, at) in [("a", 10), ("b", 99), ("c", 20)] as [(ConversationID, Int64)] {
        try chat.insert(chatMessage("m", in: id, at: at))
      }
      #expect(try chat.archivedConversations(count: 9).isEmpty)
      try chat.setArchived(true, of: "a")
      try chat.setArchived(true, of: "b")
      try chat.setPinned(true, of: "b")
      #expect(try chat.conversations(count: 9).map(\.id) == ["c"])
      #expect(try chat.conversations(count: 1).older == nil)
      #expect(try chat.archivedConversations(count: 9).map(\.id) == ["b", "a"])
      let first = try chat.archivedConversations(count: 1)
      #expect(try chat.archivedConversations(count: 1, after: first.older).map(\.id) == ["a"])
      try chat.insert(chatMessage("n", in: "a", at: 500))
      #expect(try chat.archivedConversations(count: 1).map(\.id) == ["a"])
      try chat.setArchived(false, of: "b")
      #expect(try chat.conversations(count: 9).map(\.id) == ["b", "c"])
      for id in ["b", "c"] as [ConversationID] { try chat.setArchived(true, of: id) }
      #expect(try chat.conversations(count: 9).isEmpty)
      #expect(throws: StoreError.input(.count(0))) { try chat.archivedConversations(count: 0) }
    }
    try store.expectSound()
  }

  @Test func tenThousandConversationsPageByKey() throws {
    let store = try memoryStore()
    let count = 10_000
    try store.write(.relaxed) { chat in
      for index in 0..<count {
        let id = ConversationID("c\(index)")
        try chat.insert(chatMessage("m", in: id, at: Int64(index)))
        if index % 1000 == 0 { try chat.setPinned(true, of: id) }
        if index % 10 == 1 { try chat.setArchived(true, of: id) }
      }
    }
    try store.read { chat in
      var ids: [Int] = []
      var position: ConversationPosition?
      repeat {
        let page = try chat.conversations(count: 333, after: position)
        ids += page.compactMap { Int($0.id.string.dropFirst()) }
        position = page.older
      } while position != nil
      let all = 0..<count
      let pinned = all.filter { $0 % 1000 == 0 }.reversed()
      let others = all.filter { $0 % 1000 != 0 && $0 % 10 != 1 }.reversed()
      #expect(ids == Array(pinned) + Array(others))
      #expect(try chat.archivedConversations(count: count).count == count / 10)
      #expect(try chat.unreadTotals == UnreadTotals(messages: count))
    }
  }

  @Test func newsBetweenTwoPagesRepeatAndLoseNothing() throws {
    let store = try memoryStore()
    try store.write { chat in
      for index in 0..<10 {
        try chat.insert(chatMessage("m", in: ConversationID("c\(index)"), at: Int64(index)))
      }
      let first = try chat.conversations(count: 4)
      // One of those already shown moves up, and the one the page ended with goes.
      try chat.insert(chatMessage("n", in: "c8", at: 90))
      try chat.setArchived(true, of: "c6")
      let rest = try chat.conversations(count: 9, after: first.older)
      #expect(rest.map(\.id) == ["c5", "c4", "c3", "c2", "c1", "c0"])
    }
  }

  @Test func unreadTotalsCountMutedApart() throws {
    let store = try memoryStore()
    try store.write { chat in
      #expect(try chat.unreadTotals == UnreadTotals())
      for id in ["a", "b"] as [ConversationID] {
        for index in 0..<3 { try chat.insert(chatMessage(MessageID("m\(index)"), in: id, at: 1)) }
      }
      #expect(try chat.unreadTotals == UnreadTotals(messages: 6))
      try chat.setMuted(true, of: "b")
      #expect(try chat.unreadTotals == UnreadTotals(messages: 3, mutedMessages: 3))
      try chat.markRead("a")
      try chat.delete("m0", in: "b")
      #expect(try chat.unreadTotals == UnreadTotals(mutedMessages: 2))
      try chat.setMuted(false, of: "b")
      #expect(try chat.unreadTotals == UnreadTotals(messages: 2))
    }
    #expect(try store.read { try $0.unreadTotals } == UnreadTotals(messages: 2))
    try store.expectSound()
  }
}
