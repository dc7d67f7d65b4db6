import MsgStore
import PageFile
import Testing

/// Live values of threads and of the list of conversations.
@Suite(.timeLimit(.minutes(30))) struct LiveTests {
  private func store(_ count: Int) throws -> MessageStore {
    let store = try memoryStore()
    try store.write { chat in
      for number in 0..<count {
        let message = message(MessageID("m\(number)"), at: Int64(number), Int64(number))
        try chat.insert(message)
      }
    }
    return store
  }

  @Test func theFirstValueComesAtOnce() async throws {
    let store = try store(3)
    var unknown = store.thread("nobody").live(newest: 50).makeAsyncIterator()
    let nothing = try await unknown.next()
    #expect(nothing?.slice.isEmpty == true)
    #expect(nothing?.differences.isEmpty == true)
    var room = store.thread("room").live(newest: 2).makeAsyncIterator()
    let first = try await room.next()
    #expect(first?.slice.ids == ["m1", "m2"])
    #expect(first?.differences.inserted == [0, 1])
    let empty = try memoryStore()
    var list = empty.conversations.live(newest: 20).makeAsyncIterator()
    #expect(try await list.next()?.conversations.isEmpty == true)
  }

  @Test func aConversationThatIsMadeLaterIsFollowed() async throws {
    let store = try store(0)
    var room = store.thread("room").live(newest: 5).makeAsyncIterator()
    #expect(try await room.next()?.slice.isEmpty == true)
    try await store.write { try $0.insert(message("m1", at: 10)) }
    #expect(try await room.next()?.slice.ids == ["m1"])
  }

  @Test func aNewMessagePushesTheOldestOut() throws {
    let store = try store(10)
    var room = store.thread("room").live(newest: 4).makeAsyncIterator()
    #expect(try room.nextIfThere()?.slice.ids == ["m6", "m7", "m8", "m9"])
    try store.write { try $0.insert(message("m10", at: 10, 10)) }
    let value = try #require(try room.nextIfThere())
    #expect(value.slice.ids == ["m7", "m8", "m9", "m10"])
    #expect(value.differences.removed == [0])
    #expect(value.differences.inserted == [3])
    #expect(value.differences.moved.isEmpty && value.differences.changed.isEmpty)
    #expect(value.differences.isOlderChanged && !value.differences.isNewerChanged)
  }

  @Test func aMessageThatIsAcknowledgedWhereItStandsHasChangedAndNotMoved() throws {
    let store = try store(3)
    var room = store.thread("room").live(newest: 5).makeAsyncIterator()
    #expect(try room.nextIfThere() != nil)
    try store.write { try $0.send(message("mine", at: nil, from: "me")) }
    #expect(try room.nextIfThere()?.differences.inserted == [3])
    try store.write {
      try $0.acknowledge("mine", in: "room", serverTimestamp: time(50), sequence: 3)
    }
    let value = try #require(try room.nextIfThere())
    #expect(value.differences.changed == [3])
    #expect(value.differences.moved.isEmpty && value.differences.inserted.isEmpty)
    // To another place.
    try store.write { chat in
      _ = try chat.acknowledge("m0", in: "room", serverTimestamp: time(60), revision: 1)
    }
    let moved = try #require(try room.nextIfThere()?.differences)
    #expect(moved.moved.map(\.from) == [0] && moved.moved.map(\.to) == [3])
    #expect(moved.changed == [3])
  }

  @Test func whatDoesNotConcernThePartIsNotTold() throws {
    let store = try store(10)
    var room = store.thread("room").live(newest: 4).makeAsyncIterator()
    #expect(try room.nextIfThere() != nil)
    try store.write { try $0.insert(chatMessage("x", in: "other", at: 5)) }
    try store.write { try $0.setTitle("title", of: "room") }
    try store.write {
      try $0.receive(Reaction("👍", from: "you", at: time(9)), to: "m1", in: "room")
    }
    try store.write { try $0.markRead("room") }
    try store.write { try $0.insert(message("short", at: 20, 11)) }
    try store.write { try $0.delete("short", in: "room") }
    #expect(try room.nextIfThere() == nil)
  }

  @Test func receiptsOfOthersShowInOnesOwnMessages() throws {
    let store = try groupStore()
    try store.write { chat in
      for number in 1...3 {
        try chat.insert(
          message(MessageID("m\(number)"), at: Int64(number) * 10, Int64(number), from: "me"))
      }
    }
    var room = store.thread("room").live(newest: 5).makeAsyncIterator()
    #expect(try room.nextIfThere() != nil)
    for member: MemberID in ["you", "ann"] {
      try store.write { try $0.receive(receipt(member, .read, upTo: "m2")) }
      #expect(try room.nextIfThere() == nil)
    }
    try store.write { try $0.receive(receipt("bob", .read, upTo: "m2")) }
    let value = try #require(try room.nextIfThere())
    #expect(value.differences.changed == [0, 1])
    #expect(value.slice.map(\.status) == [.read, .read, .sent])
  }

  @Test func aConversationIsFollowedToItsNewName() throws {
    let store = try store(2)
    var room = store.thread("room").live(newest: 5).makeAsyncIterator()
    #expect(try room.nextIfThere() != nil)
    try store.write { try $0.renameConversation("room", to: "server") }
    #expect(try room.nextIfThere()?.slice.first?.conversation == "server")
    try store.write { try $0.insert(chatMessage("x", in: "server", at: 50)) }
    #expect(try room.nextIfThere()?.slice.last?.id == "x")
    // Another one becomes a part of it, and it of another.
    try store.write { try $0.insert(chatMessage("y", in: "more", at: 60)) }
    #expect(try room.nextIfThere() == nil)
    try store.write { try $0.renameConversation("server", to: "more") }
    try store.finishWork()
    #expect(try room.nextIfThere()?.slice.ids == ["m0", "m1", "x", "y"])
    var late = store.thread("room").live(newest: 1).makeAsyncIterator()
    #expect(try late.nextIfThere()?.slice.ids == ["y"])
    try store.write { try $0.deleteConversation("more") }
    #expect(try room.nextIfThere()?.slice.isEmpty == true)
  }

  @Test func aPartIsPinnedToItsMessage() throws {
    let store = try store(10)
    var part = store.thread("room").live(around: "m5", count: 3).makeAsyncIterator()
    #expect(try part.nextIfThere()?.slice.ids == ["m4", "m5", "m6"])
    try store.write { try $0.insert(message("m10", at: 10, 10)) }
    #expect(try part.nextIfThere() == nil)
    try store.write { try $0.delete("m4", in: "room") }
    #expect(try part.nextIfThere()?.slice.ids == ["m3", "m5", "m6"])
    // Where it was, once it is gone.
    try store.write { try $0.delete("m5", in: "room") }
    #expect(try part.nextIfThere()?.slice.ids == ["m3", "m6", "m7"])
    var unknown = store.thread("room").live(around: "later", count: 3).makeAsyncIterator()
    #expect(try unknown.nextIfThere()?.slice.isEmpty == true)
    try store.write { try $0.insert(message("later", at: 7)) }
    #expect(try unknown.nextIfThere()?.slice.ids.contains("later") == true)
  }

  @Test func aListTellsNothingOfWhatStaysBehindItsHead() throws {
    let store = try memoryStore()
    try store.write { chat in
      for number in 0..<30 {
        try chat.insert(
          chatMessage("m", in: ConversationID("r\(number)"), at: Int64(100 + number), from: "me"))
      }
    }
    var list = store.conversations.live(newest: 20).makeAsyncIterator()
    #expect(try list.nextIfThere()?.conversations.first?.id == "r29")
    try store.write { try $0.insert(chatMessage("n", in: "r3", at: 104, from: "me")) }
    try store.write { try $0.setTitle("title", of: "r4") }
    try store.write { try $0.deleteConversation("r5") }
    #expect(try list.nextIfThere() == nil)
    try store.write { try $0.setTitle("title", of: "r15") }
    #expect(try list.nextIfThere()?.differences.changed == [14])
    try store.write { try $0.insert(chatMessage("n", in: "r15", at: 900, from: "me")) }
    let moved = try #require(try list.nextIfThere()?.differences)
    #expect(moved.moved.map(\.from) == [14] && moved.moved.map(\.to) == [0])
    #expect(moved.changed == [0])
    try store.write { try $0.insert(chatMessage("o", in: "r3", at: 901, from: "me")) }
    let came = try #require(try list.nextIfThere()?.differences)
    #expect(came.inserted == [0] && came.removed == [19])
    try store.write { try $0.setArchived(true, of: "r3") }
    let went = try #require(try list.nextIfThere()?.differences)
    #expect(went.removed == [0] && went.inserted == [19])
  }

  @Test func aTailIsInHandForWhoeverWaits() async throws {
    let store = try store(100)
    var room = store.thread("room").live(newest: 50).makeAsyncIterator()
    #expect(try await room.next()?.slice.count == 50)
    for number in 100..<150 {
      let id = MessageID("m\(number)")
      async let written = store.write(.relaxed) {
        try $0.insert(message(id, at: Int64(number), Int64(number)))
      }
      #expect(try await room.next()?.slice.last?.id == id)
      _ = try await written
    }
  }

  @Test func followingEndsWithTheTaskAndWithTheStore() async throws {
    let store = try store(3)
    let live = store.thread("room").live(newest: 2)
    let task = Task {
      for try await _ in live {}
      return true
    }
    try await wait { store.listenerCount > 0 }
    task.cancel()
    #expect(try await task.value)
    #expect(store.listenerCount == 0)
    var list = store.conversations.live(newest: 2).makeAsyncIterator()
    #expect(try await list.next() != nil)
    try await store.write { try $0.insert(message("m9", at: 9)) }
    try await store.close()
    #expect(try await list.next() == nil)
    #expect(try await list.next() == nil)
  }

  @Test func followingWaitsWhileTheStoreIsSuspended() async throws {
    let store = try store(3)
    var room = store.thread("room").live(newest: 5).makeAsyncIterator()
    #expect(try await room.next() != nil)
    try await store.write { try $0.insert(message("m3", at: 3, 3)) }
    try await store.suspend()
    async let resumed = Task {
      try await Task.sleep(for: .milliseconds(20))
      try await store.resume()
    }.value
    #expect(try await room.next()?.differences.inserted == [3])
    try await resumed
  }

  @Test func lessThanOneIsRefused() async throws {
    let store = try store(1)
    var none = store.thread("room").live(newest: 0).makeAsyncIterator()
    await #expect(throws: StoreError.input(.count(0))) { try await none.next() }
    #expect(try await none.next() == nil)
  }
}
