import MsgStore
import PageFile
import Testing

/// What the local member does is entered in the commit of the act itself.
struct OutboxEnteringTests {
  private func filled(_ clock: TestClock = TestClock()) throws -> MessageStore {
    let store = try clock.outboxStore()
    try store.write {
      try $0.putConversation("room", participants: ["me", "you", "ann"])
      for index in 1...5 { try $0.insert(message(MessageID("r\(index)"), at: Int64(index))) }
      try $0.insert(message("mine", at: 6, from: "me"))
    }
    #expect(try store.waiting == [])
    return store
  }

  @Test func eachKindOfActIsEnteredInItsOwnCommit() throws {
    let store = try filled()
    let acts: [(String, (borrowing StoreWriter) throws -> Void)] = [
      ("send m queued", { try $0.send(own("m")) }),
      ("edit mine queued", { _ = try $0.edit("mine", in: "room", text: "other") }),
      ("react r1 queued", { _ = try $0.react("👍", to: "r1", in: "room") }),
      ("readReceipt queued", { _ = try $0.markRead("room") }),
      ("deliveredReceipt queued", { _ = try $0.markDelivered("room") }),
      ("setTitle Title queued", { _ = try $0.setTitle("Title", of: "room") }),
      ("setAvatar url queued", { _ = try $0.setAvatar("url", of: "room") }),
      (
        "setMessageField r2 queued",
        { _ = try $0.setOwnField("a", [1], of: .message("r2", in: "room")) }
      ),
      (
        "setConversationField a queued",
        { _ = try $0.setOwnField("a", [1], of: .conversation("room")) }
      ),
      ("setMemberField a queued", { _ = try $0.setOwnField("a", [1], of: .member("ann")) }),
      ("changeMembers queued", { _ = try $0.addParticipants(["bob"], to: "room") }),
      ("retract mine queued", { _ = try $0.retract("mine", in: "room") }),
      ("leaveConversation queued", { _ = try $0.leave("room") }),
      ("client poll queued", { _ = try $0.outbox.enter("poll", payload: [1], in: "room") }),
      ("client alone queued", { _ = try $0.outbox.enter("alone") }),
      (
        "createConversation queued",
        { _ = try $0.createGroup("group", participants: ["you", "ann"], title: "T") }
      ),
    ]
    var expected: [String] = []
    for (line, act) in acts {
      expected.append(line)
      // Who has left tells nobody what they have read.
      if line.hasPrefix("leave") { expected.removeAll { $0.contains("Receipt") } }
      if line.hasPrefix("retract") {
        expected = expected.map { $0 == "edit mine queued" ? "edit mine queued, blocked" : $0 }
      }
      #expect(try store.commits(act))
      let waiting = try store.waiting
      #expect(waiting.sorted() == expected.sorted())
      #expect(try store.counts().queued == expected.count)
      try store.expectSound()
    }
  }

