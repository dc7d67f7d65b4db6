import MsgStore
import PageFile
import Testing

/// Messages of several names that come to another conversation, which knows them otherwise.
struct MovedNamesTests {
  /// A store where "m" of the conversation "a" is the server's "s", and what else `prepare` does.
  private func merged(
    _ prepare: (borrowing StoreWriter) throws -> Void
  ) throws -> MessageStore {
    let store = try memoryStore()
    try store.write { chat in
      try chat.insert(chatMessage("m", in: "a", at: 10))
      try chat.acknowledge("m", in: "a", serverTimestamp: time(10), as: "s")
      try prepare(chat)
    }
    try store.expectSound()
    try store.write { try $0.renameConversation("a", to: "b") }
    try store.finishWork()
    try store.expectSound()
    return store
  }

  private func ids(_ store: MessageStore) throws -> [String] {
    try store.read { try $0.thread("b").tail(9).ids }
  }

  @Test func whatWereTwoMessagesThereIsOne() throws {
    let store = try merged { chat in
      try chat.insert(chatMessage("m", in: "b", at: 20))
      try chat.insert(chatMessage("s", in: "b", at: 30))
      try chat.receive(Reaction("👍", from: "ann", at: time(9)), to: "s", in: "b")
    }
    #expect(try ids(store) == ["m"])
    let message = try #require(try store.read { try $0.message("s", in: "b") })
    #expect(message.id == "m" && message.serverTimestamp == time(10))
    #expect(message.reactions.count == 1)
  }

  @Test(arguments: ["m", "s"] as [MessageID])
  func whatWaitsThereUnderOneOfItsNamesIsItsOwn(_ name: MessageID) throws {
    let other: MessageID = name == "m" ? "s" : "m"
    let store = try merged { chat in
      try chat.insert(chatMessage(other, in: "b", at: 20))
      try chat.receiveEdit(of: name, in: "b", text: "new", at: time(40))
    }
    #expect(try ids(store) == ["m"])
    #expect(try store.read { try $0.message("m", in: "b") }?.text == "new")
    #expect(try store.read { try $0.waitingFacts.waiting } == 0)
  }

  @Test func whatWaitsThereUnderAThirdNameIsItsOwn() throws {
    let store = try merged { chat in
      try chat.insert(chatMessage("m", in: "b", at: 20))
      try chat.acknowledge("n", in: "b", serverTimestamp: time(15), as: "s")
    }
    #expect(try ids(store) == ["m"])
    let outcome = try store.write { try $0.insert(chatMessage("n", in: "b", at: 15)) }
    #expect(outcome == .duplicate)
    try store.expectSound()
  }

  /// Which of its names is its own does not depend on which of them comes first there.
  @Test func whatWaitsThereUnderNeitherOfItsFirstNamesIsItsOwn() throws {
    let store = try merged { chat in
      try chat.insert(chatMessage("z", in: "a", at: 10))
      try chat.acknowledge("z", in: "a", serverTimestamp: time(10), as: "s")
      try chat.insert(chatMessage("s", in: "b", at: 20))
      try chat.receiveEdit(of: "z", in: "b", text: "new", at: time(40))
    }
    #expect(try ids(store) == ["m"])
    let message = try #require(try store.read { try $0.message("z", in: "b") })
    #expect(message.text == "new" && message.position.id == "s")
  }

  @Test(arguments: ["m", "s"] as [MessageID])
  func whatWasDeletedThereUnderOneOfItsNamesStaysAway(_ name: MessageID) throws {
    let other: MessageID = name == "m" ? "s" : "m"
    let store = try merged { chat in
      try chat.insert(chatMessage(name, in: "b", at: 20))
      try chat.delete(name, in: "b")
      try chat.insert(chatMessage(other, in: "b", at: 20))
    }
    #expect(try ids(store) == [])
    let outcome = try store.write { try $0.insert(chatMessage(other, in: "b", at: 20)) }
    #expect(outcome == .deleted)
  }

  @Test func namesBeyondTheLimitLeadNowhere() throws {
    let names = (10..<24).map { MessageID("t\($0)") }
    let store = try merged { chat in
      for name in ["m", "s"] as [MessageID] {
        try chat.insert(chatMessage(name, in: "b", at: 20))
        for other in names {
          try chat.acknowledge(
            name, in: "b", serverTimestamp: time(20), as: MessageID("\(name)-\(other)"))
        }
      }
    }
    #expect(try ids(store).count == 1)
    #expect(try store.read { try $0.message("m", in: "b") } != nil)
  }
}
