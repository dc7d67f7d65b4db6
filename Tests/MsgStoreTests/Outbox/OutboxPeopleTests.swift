import MsgStore
import PageFile
import Testing

/// What people decide about what waits.
struct OutboxPeopleTests {
  private func composed(_ store: MessageStore) throws {
    try store.write {
      try $0.outbox.setHoldsNewEntries(true)
      for index in 0..<3 {
        try $0.send(own(MessageID("a\(index)"), in: "a"))
        try $0.send(own(MessageID("b\(index)"), in: "b"))
      }
    }
  }

  @Test func whatIsWrittenWhileTheSwitchIsOnIsHeld() throws {
    let store = try TestClock().outboxStore()
    try store.write { try $0.send(own("before")) }
    try composed(store)
    #expect(try store.counts() == OutboxCounts(queued: 1, held: 6))
    #expect(try store.read { try $0.outbox.holdsNewEntries })
    #expect(try store.read { try $0.message("a0", in: "a")?.status } == .held)
    #expect(try store.drain() == ["send before"])
    // Turning it off lets nothing go that is held.
    try store.write { (chat) throws in
      #expect(try chat.outbox.setHoldsNewEntries(false) && !chat.outbox.setHoldsNewEntries(false))
    }
    try store.write { try $0.send(own("after")) }
    #expect(try store.drain() == ["send after"])
    #expect(try store.write { try $0.outbox.releaseAll() } == 6)
    #expect(
      try store.drain() == ["send a0", "send b0", "send a1", "send b1", "send a2", "send b2"])
    try store.expectSound()
  }

  @Test func whatIsHeldIsReleasedInOrderOneByOneOrAConversationAtATime() throws {
    let store = try TestClock().outboxStore()
    try composed(store)
    let last = try store.entryID(.send, "a2")
    #expect(try store.write { try $0.outbox.release(last) })
    #expect(try !store.write { try $0.outbox.release(last) })
    #expect(try store.read { try $0.message("a2", in: "a")?.status } == .pending)
    let item = try store.take()
    #expect(item.name == "send a2", "those before it are held")
    #expect(try store.write { try $0.outbox.releaseAll(in: "b") } == 3)
    #expect(try store.drain() == ["send b0", "send b1", "send b2"])
    #expect(try store.write { try $0.outbox.releaseAll(in: "a") } == 2)
    #expect(try store.write { try $0.outbox.releaseAll(in: "nowhere") } == 0)
    try store.done(item)
    #expect(try store.drain() == ["send a0", "send a1"])
    try store.expectSound()
  }

  @Test func everythingIsSentAtOnce() throws {
    let store = try TestClock().outboxStore()
    try store.write {
      try $0.send(own("x")); try $0.send(own("y", in: "hall"))
    }
    try store.fail(try store.take(), .invalid)
    try store.fail(try store.take())
    try composed(store)
    #expect(try store.write { try $0.outbox.releaseAndRetryAll() } == 8)
    #expect(try store.write { try $0.outbox.releaseAndRetryAll() } == 0)
    #expect(try !store.read { try $0.outbox.holdsNewEntries })
    #expect(try store.drain().count == 8)
    try store.expectSound()
  }

  @Test func aMessageIsHeldWithItsUploads() throws {
    let store = try TestClock().outboxStore()
    try store.write { try $0.send(ownWithFiles("m", ["f", "g"])) }
    let running = try store.take()
    let id = try store.entryID(.send)
    #expect(try store.write { try $0.outbox.hold(id) })
    #expect(try !store.write { try $0.outbox.hold(id) })
    #expect(try store.waiting == ["upload m running", "upload m held", "send m held, blocked"])
    #expect(try store.message("m")?.status == .held)
    try store.done(running)
    #expect(try store.next() == nil)
    #expect(try store.write { try $0.outbox.release(id) })
    #expect(try store.waiting == ["upload m queued", "send m queued"])
    #expect(try store.drain() == ["upload g", "send m"])
    try store.expectSound()
  }

  @Test func aClientThatHoldsAMessageBackHoldsItsEntry() throws {
    let store = try TestClock().outboxStore()
    var held = ownWithFiles("m", ["f"])
    held.status = .held
    try store.write {
      try $0.send(held)
      try $0.send(own("n"))
    }
    #expect(
      try store.waiting == ["upload m held", "send m held, blocked", "send n queued"])
    try store.write { _ = try $0.setStatus(.held, of: "n", in: "room") }
    #expect(try store.next() == nil)
    try store.write { _ = try $0.setStatus(.pending, of: "m", in: "room") }
    #expect(try store.drain() == ["upload f", "send m"])
    try store.expectSound()
  }

  @Test func whatIsOutCannotBeHeldOrChanged() throws {
    let store = try TestClock().outboxStore()
    try store.write { try $0.send(own("m")) }
    let item = try store.take()
    let nobody = OutboxEntry.ID(rawValue: 99)
    try store.write { (chat) throws in
      #expect(throws: StoreError.outbox(.leased, item.id)) { try chat.outbox.hold(item.id) }
      #expect(throws: StoreError.outbox(.leased, item.id)) { try chat.outbox.remove(item.id) }
      #expect(throws: StoreError.outbox(.leased, item.id)) {
        try chat.outbox.setText("x", of: item.id)
      }
      #expect(try !chat.outbox.retry(item.id) && !chat.outbox.release(item.id))
    }
    try store.write { (chat) throws in
      let missing = StoreError.outbox(.notFound, nobody)
      #expect(throws: missing) { try chat.outbox.hold(nobody) }
      #expect(throws: missing) { try chat.outbox.release(nobody) }
      #expect(throws: missing) { try chat.outbox.retry(nobody) }
      #expect(throws: missing) { try chat.outbox.remove(nobody) }
      #expect(throws: missing) { try chat.outbox.setText("x", of: nobody) }
    }
    try store.fail(item)
    try store.write { (chat) throws in
      #expect(throws: StoreError.outbox(.mayHaveLeft, item.id)) {
        try chat.outbox.setText("x", of: item.id)
      }
    }
    #expect(try store.waiting == ["send m waiting"])
    try store.expectSound()
  }

  @Test func theTextOfWhatWaitsIsChangedAtItsPlace() throws {
    let store = try TestClock().outboxStore()
    try store.write {
      try $0.send(own("m", "one"))
      try $0.send(own("n", "two"))
    }
    let id = try store.entryID(.send, "m")
    let token = try store.entries()[0].token
    try store.write { (chat) throws in
      #expect(try !chat.outbox.setText("one", of: id))
      #expect(try chat.outbox.setText("uno", mentions: ["you"], of: id))
      #expect(throws: StoreError.input(.text(.empty))) { try chat.outbox.setText(" ", of: id) }
    }
    #expect(try store.message("m")?.text == "uno" && store.message("m")?.mentions == ["you"])
    #expect(try store.message("m")?.isEdited == false)
    #expect(try store.preview?.text == "two")
    let item = try store.take()
    guard case .send(let message) = item.task else { return #expect(Bool(false)) }
    #expect(message.text == "uno" && message.mentions == ["you"] && item.token == token)
    try store.fail(item, .invalid)
    // What was refused is another thing now.
    try store.write { _ = try $0.outbox.setText("eins", of: id) }
    #expect(try store.waiting[0] == "send m failed")
    try store.write { _ = try $0.outbox.retry(id) }
    let again = try store.take()
    #expect(again.token != token && again.name == "send m")
    try store.expectSound()
  }

  @Test func theTextOfAnEditIsChangedAtItsPlace() throws {
    let store = try TestClock(100).outboxStore()
    try store.write {
      try $0.insert(message("m", at: 1, from: "me", text: "one"))
      _ = try $0.edit("m", in: "room", text: "two")
      _ = try $0.edit("m", in: "room", text: "three")
    }
    let entries = try store.entries()
    try store.write { chat in
      try chat.outbox.hold(entries[0].id)
      try chat.outbox.hold(entries[1].id)
      #expect(try !chat.outbox.setText("two", of: entries[0].id))
      #expect(try chat.outbox.setText("zwei", of: entries[0].id))
      #expect(try chat.message("m", in: "room")?.text == "three")
      #expect(try chat.outbox.setText("drei", of: entries[1].id))
      #expect(try chat.message("m", in: "room")?.text == "drei")
    }
    #expect(try store.entries().map(\.text) == ["zwei", "drei"])
    #expect(try store.entries().map(\.token) == entries.map(\.token))
    #expect(try store.counts() == OutboxCounts(held: 2))
    try store.write { _ = try $0.outbox.releaseAndRetryAll() }
    #expect(try store.drain() == ["edit m: zwei", "edit m: drei"])
    let history = try store.history("m")
    #expect(history == ["one", "zwei"])
    try store.expectSound()
  }

  @Test func onlyWhatHasATextIsGivenAnother() throws {
    let store = try TestClock().outboxStore()
    try store.write {
      try $0.insert(message("r", at: 1))
      try $0.send(own("m"))
      _ = try $0.edit("m", in: "room", text: "x")
      _ = try $0.react("👍", to: "r", in: "room")
      _ = try $0.outbox.enter("poll")
    }
    for entry in try store.entries() where entry.kind != .edit {
      #expect(throws: StoreError.outbox(.hasNoText, entry.id)) {
        try store.write { try $0.outbox.setText("y", of: entry.id) }
      }
    }
  }

  @Test func whatIsRemovedIsUndone() throws {
    let store = try TestClock(100).outboxStore()
    try store.write {
      try $0.putConversation("room", participants: ["me", "you", "ann"])
      try $0.insert(message("r", at: 1))
      try $0.insert(message("mine", at: 2, from: "me"))
      try $0.insert(message("gone", at: 3, from: "me"))
      try $0.send(ownWithFiles("m", ["f"]))
      _ = try $0.edit("mine", in: "room", text: "other")
      _ = try $0.react("👍", to: "r", in: "room")
      _ = try $0.retract("gone", in: "room")
      _ = try $0.markRead("room")
      _ = try $0.setTitle("T", of: "room")
      _ = try $0.outbox.enter("poll")
    }
    for entry in try store.entries() where entry.kind != .upload {
      try store.write { try $0.outbox.remove(entry.id) }
      try store.expectSound()
    }
    #expect(try store.waiting == [])
    #expect(try store.message("m") == nil && store.message("mine")?.text == "hello")
    #expect(try store.message("r")?.reactions == [] && store.message("gone")?.isRetracted == false)
    #expect(try store.pendingRooms(.read) == [])
    #expect(try store.read { try $0.conversation("room")?.title } == "T", "that stays")
  }

  @Test func whatOthersNeedIsNotRemoved() throws {
    let store = try TestClock().outboxStore()
    try store.write {
      _ = try $0.createGroup("room", participants: ["you", "ann"])
      try $0.send(ownWithFiles("m", ["f"]))
    }
    for kind in [OutboxKind.createConversation, .upload] {
      let id = try store.entryID(kind)
      #expect(throws: StoreError.outbox(.needed, id)) {
        try store.write { try $0.outbox.remove(id) }
      }
    }
    #expect(try store.waiting.count == 3)
  }

  @Test func removingWhatMayHaveLeftTakesItBack() throws {
    let store = try TestClock(0).outboxStore { $0.maximumAttemptCount = 1 }
    try store.write { try $0.send(own("m")) }
    let item = try store.take()
    try store.fail(item, .timeOut)
    try store.write { try $0.outbox.remove(item.id) }
    #expect(try store.waiting == ["send m queued", "retract m queued"])
    // It may be removed for good: then only the other goes.
    try store.write { try $0.outbox.remove(item.id) }
    #expect(try store.drain() == ["retract m"])
    try store.expectSound()
  }

  @Test func countsAreWhatACountSays() throws {
    let clock = TestClock(0)
    let store = try clock.outboxStore()
    try store.write {
      for room in ["a", "b"] as [ConversationID] {
        for index in 0..<5 { try $0.send(own(MessageID("\(room)\(index)"), in: room)) }
      }
      _ = try $0.outbox.enter("x")
    }
    func expectCounts(_ expected: OutboxCounts) throws {
      #expect(try store.counts() == expected && expected.total == store.entries().count)
      for room in [nil, "a", "b"] as [ConversationID?] {
        #expect(try store.counts(room) == OutboxCounts(store.entries(in: room)))
      }
      try store.expectSound()
    }
    try expectCounts(OutboxCounts(queued: 11))
    try store.fail(try store.take(), .invalid)
    try store.fail(try store.take())
    _ = try store.take()
    let held = try store.entryID(.send, "b3")
    try store.write { _ = try $0.outbox.hold(held) }
    try expectCounts(OutboxCounts(queued: 7, held: 1, running: 1, waiting: 1, failed: 1))
    try store.write { try $0.outbox.remove(held) }
    try expectCounts(OutboxCounts(queued: 7, running: 1, waiting: 1, failed: 1))
    #expect(try store.counts("nowhere") == OutboxCounts())
    #expect(try store.counts().total == 10)
    clock.advance(600)
    try store.write { _ = try $0.outbox.releaseAndRetryAll() }
    _ = try store.drain()
    try expectCounts(OutboxCounts())
  }
}
