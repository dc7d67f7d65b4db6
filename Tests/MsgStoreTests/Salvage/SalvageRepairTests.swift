import MsgStore
import MsgStoreTools
import PageFile
import PageFileSalvage
import Testing

/// What stands around messages is made up where it is lost, and says so.
struct SalvageRepairTests {
  private func sample() throws -> (SalvageSubject, StoreContent) {
    let directory = MemoryDirectory()
    let store = try MessageStore(
      in: directory, name: "store", options: StoreOptions(localMember: "me"))
    try store.write { chat in
      try chat.putConversation("club", participants: ["me", "bob", "eve"], title: "Book club")
      try chat.putConversation("empty", participants: ["me", "zoe"])
      for index in 1...20 {
        try chat.insert(
          Message(
            id: MessageID("m-\(index)"), in: "club", from: index % 2 == 0 ? "bob" : "me",
            text: "text \(index)", serverTimestamp: time(Int64(index) * 1000)))
      }
      try chat.markRead("club", upTo: try chat.message("m-12", in: "club")?.position)
      // Comes to lie below the mark, and is unread all the same.
      try chat.insert(
        Message(id: "late", in: "club", from: "bob", text: "late", serverTimestamp: time(3500)))
    }
    let content = try StoreContent(store)
    try store.close()
    return (try SalvageSubject(directory), content)
  }

  private func salvage(
    without trees: [Int], _ intact: SalvageSubject
  ) throws -> Salvaged {
    var random = SeededGenerator(seed: 1)
    var subject = intact
    subject.destroy(trees.flatMap { intact.slots(tree: $0) }, &random)
    return try subject.salvage()
  }

  @Test func whatIsUnreadStaysUnread() throws {
    let (intact, content) = try sample()
    #expect(content.conversations["club"]?.unreadCount == 5)
    let salvaged = try intact.salvage()
    #expect(salvaged.content.differences(from: content) == [])
    #expect(salvaged.saved.isWhole && salvaged.saved.messageCount == 21)
  }

  @Test func eachWayFromNumberToNameStandsInForTheOther() throws {
    let (intact, content) = try sample()
    for tree in [Schema.names, Schema.index].map(\.rawValue) {
      let salvaged = try salvage(without: [tree], intact)
      #expect(salvaged.content.differences(from: content) == [], "tree \(tree)")
      #expect(salvaged.saved.isWhole && !salvaged.pages.isWhole)
    }
  }

