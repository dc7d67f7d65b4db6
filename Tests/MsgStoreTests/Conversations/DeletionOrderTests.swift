import MsgStore
import Testing

/// A deletion of a conversation that was received is a fact like others: it may come before what it
/// has deleted, and after it.
struct DeletionOrderTests {
  private func deletion(upTo end: Int64, of id: ConversationID = "room") -> ToldFact {
    { _ = try $0.receiveConversationDeletion(id, at: time(end)) }
  }

  private func copy(_ id: MessageID, at time: Int64?, _ sequence: Int64? = nil) -> ToldFact {
    {
      var message = chatMessage(id, in: "room", at: time)
      message.sequence = sequence
      _ = try $0.insert(message)
    }
  }

  private func acknowledgement(_ id: MessageID, at end: Int64, revision: Int64 = 0) -> ToldFact {
    { _ = try $0.acknowledge(id, in: "room", serverTimestamp: time(end), revision: revision) }
  }

  private func look(_ chat: borrowing StoreSnapshot) throws -> String {
    let listed = try chat.conversations(count: 9).map(\.id)
    return try
      "\(listed) \(chat.thread("room").tail(9).map(\.id)) \(chat.waitingFacts.waiting) waiting"
  }

  @Test(arguments: [nil, 150])
  func aMessageIsGoneByThePlaceThatWasSaidBefore(_ copied: Int64?) throws {
    let facts = [deletion(upTo: 100), acknowledgement("m", at: 50), copy("m", at: copied)]
    let seen = try outcomes(of: facts) { chat in
      try "\(chat.conversations(count: 9).map(\.id)) \(chat.thread("room").tail(9).map(\.id))"
    }
    #expect(seen == ["[] []"])
  }

  /// Also if messages behind the deletion go in another way.
  @Test func aDeletedConversationWithoutMessagesIsNotListed() throws {
    let acts = [copy("old", at: 20), copy("new", at: 200)]
    let list: ToldFact = {
      _ = try $0.reconcile([chatMessage("old", in: "room", at: 20)], in: "room", within: .all)
    }
    #expect(
      try outcomes(after: acts, of: [deletion(upTo: 100), list], see: look) == [
        "[] [] 0 waiting"
      ])
  }

  @Test func aMessageStaysByThePlaceThatWasSaidBefore() throws {
    let facts = [
      deletion(upTo: 100), acknowledgement("m", at: 150, revision: 1),
    ]
    let store = try TestClock().store()
    for fact in facts + [copy("m", at: 50)] { try store.write { try fact($0) } }
    #expect(try store.read(look) == "[room] [m] 0 waiting")
  }

  @Test func whatWaitsForARefusedMessageGoes() throws {
    let store = try TestClock().store()
    let facts: [ToldFact] = [
      deletion(upTo: 100),
      { _ = try $0.receive(Reaction("+", from: "bob", at: time(20)), to: "m", in: "room") },
      { _ = try $0.acknowledge("m", in: "room", serverTimestamp: time(20), as: "s") },
    ]
    for fact in facts { try store.write { try fact($0) } }
    #expect(try store.read { try $0.waitingFacts.waiting } == 1)
    #expect(try store.write { try $0.insert(chatMessage("s", in: "room", at: 20)) } == .deleted)
    #expect(try store.read(look) == "[] [] 0 waiting")
    // Nothing is left of its names.
    #expect(try store.write { try $0.insert(chatMessage("s", in: "room", at: 200)) } == .inserted)
    let message = try store.read { try $0.message("s", in: "room") }
    #expect(message?.id == "s" && message?.reactions == [])
    #expect(try store.read { try $0.message("m", in: "room") } == nil)
    try store.expectSound()
  }

  @Test func aConversationIsHiddenWhenItsLastMessageTurnsOutToBeDeleted() throws {
    let acts: [ToldFact] = [
      { chat in
        var told = ReceivedConversation("room", at: time(0))
        told.members = [.init("me"), .init("bob")]
        try chat.receive(told)
        _ = try chat.send(own("p"))
      }
    ]
    for told in [acknowledgement("p", at: 60), copy("p", at: 60)] {
      #expect(
        try outcomes(after: acts, of: [deletion(upTo: 80), told], see: look) == ["[] [] 0 waiting"])
    }
  }

  @Test func aDeletionShowsThatTheServerHasTheConversation() throws {
    let store = try TestClock().store()
    try store.write { chat in
      _ = try chat.createGroup("room", participants: ["bob"])
      _ = try chat.send(own("p"))
      try chat.receiveConversationDeletion("room", at: time(80))
    }
    #expect(try store.read { try $0.outbox.entries(count: 9).entries.map(\.message) } == ["p"])
  }

  @Test func knownSequencesStayInEitherOrder() throws {
    let facts = [copy("m1", at: 10, 1), copy("m2", at: 20, 5), deletion(upTo: 50)]
    let known = try outcomes(of: facts) { try $0.knownSequences(in: "room") }
    #expect(known == [[1...1, 5...5]])
  }

  @Test func knownSequencesStayWhenAMessageIsDeletedInTheConversationThatItGoesTo() throws {
    let acts: [ToldFact] = [
      { chat in
        _ = try chat.createGroup("made", participants: ["bob"])
        try chat.receive(ReceivedConversation("room", at: time(0)))
        var message = chatMessage("m", in: "made", at: 50)
        message.sequence = 3
        try chat.insert(message)
      }
    ]
    let facts: [ToldFact] = [
      deletion(upTo: 80), { _ = try $0.renameConversation("made", to: "room") },
    ]
    let known = try outcomes(after: acts, of: facts) { chat in
      let known = try chat.knownSequences(in: "room").map { "\($0.lowerBound)-\($0.upperBound)" }
      return try "\(known.joined()) \(chat.conversations(count: 9).map(\.id))"
    }
    #expect(known == ["3-3 []"])
  }
}
