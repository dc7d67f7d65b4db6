import MsgStore
import PageFile
import Simulation
import Testing

/// Own fields that wait to be told while something else happens to their owners.
struct OutboxFieldTests {
  private static let post = FieldOwner.message("r", in: "room")
  private static let room = FieldOwner.conversation("room")
  private static let ann = FieldOwner.member("ann")
  private static let owners = [post, room, ann]
  private let clock = TestClock(9_000_000)

  private func filled(_ directory: MemoryDirectory = MemoryDirectory()) throws -> MessageStore {
    let store = try clock.outboxStore(directory)
    try store.write {
      try $0.putConversation("room", participants: ["me", "you", "ann"])
      try $0.insert(message("r", at: 50))
    }
    return store
  }

  private func value(_ store: MessageStore, _ owner: FieldOwner) throws -> OwnField? {
    try store.read { try $0.ownFields(of: owner) }.first
  }

  private func told(_ item: OutboxItem) -> String {
    guard case .setOwnField(let field, let owner) = item.task else { return item.name }
    return "\(field.name) \(field.value ?? []) of \(owner)"
  }

  @Test func theyAreToldUnderTheNewNameOfTheirConversation() throws {
    let store = try filled()
    try store.write { chat throws in
      for owner in Self.owners { try chat.setOwnField("a", [1], of: owner) }
    }
    let first = try store.take()
    #expect(told(first) == "a [1] of \(Self.post)")
    try store.write { _ = try $0.renameConversation("room", to: "hall") }
    #expect(try store.done(first, serverTime: time(700)))
    let (post, hall) = (FieldOwner.message("r", in: "hall"), FieldOwner.conversation("hall"))
    #expect(try value(store, post) == OwnField("a", [1], at: time(700)))
    let second = try store.take()
    #expect(told(second) == "a [1] of \(hall)" && second.conversation == "hall")
    // Both names lead to the same field.
    try store.write { _ = try $0.setOwnField("a", [2], of: Self.room) }
    try store.done(second, serverTime: time(701))
    try store.done(try store.take())
    let third = try store.take()
    #expect(told(third) == "a [2] of \(hall)")
    try store.done(third, serverTime: time(702))
    #expect(try value(store, Self.room) == OwnField("a", [2], at: time(702)))
    #expect(try store.waiting == [])
    try store.expectSound()
  }

  @Test func conversationsThatBecomeOneTellTheFieldThatCounts() throws {
    let store = try clock.outboxStore()
    try store.write { chat throws in
      for (id, at) in [("a", 10), ("b", 20)] as [(ConversationID, Int64)] {
        try chat.insert(chatMessage("m", in: id, at: at))
        try chat.setOwnField("x", Array(id.string.utf8), of: .conversation(id))
      }
      try chat.renameConversation("a", to: "b")
    }
    try store.finishWork()
    #expect(try store.drain() == ["field x: b"])
    #expect(try value(store, .conversation("a"))?.text == "b")
    try store.expectSound()
  }

  @Test func aFieldOfAMessageThatStillMovesIsTold() throws {
    let store = try clock.outboxStore()
    let long = [UInt8](repeating: 65, count: 300)
    try store.write { chat throws in
      for index in 0..<700 {
        try chat.insert(chatMessage(MessageID("x\(index)"), in: "a", at: Int64(index)))
      }
      try chat.setOwnField("x", long, of: .message("x650", in: "a"))
      try chat.insert(chatMessage("r", in: "b", at: 1))
      try chat.renameConversation("a", to: "b")
    }
    let item = try store.take()
    #expect(told(item) == "x \(long) of \(FieldOwner.message("x650", in: "b"))")
    try store.done(item, serverTime: time(900))
    try store.finishWork()
    #expect(try value(store, .message("x650", in: "b")) == OwnField("x", long, at: time(900)))
    #expect(try store.waiting == [])
    try store.expectSound()
  }

