import MsgStore
import PageFile
import Testing

/// What is received of conversations ends in one state, whatever order it comes in.
struct ConversationMergeTests {
  private static let members: [MemberID] = ["ann", "bob", "cid", "me", "zoe"]

  private func fact(_ random: inout SeededGenerator) -> ReceivedConversation {
    let id: ConversationID = random.chance(70) ? "a" : "b"
    func time() -> Timestamp { Timestamp(microseconds: .random(in: 0..<6, using: &random)) }
    func text() -> ReceivedConversation.Text {
      random.chance(20) ? .removed : .text(["x", "y", "z"].randomElement(using: &random) ?? "")
    }
    var fact = ReceivedConversation(id, at: time())
    if random.chance(30) { fact.kind = random.chance(50) ? .direct : .group }
    if random.chance(30) { fact.title = text() }
    if random.chance(30) { fact.avatar = text() }
    if random.chance(30) { fact.createdBy = Self.members.randomElement(using: &random) }
    if random.chance(30) { fact.createdAt = time() }
    if random.chance(30) { fact.isPinned = random.chance(50) }
    if random.chance(30) {
      fact.isMuted = random.chance(60)
      let end = 2_000_000 + Int64.random(in: 0..<3, using: &random)
      if random.chance(60) { fact.mutedUntil = Timestamp(microseconds: end) }
    }
    if random.chance(30) { fact.isArchived = random.chance(50) }
    if random.chance(30) { fact.isMarkedUnread = random.chance(50) }
    if random.chance(20) {
      let reply: MessageID? = random.chance(50) ? "m" : nil
      fact.draft = Draft(text: random.chance(50) ? "d" : "", replyTo: reply, time: time())
    }
    if random.chance(60) {
      for member in Self.members where random.chance(40) {
        fact.members.append(
          .init(
            member, isActive: random.chance(70), joinedAt: random.chance(50) ? time() : nil))
      }
      fact.hasAllMembers = random.chance(30)
    }
    return fact
  }

  /// Everything that a snapshot says of two conversations.
  private func state(_ store: MessageStore) throws -> [String] {
    try store.read { chat in
      var lines: [String] = []
      for id in ["a", "b"] as [ConversationID] {
        guard let room = try chat.conversation(id) else { continue }
        lines.append(
          "\(id) \(room.kind) \(room.participants) \(room.participantCount)"
            + " \(room.isMember) \(String(describing: room.title))"
            + " \(String(describing: room.avatar)) \(String(describing: room.createdBy))"
            + " \(String(describing: room.createdAt)) \(room.isPinned) \(room.isMuted)"
            + " \(String(describing: room.mutedUntil))"
            + " \(room.isArchived) \(room.isMarkedUnread) \(String(describing: try chat.draft(of: id)))"
        )
        lines += try chat.participations(in: id).map { "\($0)" }
      }
      return lines
    }
  }

  @Test(arguments: seeds(6)) func receivedFactsMergeInAnyOrder(seed: UInt64) throws {
    var random = SeededGenerator(seed: seed)
    for _ in 0..<8 {
      let facts = (0..<Int.random(in: 1..<14, using: &random)).map { _ in fact(&random) }
      var expected: [String]?
      for _ in 0..<4 {
        // Numbers of members differ from store to store, and so do the commits.
        var order = facts.shuffled(using: &random)
        for _ in 0..<3 {
          guard let again = facts.randomElement(using: &random) else { continue }
          order.insert(again, at: .random(in: 0...order.count, using: &random))
        }
        let directory = MemoryDirectory()
        var store = try memoryStore(directory)
        var rest = order[...]
        while !rest.isEmpty {
          let count = min(rest.count, .random(in: 1..<5, using: &random))
          try store.write(.relaxed) { chat in
            for fact in rest.prefix(count) { try chat.receive(fact) }
          }
          rest = rest.dropFirst(count)
          if random.chance(10) {
            try store.close()
            store = try memoryStore(directory)
          }
        }
        try store.expectSound()
        // All of it once more changes nothing.
        var changeCount = 0
        let isCommit = try store.commits { chat in
          for fact in order where try chat.receive(fact) { changeCount += 1 }
        }
        #expect(changeCount == 0 && !isCommit)
        let found = try state(store)
        #expect(found == expected ?? found)
        expected = found
      }
    }
  }

  @Test func ofOneTimeLeavingBeatsJoiningAndTheGreaterTextTheLesser() throws {
    let store = try memoryStore()
    try store.write { chat in
      for (title, isActive) in [("b", false), ("a", true)] {
        try chat.receive(
          ReceivedConversation("a", at: time(7)) { a in
            a.title = .text(title)
            a.members = [.init("ann", isActive: isActive)]
          })
      }
      #expect(try chat.conversation("a")?.title == "b")
      #expect(try chat.formerMembers(of: "a") == ["ann"])
    }
  }

  @Test func aCompleteListIsAFactAboutThoseItLeavesOut() throws {
    let store = try memoryStore()
    try store.write { chat in
      try chat.receive(
        ReceivedConversation("a", at: time(7)) { a in
          a.members = [.init("ann"), .init("me")]
          a.hasAllMembers = true
        })
      // Told late: bob was in before.
      try chat.receive(ReceivedConversation("a", at: time(5)) { $0.members = [.init("bob")] })
      #expect(try chat.conversation("a")?.participants == ["ann", "me"])
      #expect(try chat.formerMembers(of: "a") == ["bob"])
      try chat.receive(ReceivedConversation("a", at: time(9)) { $0.members = [.init("bob")] })
      #expect(try chat.conversation("a")?.participantCount == 3)
    }
    try store.expectSound()
  }
}
