import MsgStore
import PageFile
import Testing

/// The server's name for a conversation that was made here.
struct ConversationRenamingTests {
  private func quietStore(_ clock: TestClock = TestClock(1000)) throws -> MessageStore {
    var options = StoreOptions(localMember: "me", clock: { clock.now }).makingConversations
    options.worksInBackground = false
    return try MessageStore(in: MemoryDirectory(), name: "store", options: options)
  }

  @Test func theServersIDIsOneSmallWriteAndTheOldOneLeadsToIt() throws {
    let store = try quietStore()
    try store.write { chat in
      _ = try chat.createGroup("mine", participants: ["ann"], title: "Group")
      for index in 0..<2000 {
        try chat.insert(chatMessage(MessageID("m\(index)"), in: "mine", at: Int64(index)))
      }
    }
    let before = store.statistics.walByteCount
    #expect(try store.write { try $0.renameConversation("mine", to: "server") })
    #expect(store.statistics.walByteCount - before < 8192)
    #expect(try !store.commits { try $0.renameConversation("mine", to: "server") })
    try store.write { chat in
      for id in ["mine", "server"] as [ConversationID] {
        let room = try #require(try chat.conversation(id))
        #expect(room.id == "server" && room.otherIDs == ["mine"] && room.messageCount == 2000)
      }
      // What still comes under the old name arrives.
      try chat.insert(chatMessage("n", in: "mine", at: 5000))
      #expect(try chat.thread("server").tail(1).ids == ["n"])
      #expect(try chat.conversations(count: 9).map(\.id) == ["server"])
      #expect(throws: StoreError.conversation(.notFound, "none")) {
        try chat.renameConversation("none", to: "x")
      }
    }
    try store.expectSound()
  }

  @Test func anotherRenamingKeepsAllNames() throws {
    let store = try quietStore()
    try store.write { chat in
      _ = try chat.createGroup("a", participants: ["ann"])
      try chat.renameConversation("a", to: "b")
      try chat.renameConversation("a", to: "c")
      #expect(try chat.conversation("a")?.id == "c" && chat.conversation("b")?.id == "c")
      try chat.renameConversation("c", to: "a")
      #expect(try chat.conversation("b")?.id == "a")
      #expect(try Set(chat.conversation("a")?.otherIDs ?? []) == ["b", "c"])
    }
    try store.expectSound()
  }

  /// A loop that goes wrong must not make the list unreadable, nor end in an error each time.
  @Test func ofManyFormerNamesTheOldestGo() throws {
    let store = try quietStore()
    try store.write(.relaxed) { chat in
      _ = try chat.createGroup("g0", participants: ["ann"], title: "Group")
      for index in 1...1100 {
        #expect(
          try chat.renameConversation(
            ConversationID("g\(index - 1)"), to: ConversationID("g\(index)")))
      }
    }
    try store.read { chat in
      let room = try #require(try chat.conversation("g100"))
      #expect(room.id == "g1100" && room.title == "Group")
      #expect(room.otherIDs == (100..<1100).map { ConversationID("g\($0)") })
      #expect(try chat.conversation("g99") == nil)
      #expect(try chat.conversations(count: 9).map(\.id) == ["g1100"])
    }
    try store.expectSound()
    // The name is free again.
    try store.write { try $0.insert(chatMessage("m", in: "g99", at: 1)) }
    #expect(try store.read { try $0.conversations(count: 9).count } == 2)
    try store.expectSound()
  }

  @Test func mergingKeepsAsManyNamesAsOneMayHave() throws {
    let store = try quietStore()
    try store.write(.relaxed) { chat in
      for room in ["a", "b"] {
        _ = try chat.createGroup(ConversationID("\(room)0"), participants: ["ann"])
        for index in 1...700 {
          try chat.renameConversation(
            ConversationID("\(room)\(index - 1)"), to: ConversationID("\(room)\(index)"))
        }
      }
      try chat.renameConversation("a700", to: "b700")
      let room = try chat.conversation("b700")
      #expect(room?.otherIDs.count == 1000 && room?.otherIDs.last == "a699")
    }
    try store.expectSound()
  }

  /// A store may have more, as the limit may change.
  @Test func moreFormerNamesThanMayBeWrittenCanBeRead() throws {
    var details = ConversationDetails(id: "room")
    details.aliases = (0..<1100).map { ConversationID("g\($0)") }
    var value = ByteBuffer()
    details.append(to: &value)
    #expect(ConversationDetails(value.bytes) == details)
  }

  @Test func twoAreMergedInBoundedStepsWithNothingLostAndNothingTwice() throws {
    let clock = TestClock(1000)
    let store = try quietStore(clock)
    let count = 1300
    try store.write { chat in
      _ = try chat.createGroup("mine", participants: ["ann"], title: "Group")
      for index in 0..<count {
        try chat.insert(chatMessage(MessageID("m\(index)"), in: "mine", at: Int64(index) * 2))
      }
      try chat.insert(chatMessage("queued", in: "mine", at: nil, from: "me"))
      // The echo of one of them came under the server's name first.
      try chat.insert(chatMessage("echoed", in: "mine", at: nil, from: "me"))
      try chat.insert(chatMessage("echoed", in: "server", at: 77, from: "me"))
      try chat.insert(chatMessage("m7", in: "server", at: 14))
      try chat.insert(chatMessage("s", in: "server", at: 15))
      try chat.setDraft("half", replyTo: "m3", in: "mine")
      clock.set(2000)
      #expect(try chat.renameConversation("mine", to: "server"))
      #expect(try chat.conversations(count: 9).map(\.id) == ["server"])
      #expect(try chat.conversation("server")?.messageCount == 3 + 499)
    }
    try store.expectSound()
    // Meanwhile both names lead to the server's.
    try store.write { chat in try chat.insert(chatMessage("new", in: "mine", at: 9000)) }
    var stepCount = 0
    while try store.read({ try $0.hasWork }) {
      try store.write { try $0.doWork() }
      try store.expectSound()
      stepCount += 1
    }
    #expect(stepCount >= 2)
    try store.write { chat in
      let room = try #require(try chat.conversation("server"))
      // m7 and the echo are one each; with them come s, queued, new.
      #expect(room.messageCount == count + 4 && room.otherIDs == ["mine"])
      #expect(room.unreadCount == count + 2)
      #expect(room.title == "Group" && room.kind == .group && room.hasDraft)
      #expect(try chat.draft(of: "server")?.replyTo == "m3")
      let ids = try chat.thread("mine").tail(count + 9).ids
      #expect(ids.count == count + 4 && Set(ids).count == ids.count)
      #expect(ids.last == "queued" && ids.first == "m0")
      #expect(try chat.message("echoed", in: "server")?.serverTimestamp == time(77))
    }
    try store.expectSound()
  }

  @Test func whatWasSeenStaysSeenInTheOther() throws {
    let store = try quietStore()
    try store.write { chat in
      for index in 0..<10 {
        try chat.insert(chatMessage(MessageID("m\(index)"), in: "mine", at: Int64(index)))
      }
      try chat.markRead("mine")
      for index in 10..<13 {
        try chat.insert(chatMessage(MessageID("m\(index)"), in: "mine", at: Int64(index)))
      }
      try chat.insert(chatMessage("s", in: "server", at: 50))
      try chat.markRead("server")
      try chat.renameConversation("mine", to: "server")
      #expect(try chat.conversation("server")?.unreadCount == 3)
      #expect(try chat.unreadTotals == UnreadTotals(messages: 3))
      try chat.markRead("server")
      #expect(try chat.unreadTotals == UnreadTotals())
    }
    try store.expectSound()
  }

  @Test func deletingBeforeAllIsMovedTakesAllAndReportsAll() throws {
    let store = try quietStore()
    try store.write { chat in
      for index in 0..<700 {
        try chat.insert(chatMessage(MessageID("m\(index)"), in: "mine", at: nil, from: "me"))
      }
      try chat.insert(chatMessage("s", in: "server", at: 50))
      try chat.renameConversation("mine", to: "server")
    }
    let withdrawn = try store.write { try $0.deleteConversation("mine") }
    #expect(withdrawn?.count == 700)
    try store.expectSound()
    try store.finishWork()
    try store.expectSound()
    #expect(try store.read { try $0.conversation("server") } == nil)
  }

  @Test func aThirdNameTakesWhatIsStillOnTheWay() throws {
    let store = try quietStore()
    try store.write { chat in
      for index in 0..<1200 {
        try chat.insert(chatMessage(MessageID("m\(index)"), in: "a", at: Int64(index)))
      }
      for id in ["b", "c"] as [ConversationID] { try chat.insert(chatMessage("s", in: id, at: 5)) }
      try chat.renameConversation("a", to: "b")
      try chat.renameConversation("b", to: "c")
    }
    try store.finishWork()
    try store.expectSound()
    try store.read { chat in
      let room = try #require(try chat.conversation("a"))
      #expect(room.messageCount == 1201 && room.id == "c")
    }
  }

  /// A deletion that comes with the other name takes a message of the same name away: what waits here
  /// under it is one with it, and is neither left behind without its entry nor sent for ever.
  @Test func whatWaitsGoesBeforeTheDeletionThatComesWithTheOtherName() throws {
    let store = try quietStore()
    try store.write { chat in
      try chat.receiveConversationDeletion("mine", at: time(100))
      try chat.insert(chatMessage("m", in: "server", at: 50), as: .history)
      for id in ["m", "n"] as [MessageID] {
        try chat.send(Message(id: id, in: "mine", from: "me", text: "hello"))
      }
      try chat.renameConversation("mine", to: "server")
    }
    let gone = try store.read { try $0.message("m", in: "server") }
    #expect(gone == nil)
    let waiting = try store.read { try $0.message("n", in: "server") }
    #expect(waiting?.status == .pending)
    let entries = try store.read { try $0.outbox.entries(count: 9).entries }
    #expect(entries.map(\.message) == ["n"])
    #expect(try Recount.defect(of: store, for: "me") == nil)
    try store.expectSound()
  }
}
