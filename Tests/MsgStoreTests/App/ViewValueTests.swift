import MsgStore
import PageFile
import Testing

/// What previews and tests of views make without a store, and stores in memory.
struct ViewValueTests {
  @Test func aSliceOfReadMessagesEqualsTheOneRead() throws {
    let store = try memoryStore()
    try store.write { chat in
      for number in 0..<20 {
        var message = message(
          MessageID("m\(number)"), at: Int64(number), Int64(number),
          from: number % 2 == 0 ? "you" : "ann", text: number % 5 == 0 ? "héllo 👋" : "hello")
        if number % 4 == 0 { message.replyTo = "m1" }
        try chat.insert(message)
      }
      try chat.send(message("pending", at: nil, from: "me"))
      try chat.receive(Reaction("👍", from: "you", at: time(9)), to: "m1", in: "room")
      _ = try chat.receiveRetraction(of: "m2", in: "room", at: time(40))
    }
    let read = try store.read { try $0.thread("room").tail(50) }
    let made = MessageSlice(Array(read))
    #expect(made == read && made.map(\.position) == read.map(\.position))
    let part = MessageSlice(Array(read.suffix(3)), hasOlder: true)
    #expect(part.older == .more(read[read.count - 3].position) && part.newer == .end)
  }

  @Test func aSliceIsMadeOfMessagesThatNoStoreHas() {
    let long = MessageID(String(repeating: "x", count: 400))
    let messages = [
      Message(id: "a", in: "room", from: "me", text: "", serverTimestamp: time(1)),
      Message(id: long, in: "room", from: "you", text: "second", localTime: time(2)),
    ]
    let slice = MessageSlice(messages)
    #expect(slice.map(\.id) == ["a", long] && slice.map(\.text) == ["", "second"])
    #expect(slice.map(\.sender) == ["me", "you"])
    #expect(MessageSlice([]).isEmpty && MessageSlice([]).older == .end)
  }

  @Test func conversationsAreMadeForAList() {
    let preview = ConversationPreview(
      messageID: "m", sender: "you", text: String(repeating: "long ", count: 100))
    let conversation = Conversation(
      id: "room", participants: ["me", "you"], title: "Room", preview: preview,
      lastActivity: time(5), unreadCount: 3, isPinned: true)
    #expect(conversation.participantCount == 2 && conversation.isPinned)
    #expect(preview.text.utf8.count <= 160)
    let list = ConversationSlice([conversation])
    #expect(list.map(\.id) == ["room"] && list.older == nil)
    #expect(
      conversation
        == Conversation(
          id: "room", participants: ["me", "you"], title: "Room", preview: preview,
          lastActivity: time(5), unreadCount: 3, isPinned: true))
  }

  @Test func aStoreInMemoryIsLikeAnyOther() throws {
    let store = try MessageStore.inMemory(
      options: StoreOptions(localMember: "me").makingConversations)
    try store.write { chat in
      for number in 0..<200 { try chat.insert(message(MessageID("m\(number)"), at: Int64(number))) }
    }
    #expect(try store.read { try $0.thread("room").tail(5) }.count == 5)
    try store.suspend()
    try store.resume()
    #expect(try store.read { try $0.conversation("room")?.messageCount } == 200)
    let other = try MessageStore.inMemory()
    #expect(try other.read { try $0.conversation("room") } == nil)
    try store.close()
    #expect(throws: StoreError.storage(.closed)) { try store.read { _ in } }
  }
}
