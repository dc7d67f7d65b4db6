import MsgStore
import MsgStoreTools
import PageFile
import Testing

/// What waited to go out in a damaged store is saved where what it tells of is, and held.
struct OutboxSalvageTests {
  private static let count = 300

  /// Messages that wait in three conversations, and work of the client's own; half was handed out.
  private func sample() throws -> (SalvageSubject, [OutboxEntry]) {
    let directory = MemoryDirectory()
    let store = try TestClock(5_000_000).store(directory)
    for number in 0..<Self.count {
      try store.write(.relaxed) { chat in
        let room = ConversationID("room-\(number % 3)")
        try chat.insert(
          Message(
            id: MessageID("m-\(number)"), in: room, from: "you", text: "something",
            serverTimestamp: time(Int64(number))))
        try chat.send(Message(id: MessageID("p-\(number)"), in: room, from: "me", text: "waits"))
        if number % 3 == 0 { try chat.react("👍", to: MessageID("m-\(number)"), in: room) }
        if number % 5 == 0 { try chat.outbox.enter("work", payload: [UInt8(number & 255)]) }
      }
    }
    try store.write { chat in
      try chat.markRead("room-1")
      for _ in 0..<3 { _ = try chat.outbox.next(for: "worker") }
      try chat.outbox.setHoldsNewEntries(true)
    }
    let entries = try store.read { try $0.outbox.entries(count: 10_000).entries }
    try store.close()
    return (try SalvageSubject(directory), entries)
  }

  private func entries(_ salvaged: Salvaged) throws -> [OutboxEntry] {
    let store = try MessageStore(in: salvaged.directory, name: "new")
    defer { withExtendedLifetime(store) {} }
    #expect(try store.read { try $0.outbox.holdsNewEntries } || !salvaged.saved.isWhole)
    return try store.read { try $0.outbox.entries(count: 10_000).entries }
  }

  @Test func allIsSavedOfAnUndamagedStore() throws {
    let (subject, entries) = try sample()
    let salvaged = try subject.salvage()
    #expect(salvaged.saved.isWhole && salvaged.saved.entryCount == entries.count)
    let saved = try self.entries(salvaged)
    #expect(saved.map(\.token) == entries.map(\.token))
    #expect(saved.map(\.kind) == entries.map(\.kind))
    #expect(saved.map(\.attemptCount) == entries.map(\.attemptCount))
    #expect(saved.allSatisfy { $0.state == .held })
  }

  /// Messages whose entries are lost get others: they would never be sent.
  @Test func whatIsLostIsCountedAndEveryMessageIsEntered() throws {
    let (intact, entries) = try sample()
    let seed = seeds(1)[0]
    var random = SeededGenerator(seed: seed)
    let leaves = intact.slots(tree: Schema.work.rawValue)
    try #require(leaves.count > 4)
    for slot in leaves {
      var subject = intact
      subject.destroy([slot], &random)
      let salvaged = try subject.salvage()
      let saved = try self.entries(salvaged)
      let tokens = Set(entries.map(\.token))
      let sameCount = saved.count { tokens.contains($0.token) }
      #expect(salvaged.saved.entryCount == sameCount, "seed \(seed)")
      #expect(
        salvaged.saved.lostEntryCount == entries.count - sameCount
          || salvaged.saved.repairs.contains("the outbox entry count is lost"), "seed \(seed)")
      #expect(saved.allSatisfy { $0.state == .held })
      if sameCount < entries.count {
        #expect(saved.count { $0.kind == .send } == Self.count)
        #expect(!salvaged.saved.isWhole)
      }
    }
  }

  /// An entry goes with the message that it tells of.
  @Test func whatTellsOfALostMessageIsLost() throws {
    let (intact, entries) = try sample()
    var random = SeededGenerator(seed: seeds(1)[0])
    let slot = try #require(
      intact.slots(tree: SalvageSubject.messagesTree).randomElement(using: &random))
    var subject = intact
    subject.destroy([slot], &random)
    let salvaged = try subject.salvage()
    let left = intact.messages(without: [slot])
    let expected = entries.filter { $0.message.map { left.contains($0) } ?? true }
    #expect(salvaged.saved.entryCount == expected.count)
    #expect(salvaged.saved.lostEntryCount == entries.count - expected.count)
    #expect(try self.entries(salvaged).map(\.token) == expected.map(\.token))
  }
}