  @Test func anActThatIsRolledBackEntersNothing() throws {
    struct Stop: Error {}
    let store = try filled()
    #expect(throws: Stop.self) {
      try store.write {
        try $0.send(own("m"))
        #expect(try $0.outbox.counts().queued == 1)
        throw Stop()
      }
    }
    #expect(try store.waiting == [] && store.counts().total == 0)
    let first = try store.write { try $0.outbox.enter("x") }
    #expect(try store.entries().first?.id == first)
    try store.expectSound()
  }

  @Test func whatChangesNothingEntersNothing() throws {
    let store = try filled()
    try store.write { (chat) throws in
      #expect(try chat.setTitle("T", of: "room") && !chat.setTitle("T", of: "room"))
      #expect(try chat.react("👍", to: "r1", in: "room") && !chat.react("👍", to: "r1", in: "room"))
      #expect(try chat.edit("mine", in: "room", text: "hello") == nil)
      #expect(try !chat.addParticipants(["you"], to: "room"))
    }
    #expect(try store.waiting == ["setTitle T queued", "react r1 queued"])
  }

  @Test func whatIsReceivedEntersNothing() throws {
    let store = try filled()
    try store.write {
      try $0.insert(message("m", at: 9, from: "me"))
      _ = try $0.receiveEdit(of: "mine", in: "room", text: "x", at: time(10))
      _ = try $0.receiveRetraction(of: "mine", in: "room", at: time(11))
      _ = try $0.receive(Reaction("👍", from: "me", at: time(3)), to: "r1", in: "room")
      try $0.putConversation("new", participants: ["me", "you"])
    }
    #expect(try store.waiting == [])
  }

  @Test func aStoreWithItsOwnQueueEntersNothing() throws {
    let store = try TestClock().outboxStore { $0.isEnabled = false }
    try store.write {
      try $0.insert(message("r", at: 1))
      try $0.send(own("m"))
      _ = try $0.markRead("room")
      _ = try $0.retract("m", in: "room")
    }
    #expect(try store.waiting == [])
    #expect(try store.pendingRooms(.read) == ["room"])
    try store.expectSound()
  }

  @Test func whatIsEnteredSaysWhatItIs() throws {
    let clock = TestClock(7_000_000)
    let store = try filled(clock)
    try store.write {
      try $0.send(own("m", "words"))
      _ = try $0.edit("mine", in: "room", text: "better")
    }
    let entries = try store.entries()
    #expect(entries.map(\.text) == ["words", "better"])
    #expect(entries.map(\.message) == ["m", "mine"])
    #expect(entries.allSatisfy { $0.created == time(7_000_000) && $0.conversation == "room" })
    #expect(entries.allSatisfy { $0.attemptCount == 0 && $0.failure == nil && !$0.isBlocked })
    #expect(entries[0].id < entries[1].id && entries[0].token != entries[1].token)
    let id = entries[1].id
    try store.read { (chat) throws in
      #expect(try chat.outbox.entry(id) == entries[1])
      #expect(try chat.outbox.entry(.init(rawValue: 99)) == nil)
      #expect(try chat.outbox.entries(in: "nowhere", count: 1).entries == [])
      #expect(throws: StoreError.input(.count(0))) { try chat.outbox.entries(count: 0) }
    }
  }

  @Test func entriesAreListedInSlices() throws {
    let store = try TestClock().outboxStore()
    try store.write {
      for index in 0..<7 {
        try $0.send(own(MessageID("a\(index)"), in: "a"))
        try $0.send(own(MessageID("b\(index)"), in: "b"))
      }
    }
    try store.read { chat in
      for conversation in [nil, "a", "b", "c"] as [ConversationID?] {
        var ids: [MessageID] = []
        var next: OutboxEntry.ID?
        repeat {
          let slice = try chat.outbox.entries(in: conversation, count: 3, from: next)
          ids += slice.entries.compactMap(\.message)
          next = slice.next
        } while next != nil
        let all = (0..<7).flatMap { [MessageID("a\($0)"), MessageID("b\($0)")] }
        let expected = all.filter { id in
          conversation.map { id.string.hasPrefix($0.string) } ?? true
        }
        #expect(ids == expected)
      }
    }
  }

  @Test func workOfTheClientsOwnIsChecked() throws {
    let store = try filled()
    try store.write { chat in
      #expect(throws: StoreError.conversation(.notFound, "nowhere")) {
        try chat.outbox.enter("x", in: "nowhere")
      }
      let limit = OutboxOptions.maximumPayloadByteCount
      #expect(
        throws: StoreError.input(.tooLong(.outboxPayload, byteCount: limit + 1, limit: limit))
      ) {
        try chat.outbox.enter("x", payload: [UInt8](repeating: 0, count: limit + 1))
      }
      for name in ["", String(repeating: "x", count: 256)] {
        #expect(throws: StoreError.self) { try chat.outbox.enter(name) }
        #expect(throws: StoreError.self) { try chat.outbox.next(for: name) }
      }
      #expect(try chat.outbox.next(for: "w") == nil)
      let bytes = (0..<limit).map { UInt8(truncatingIfNeeded: $0) }
      try chat.outbox.enter(String(repeating: "n", count: 255), payload: bytes)
      let item = try #require(try chat.outbox.next(for: String(repeating: "o", count: 255)))
      #expect(item.task == .client(name: String(repeating: "n", count: 255), payload: bytes))
      #expect(item.conversation == nil)
      #expect(try chat.outbox.complete(item))
    }
    try store.expectSound()
  }
}