  @Test func lostNamesGetSubstitutes() throws {
    let (intact, _) = try sample()
    let salvaged = try salvage(
      without: [Schema.names.rawValue, Schema.index.rawValue], intact)
    #expect(salvaged.content.localMember == nil)
    #expect(salvaged.content.messages["m-2"]?.sender == "member 2 (name lost)")
    #expect(
      salvaged.content.conversations["club"]?.participants
        == ["member 1 (name lost)", "member 2 (name lost)", "member 3 (name lost)"])
    #expect(salvaged.saved.messageCount == 21)
    #expect(
      salvaged.saved.repairs == [
        "the local member is lost; open the store with it",
        "the names of 4 members are lost; they are called \"member N (name lost)\"",
      ])
  }

  @Test func lostConversationsAreMadeAnew() throws {
    let (intact, content) = try sample()
    let salvaged = try salvage(without: [2], intact)
    #expect(salvaged.content.order == content.order)
    #expect(salvaged.content.threads == content.threads)
    #expect(salvaged.content.conversations["club"]?.title == nil)
    #expect(salvaged.content.conversations["club"]?.unreadCount == 0)
    #expect(salvaged.saved.repairs.count == 4)
    let nameless = try salvage(without: [1, 2], intact)
    #expect(nameless.content.order == ["conversation 1 (name lost)"])
    #expect(nameless.saved.messageCount == 21)
  }

  @Test func theLocalMemberIsFoundWithoutTheSettings() throws {
    let (intact, content) = try sample()
    let salvaged = try salvage(without: [Schema.settings.rawValue], intact)
    #expect(salvaged.content.differences(from: content) == [])
    #expect(salvaged.saved.repairs == [])
  }

  @Test func missingMessagesAreCounted() throws {
    let (intact, _) = try sample()
    let salvaged = try salvage(without: [6], intact)
    #expect(salvaged.content.messages.isEmpty)
    let shortfall = try #require(salvaged.saved.shortfalls.first)
    #expect(shortfall.conversation == "club" && shortfall.statedCount == 21)
    #expect(shortfall.savedCount == 0)
  }

  @Test func messagesWithoutTheirFactsAreNamed() throws {
    let (intact, _) = try sampleWithFacts()
    let salvaged = try salvage(without: [9], intact)
    #expect(salvaged.saved.messageCount == 3 && salvaged.facts.isEmpty)
    #expect(salvaged.content.messages["m-1"]?.text == "new")
    #expect(salvaged.content.messages["m-1"]?.reactions == [])
    #expect(salvaged.saved.incompleteMessages.map(\.message) == ["m-1", "m-2"])
    #expect(
      salvaged.saved.incompleteMessages.map(\.kinds) == [[.version, .reaction], [.attachment]])
    #expect(!salvaged.saved.isWhole)
  }

  @Test func factsOfLostMessagesWaitForThem() throws {
    let (intact, content) = try sampleWithFacts()
    let salvaged = try salvage(without: [6], intact)
    #expect(salvaged.saved.messageCount == 0 && salvaged.saved.waitingCount == 2)
    #expect(salvaged.facts == intact.facts(without: []))
    let store = try MessageStore(in: salvaged.directory, name: "new")
    try store.write { chat in
      for index in 1...3 { try chat.insert(Self.message(index)) }
      // What was deleted stays away.
      try chat.insert(Self.message(4))
    }
    let again = try StoreContent(store)
    #expect(again.messages.count == 3)
    #expect(again.messages["m-1"]?.reactions == content.messages["m-1"]?.reactions)
    #expect(again.messages["m-2"]?.attachments == content.messages["m-2"]?.attachments)
    try store.expectSound()
    try store.close()
  }

  @Test func sequencesOfLostMessagesAreGaps() throws {
    let (intact, _) = try sampleWithFacts()
    for (trees, gap) in [([], nil), ([6], 1...9)] as [([Int], ClosedRange<Int64>?)] {
      let salvaged = try salvage(without: trees, intact)
      let store = try MessageStore(in: salvaged.directory, name: "new")
      try store.write { chat in
        for sequence in [0, 10] as [Int64] {
          try chat.insert(
            Message(
              id: MessageID("s-\(sequence)"), in: "club", from: "bob", text: "",
              serverTimestamp: time(sequence), sequence: sequence))
        }
        #expect(try chat.gaps(in: "club") == (gap.map { [$0] } ?? []))
      }
      try store.close()
    }
  }

  private static func message(_ index: Int) -> Message {
    Message(
      id: MessageID("m-\(index)"), in: "club", from: "bob", text: "text",
      serverTimestamp: Timestamp(microseconds: Int64(index)), sequence: Int64(index))
  }

  /// Three messages, one that was deleted, and nothing else up to sequence 9.
  private func sampleWithFacts() throws -> (SalvageSubject, StoreContent) {
    let directory = MemoryDirectory()
    let store = try MessageStore(
      in: directory, name: "store", options: StoreOptions(localMember: "me"))
    try store.write { chat in
      for index in 1...4 { try chat.insert(Self.message(index)) }
      try chat.receiveEdit(of: "m-1", in: "club", text: "new", at: time(100))
      try chat.receive(Reaction("+1", from: "eve", at: time(50)), to: "m-1", in: "club")
      try chat.receive(MessageAttachment(id: "a", kind: .image), of: "m-2", in: "club")
      try chat.delete("m-4", in: "club")
      try chat.declareAbsent(4...9, in: "club")
    }
    let content = try StoreContent(store)
    try store.close()
    return (try SalvageSubject(directory), content)
  }

  @Test func aStoreOfAnotherVersionIsRefused() throws {
    for (version, error) in [
      (7, StoreError.opening(.schemaTooNew(found: 7, supported: 6))),
      (5, StoreError.opening(.schemaTooOld(found: 5, supported: 6))),
    ] as [(UInt64, StoreError)] {
      let directory = try self.directory(version: version)
      #expect(throws: error) {
        try MessageSalvage(PageSalvage(in: directory, name: "store"))
          .run(in: MemoryDirectory(), name: "new")
      }
    }
  }

  private func directory(version: UInt64) throws -> MemoryDirectory {
    let directory = MemoryDirectory()
    let database = try Database(in: directory, name: "store")
    let transaction = try database.beginWrite()
    try transaction.source.enter()
    var key = ByteBuffer()
    key.append("schema version")
    var value = ByteBuffer()
    value.append(littleEndian: version)
    _ = try BTree(transaction.source, TreeNumber(0)).insert(key.bytes, value.bytes)
    transaction.source.leave()
    _ = try transaction.commit(.full)
    try database.close()
    return directory
  }
}