  @Test func aConversationDeletedHereLeavesOnlyItsOwn() throws {
    let store = try filled()
    try store.write { chat throws in
      for owner in Self.owners { try chat.setOwnField("a", [1], of: owner) }
    }
    let out = try store.take()
    try store.write { _ = try $0.deleteConversation("room") }
    #expect(
      try store.waiting == [
        "setConversationField a queued", "setMemberField a queued", "deleteConversation queued",
      ])
    #expect(try !store.done(out, serverTime: time(900)) && !store.fail(out))
    try store.finishWork()
    #expect(try Set(store.drain()) == ["field a: \u{1}", "delete"])
    #expect(try value(store, Self.post) == nil && value(store, Self.room)?.value == [1])
    try store.expectSound()
  }

  @Test func manyEntriesOfADeletedConversationGoInSteps() throws {
    var options = StoreOptions(localMember: "me", clock: { clock.now }).makingConversations
    options.worksInBackground = false
    options.steps.maximumEntryCount = 2
    let store = try MessageStore(in: MemoryDirectory(), name: "store", options: options)
    try store.write { chat throws in
      try chat.putConversation("room", participants: ["me", "you", "ann"])
      for index in 0..<6 {
        try chat.insert(message(MessageID("r\(index)"), at: Int64(index)))
        try chat.setOwnField("f\(index)", [1], of: .message(MessageID("r\(index)"), in: "room"))
        try chat.setOwnField("f\(index)", [1], of: Self.room)
      }
    }
    try store.write { chat throws in
      try chat.deleteConversation("room")
      try chat.insert(message("new", at: 99))
      // The older entry may not have come over yet.
      try chat.setOwnField("f5", [2], of: Self.room)
    }
    try store.expectSound()
    try store.finishWork()
    let names = try store.drain().filter { $0 != "delete" }
    #expect(names == (0..<5).map { "field f\($0): \u{1}" } + ["field f5: \u{2}"])
    #expect(try store.waiting == [])
    try store.expectSound()
  }

  @Test func aDeletedMessageLeavesNothingToTell() throws {
    let store = try filled()
    try store.write { _ = try $0.setOwnField("a", [1], of: Self.post) }
    let out = try store.take()
    try store.write { _ = try $0.delete("r", in: "room") }
    #expect(try store.waiting == [])
    #expect(try !store.done(out, serverTime: time(900)))
    #expect(try value(store, Self.post) == nil)
    try store.expectSound()
  }

  @Test func aMessageTakenBackElsewhereLeavesNothingToTell() throws {
    let store = try filled()
    try store.write { _ = try $0.setOwnField("a", [1], of: Self.post) }
    let out = try store.take()
    try store.write { _ = try $0.receiveRetraction(of: "r", in: "room", at: time(60)) }
    #expect(try store.waiting == [])
    #expect(try !store.done(out, serverTime: time(900)))
    #expect(try value(store, Self.post) == nil)
    try store.expectSound()
  }

  @Test func aRefusedRetractionLetsTheFieldsOfItsMessageGo() throws {
    let store = try filled()
    let mine = FieldOwner.message("mine", in: "room")
    try store.write { chat throws in
      try chat.insert(message("mine", at: 60, from: "me"))
      try chat.setOwnField("a", [1], of: mine)
      try chat.setOwnField("b", [2], of: mine)
    }
    let out = try store.take()
    try store.write { _ = try $0.retract("mine", in: "room") }
    #expect(try value(store, mine) == nil)
    #expect(try store.done(out, serverTime: time(900)))
    let retraction = try store.entryID(.retract)
    try store.write { try $0.outbox.remove(retraction) }
    #expect(try value(store, mine) == OwnField("a", [1], at: time(900)))
    #expect(try store.drain() == ["field b: \u{2}"])
    try store.expectSound()
  }

  @Test(arguments: owners) func whatWasOutWhenTheStoreWasKilledGoesOutAgain(
    owner: FieldOwner
  ) throws {
    let directory = SimulatedDirectory()
    let store = try store(directory)
    try store.write { chat throws in
      try chat.putConversation("room", participants: ["me", "you", "ann"])
      try chat.insert(message("r", at: 50))
      try chat.setOwnField("a", [1], of: owner)
    }
    let out = try store.take()
    directory.die()
    try? store.close()
    let again = try self.store(
      SimulatedDirectory(directory.disk.afterPowerCut(PowerCut(), .worst)))
    #expect(try again.next() == nil)
    clock.advance(100)
    let item = try again.take()
    #expect(item.token == out.token && told(item) == told(out) && item.attempt == 2)
    // The one who had it may still say that the server took it.
    #expect(try again.done(out, serverTime: time(700)))
    #expect(try value(again, owner) == OwnField("a", [1], at: time(700)))
    #expect(try !again.done(item) && again.waiting == [])
    try again.expectSound()
  }

  private func store(_ directory: SimulatedDirectory) throws -> MessageStore {
    var options = StoreOptions(localMember: "me", clock: { clock.now }).makingConversations
    options.worksInBackground = false
    return try MessageStore(in: directory, name: "store", options: options)
  }

  @Test(arguments: owners, [false, true]) func aLateAnswerAboutAnOlderValueEndsNothing(
    owner: FieldOwner, isReturned: Bool
  ) throws {
    let store = try filled()
    try store.write { _ = try $0.setOwnField("a", [1], of: owner) }
    let first = try store.take()
    if isReturned {
      try store.write { _ = try $0.outbox.returnWork(first) }
    } else {
      try store.fail(first, .timeOut)
    }
    try store.write { _ = try $0.setOwnField("a", [2], of: owner) }
    #expect(try !store.done(first, serverTime: time(8_000)))
    #expect(try store.counts().total == 1 && value(store, owner)?.value == [2])
    clock.advance(100)
    let second = try store.take()
    #expect(told(second) == "a [2] of \(owner)" && second.token != first.token)
    #expect(try !store.done(first, serverTime: time(9_000)))
    try store.done(second, serverTime: time(900))
    #expect(try value(store, owner) == OwnField("a", [2], at: time(900)))
    try store.expectSound()
  }

  @Test(arguments: owners) func anEntryThatRanOutHasNothingToTellOnceAnotherValueCounts(
    owner: FieldOwner
  ) throws {
    let store = try filled()
    try store.write { _ = try $0.setOwnField("a", [1], of: owner) }
    let first = try store.take()
    try store.write { _ = try $0.setOwnField("a", [2], of: owner) }
    clock.advance(100)
    let second = try store.take()
    #expect(told(second) == "a [2] of \(owner)" && second.id != first.id)
    #expect(try !store.done(first, serverTime: time(8_000)))
    try store.done(second, serverTime: time(900))
    #expect(try value(store, owner) == OwnField("a", [2], at: time(900)))
    #expect(try store.waiting == [])
    try store.expectSound()
  }

  @Test func aForgottenMembersValueDoesNotComeBackWithALateAnswer() throws {
    let store = try filled()
    try store.write { _ = try $0.setOwnField("a", [1], of: Self.ann) }
    let out = try store.take()
    try store.write { _ = try $0.forgetMember("ann") }
    #expect(try store.waiting == [])
    #expect(try !store.done(out, serverTime: time(20_000_000)))
    #expect(try value(store, Self.ann) == nil)
    try store.expectSound()
  }
}
