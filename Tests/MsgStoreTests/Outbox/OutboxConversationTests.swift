import MsgStore
import PageFile
import Testing

/// What the server says by itself, and what happens to conversations that have something waiting.
struct OutboxConversationTests {
  @Test func theServersWordSettlesAMessageWhicheverWayItComes() throws {
    let words: [(borrowing StoreWriter) throws -> Void] = [
      { _ = try $0.acknowledge("m", in: "room", serverTimestamp: time(9), sequence: 1) },
      {
        _ = try $0.acknowledge(
          "m", in: "room", serverTimestamp: time(9), sequence: 1, as: "s")
      },
      { _ = try $0.insert(message("m", at: 9, 1, from: "me")) },
      { _ = try $0.setStatus(.sent, of: "m", in: "room") },
      { _ = try $0.setStatus(.read, of: "m", in: "room") },
    ]
    for word in words {
      let store = try TestClock().outboxStore()
      try store.write {
        try $0.send(own("m"))
        _ = try $0.edit("m", in: "room", text: "better")
      }
      let item = try store.take()
      try store.write { try word($0) }
      #expect(try store.waiting.count == 1 && store.message("m")?.syncStatus == .pending)
      #expect(try !store.done(item) && !store.fail(item))
      let edit = try store.take()
      #expect(edit.kindName == "edit")
      try store.done(edit)
      #expect(try store.waiting == [] && store.message("m")?.text == "better")
      try store.expectSound()
    }
  }

  @Test func anEchoThatComesFirstSettlesWhatWaitsToo() throws {
    let store = try TestClock().outboxStore()
    try store.write { try $0.send(ownWithFiles("m", ["f"])) }
    // The server tells of it under its own name, and that this is the same.
    try store.write {
      _ = try $0.insert(message("s", at: 9, 1, from: "me"))
      _ = try $0.acknowledge(
        "m", in: "room", serverTimestamp: time(9), sequence: 1, as: "s")
    }
    #expect(try store.waiting == [])
    #expect(try store.tail.count == 1)
    try store.expectSound()
  }

  @Test func anEditThatIsConfirmedWithoutTheOutboxIsSettled() throws {
    let store = try TestClock(100).outboxStore()
    try store.write { chat in
      try chat.insert(message("m", at: 1, from: "me"))
      let first = try #require(try chat.edit("m", in: "room", text: "a"))
      let second = try #require(try chat.edit("m", in: "room", text: "b"))
      _ = try chat.confirmEdit(of: "m", in: "room", at: first)
      #expect(try chat.outbox.counts().total == 1)
      _ = try chat.refuseEdit(of: "m", in: "room", at: second, because: SendFailure(.invalid))
      #expect(try chat.outbox.counts().total == 0)
    }
    try store.expectSound()
  }

