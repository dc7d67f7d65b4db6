import MsgStore
import MsgStoreTools
import PageFile
import PageFileSalvage
import Simulation
import Testing

/// The client's own fields of a conversation, and its kind.
struct ConversationFieldTests {
  private static let long = (0..<5_000).map { UInt8(truncatingIfNeeded: $0 &* 13) }

  private func fields(
    _ store: MessageStore, of id: ConversationID = "room"
  ) throws -> [OwnField] {
    try store.read { try $0.ownFields(of: .conversation(id)) }
  }

  @Test(arguments: seeds(3)) func theOrderOfStatementsMakesNoDifference(seed: UInt64) throws {
    var random = SeededGenerator(seed: seed)
    let statements = (0..<60).map { _ -> OwnField in
      let at: Timestamp? = random.chance(80) ? time(.random(in: 0...9, using: &random)) : nil
      if random.chance(20) { return .kind(random.chance(70) ? "call" : nil, at: at) }
      let byteCount = random.chance(50) ? 2 : random.chance(50) ? 300 : 301
      let value = random.chance(80) ? random.bytes(byteCount) : nil
      return OwnField(
        "f\(Int.random(in: 0..<20, using: &random))", value, at: at, isLocal: random.chance(20))
    }
    var known: [OwnField]?
    for _ in 0..<4 {
      let store = try memoryStore()
      for statement in statements.shuffled(using: &random) {
        try store.write { chat throws in
          try chat.receive([statement], of: .conversation("room"))
          #expect(try !chat.receive([statement], of: .conversation("room")))
        }
      }
      let found = try fields(store)
      #expect(found == known ?? found)
      known = found
      try store.expectSound()
    }
    #expect(known?.count ?? 0 > 3)
  }

  @Test func fieldsFollowTheirConversation() throws {
    let store = try memoryStore()
    try store.write { chat throws in
      try chat.putConversation("room", participants: ["me", "you"])
      try chat.putConversation("hall", participants: ["me", "you"])
      try chat.receive(
        [.kind("call", at: time(2)), OwnField("a", Self.long, at: time(2))],
        of: .conversation("room"))
      try chat.receive(
        [.kind("poll", at: time(1)), OwnField("a", [1], at: time(1)), OwnField("b", [2])],
        of: .conversation("hall"))
      try chat.setOwnField("c", [3], of: .conversation("room"))
      try chat.renameConversation("room", to: "hall")
    }
    for id: ConversationID in ["room", "hall"] {
      #expect(try fields(store, of: id).map(\.value) == [Self.long, [2], [3]])
    }
    #expect(try store.read { try $0.ownKind(of: .conversation("hall")) } == "call")
    #expect(try store.drain().contains("field c: \u{3}"))
    try store.expectSound()
    // They stay when messages go, as the title does.
    try store.write { chat in _ = try chat.deleteConversation("hall") }
    #expect(try fields(store).map(\.name) == ["a", "b", "c"])
    try store.expectSound()
  }

  @Test func aRemovedValueIsInNoneOfTheFiles() throws {
    let directory = MemoryDirectory()
    let store = try memoryStore(directory)
    let secret = Array("a value that must not stay".utf8)
    try store.write { chat in
      _ = try chat.receive([OwnField("a", secret)], of: .conversation("room"))
    }
    try store.write { chat in
      _ = try chat.receive([OwnField("a", nil, at: time(1))], of: .conversation("room"))
    }
    try store.checkpoint()
    for name in ["store", "store-wal0", "store-wal1"] {
      let bytes = directory[name] ?? []
      let isThere = bytes.indices.contains {
        bytes[$0] == secret[0] && bytes[$0...].starts(with: secret)
      }
      #expect(!isThere, "\(name)")
    }
    try store.expectSound()
  }

  @Test func changedFieldsAreTold() throws {
    let store = try memoryStore()
    try store.write { chat in _ = try chat.putConversation("room", participants: ["me", "you"]) }
    let changes = store.changes.makeAsyncIterator()
    var live = store.live(.conversation("room")) { chat in
      try chat.ownFields(of: .conversation("room")).count
    }
    .makeAsyncIterator()
    #expect(try live.nextIfThere() == 0)
    try store.write { chat in
      _ = try chat.receive([OwnField("a", Self.long)], of: .conversation("room"))
    }
    #expect(changes.nextIfThere()?.conversations["room"] != nil)
    #expect(try live.nextIfThere() == 1)
    try store.write { chat throws in
      #expect(try !chat.receive([OwnField("a", Self.long)], of: .conversation("room")))
    }
    #expect(changes.nextIfThere() == nil)
  }

  @Test func anExportAndASalvageHaveThem() throws {
    let directory = MemoryDirectory()
    let store = try memoryStore(directory)
    try store.write { chat throws in
      for index in 0..<20 {
        try chat.insert(chatMessage("m", in: ConversationID("c\(index)"), at: 1))
        try chat.receive(
          [.kind("call"), OwnField("a", Self.long), OwnField("b", nil, at: time(3))],
          of: .conversation(ConversationID("c\(index)")))
      }
      try chat.setOwnField("mine", [0xFF], of: .conversation("c3"), isLocal: true)
    }
    let lines = try store.lines()
    let restored = try MessageStore.restored(from: lines)
    #expect(try restored.lines() == lines)
    try restored.expectSound()
    try store.close()
    let report = try MessageSalvage(PageSalvage(in: directory, name: "store"))
      .run(in: directory, name: "new")
    #expect(report.lostRecordCount == 0)
    let saved = try MessageStore(in: directory, name: "new", options: StoreOptions())
    #expect(try saved.lines() == lines)
    #expect(try fields(saved, of: "c3").map(\.name) == ["a", "mine"])
    try saved.expectSound()
  }

  @Test func aMalformedRecordIsReported() throws {
    let bad: [[UInt8]] = [
      [], [2, 0], [1, 18], [1, 1, 0, 1, 0, 0], [1, 1, 0, 0, 0, 1, 0], [1, 0, 0],
    ]
    for value in bad { #expect(Bytes.with(value) { ConversationFields($0) } == nil, "\(value)") }
    let directory = MemoryDirectory()
    let store = try memoryStore(directory)
    try store.write { chat in
      _ = try chat.receive([OwnField("a", [1])], of: .conversation("room"))
    }
    try store.close()
    try directory.plant(in: "store") { source in
      let key = ConversationFields.key(1)
      try Bytes.with([1, 9]) { (bytes) throws(PageFileError) in
        _ = try BTree(source, Schema.conversations).insert(key.bytes, bytes)
      }
    }
    let damaged = try memoryStore(directory)
    #expect(throws: StoreError.self) { try fields(damaged) }
    let findings = try damaged.check().map(\.description)
    #expect(findings.count == 1 && findings[0].contains("malformed record"), "\(findings)")
  }
}