  @Test func theServersNameOfAConversationSettlesItsMaking() throws {
    let store = try TestClock().outboxStore()
    try store.write {
      _ = try $0.createGroup("local", participants: ["you", "ann"])
      try $0.send(own("m", in: "local"))
    }
    let item = try store.take()
    try store.write {
      _ = try $0.renameConversation("local", to: "server")
      #expect(try !$0.outbox.complete(item))
    }
    #expect(try store.entries().map(\.conversation) == ["server"])
    let send = try store.take()
    #expect(send.conversation == "server")
    guard case .send(let message) = send.task else { return #expect(Bool(false)) }
    #expect(message.conversation == "server")
    try store.done(send)
    #expect(try store.counts("local").total == 0 && store.waiting == [])
    try store.expectSound()
  }

  @Test func whatWasHandedOutUnderTheOldNameIsDoneUnderTheNew() throws {
    let store = try TestClock().outboxStore()
    try store.write { try $0.send(ownWithFiles("m", ["f"])) }
    let upload = try store.take()
    try store.write { _ = try $0.renameConversation("room", to: "server") }
    #expect(try store.done(upload))
    let send = try store.take()
    try store.write { _ = try $0.renameConversation("server", to: "third") }
    #expect(try store.done(send))
    #expect(try store.read { try $0.message("m", in: "third")?.status } == .sent)
    try store.expectSound()
  }

  @Test func conversationsThatBecomeOneGoInOneOrder() throws {
    let clock = TestClock(0)
    let store = try clock.outboxStore()
    try store.write {
      try $0.insert(chatMessage("r", in: "b", at: 1))
      try $0.send(own("a1", in: "a"))
      try $0.send(own("b1", in: "b"))
      try $0.send(own("a2", in: "a"))
      try $0.send(own("b2", in: "b"))
      _ = try $0.edit("a1", in: "a", text: "better")
      _ = try $0.setTitle("A", of: "a")
      _ = try $0.setTitle("B", of: "b")
      _ = try $0.markRead("b")
    }
    let running = try store.take()
    try store.write { _ = try $0.renameConversation("a", to: "b") }
    #expect(try store.counts("b").total == 8 && store.counts("a").total == 8)
    try store.expectSound()
    try store.done(running)
    #expect(
      try store.drain() == [
        "send b1", "send a2", "send b2", "edit a1: better", "title B", "read r",
      ])
    #expect(try store.waiting == [])
    try store.expectSound()
  }

  @Test func aLongConversationTakesItsEntriesAlongAtOnce() throws {
    let store = try TestClock().outboxStore()
    try store.write {
      for index in 0..<700 {
        try $0.insert(chatMessage(MessageID("x\(index)"), in: "a", at: Int64(index), from: "me"))
      }
      _ = try $0.edit("x3", in: "a", text: "better")
      for index in 0..<20 { try $0.send(own(MessageID("p\(index)"), in: "a")) }
      try $0.insert(chatMessage("r", in: "b", at: 1))
      _ = try $0.renameConversation("a", to: "b")
    }
    #expect(try store.counts("b").total == 21)
    try store.expectSound()
    #expect(try store.take().name == "edit x3: better", "also before its message has come")
    try store.finishWork()
    try store.expectSound()
  }

  /// One of them was deleted here, and takes what is older in the other with it, which gets another
  /// number by that while the entry is on its way to it.
  @Test func aDeletedConversationThatBecomesAnotherBringsItsEntryAtOnce() throws {
    let store = try TestClock().outboxStore()
    try store.write { chat in
      try chat.insert(chatMessage("m", in: "a", at: 50))
      try chat.insert(chatMessage("n", in: "b", at: 10))
      _ = try chat.deleteConversation("a")
    }
    try store.write { _ = try $0.renameConversation("a", to: "b") }
    #expect(try store.entries().map(\.kind) == [.deleteConversation])
    #expect(try store.entries(in: "b") == store.entries())
    #expect(try store.counts() == OutboxCounts(queued: 1))
    try store.expectSound()
  }

  @Test func aConversationDeletedHereLeavesOnlyThatToTell() throws {
    let store = try TestClock(100).outboxStore()
    try store.write {
      try $0.putConversation("room", participants: ["me", "you", "ann"])
      try $0.insert(message("r", at: 1))
      try $0.insert(message("mine", at: 2, from: "me"))
      try $0.send(ownWithFiles("m", ["f"]))
      _ = try $0.edit("m", in: "room", text: "x")
      _ = try $0.react("👍", to: "r", in: "room")
      _ = try $0.markRead("room")
      _ = try $0.retract("mine", in: "room")
      _ = try $0.leave("room")
    }
    try store.fail(try store.take(), .invalid)
    try store.write { _ = try $0.deleteConversation("room") }
    try store.expectSound()
    #expect(
      try store.waiting == [
        "retract mine queued", "leaveConversation queued", "deleteConversation queued",
      ])
    try store.finishWork()
    #expect(try store.drain() == ["retract mine", "leave", "delete"])
    try store.expectSound()
  }

  @Test func whatIsOutWhenItsConversationIsDeletedIsForgotten() throws {
    let store = try TestClock().outboxStore()
    try store.write { try $0.send(own("m")) }
    let item = try store.take()
    try store.write { _ = try $0.deleteConversation("room") }
    #expect(try !store.done(item) && !store.fail(item))
    #expect(try store.drain() == ["delete"])
    // It comes back, and is deleted once more before that was told.
    try store.write {
      try $0.send(own("n"))
      _ = try $0.deleteConversation("room")
      try $0.send(own("o"))
    }
    #expect(try store.drain() == ["delete", "send o"])
    try store.expectSound()
  }

  @Test func aConversationThatTheServerNeverKnewIsGoneWithAllOfIt() throws {
    let store = try TestClock().outboxStore()
    try store.write {
      _ = try $0.createGroup("g", participants: ["you", "ann"])
      try $0.send(own("m", in: "g"))
      _ = try $0.outbox.enter("poll", in: "g")
      _ = try $0.leave("g")
      _ = try $0.deleteConversation("g")
    }
    #expect(try store.waiting == [])
    try store.expectSound()
  }

  @Test func aConversationThatTheServerMayKnowIsMadeAndDeleted() throws {
    let clock = TestClock(0)
    let store = try clock.outboxStore()
    try store.write {
      _ = try $0.createGroup("g", participants: ["you", "ann"])
      try $0.send(own("m", in: "g"))
    }
    let item = try store.take()
    try store.write { _ = try $0.deleteConversation("g") }
    #expect(try store.next() == nil, "its deletion waits")
    try store.fail(item, .timeOut)
    clock.advance(1)
    let again = try store.take()
    #expect(again.token == item.token && again.name == "create g")
    try store.write {
      _ = try $0.renameConversation("g", to: "server")
      try $0.outbox.complete(again)
    }
    let deletion = try store.take()
    #expect(deletion.name == "delete" && deletion.conversation == "server")
    try store.done(deletion)
    #expect(try store.waiting == [])
    try store.expectSound()
  }

  @Test func aConversationDeletedElsewhereKeepsWhatIsNewer() throws {
    let store = try TestClock(100).outboxStore()
    try store.write {
      try $0.insert(message("old", at: 1, from: "me"))
      try $0.insert(message("r", at: 2))
      _ = try $0.edit("old", in: "room", text: "x")
      _ = try $0.react("👍", to: "r", in: "room")
      try $0.send(own("m"))
      _ = try $0.receiveConversationDeletion("room", at: time(50))
    }
    let waiting = try store.waiting
    #expect(waiting == ["send m queued"])
    #expect(try store.drain() == ["send m"])
    try store.expectSound()
  }

  @Test func aConversationDeletedElsewhereTakesWhatWasToBeToldOfIt() throws {
    for count in [1, 1500] {
      let store = try TestClock(10_000).outboxStore()
      try store.write {
        for index in 0..<count {
          try $0.insert(message(MessageID("m\(index)"), at: Int64(index), from: "me"))
        }
        _ = try $0.edit("m0", in: "room", text: "x")
        _ = try $0.react("👍", to: "m0", in: "room")
        let id = try $0.outbox.entries(count: 1).entries[0].id
        _ = try $0.outbox.hold(id)
        _ = try $0.receiveConversationDeletion("room", at: time(5000))
      }
      try store.expectSound()
      try store.finishWork()
      #expect(try store.waiting == [])
      try store.expectSound()
    }
  }

  @Test func conversationsThatAServerDoesNotListAreGoneWithTheirEntries() throws {
    let store = try TestClock(100).outboxStore()
    try store.write {
      try $0.insert(message("m", at: 1, from: "me"))
      _ = try $0.edit("m", in: "room", text: "x")
      try $0.send(own("p", in: "hall"))
      _ = try $0.reconcile([ReceivedConversation]())
    }
    #expect(try store.waiting == ["send p queued"])
    try store.finishWork()
    try store.expectSound()
  }
}

extension OutboxItem {
  fileprivate var kindName: String { if case .edit = task { "edit" } else { name } }
}
