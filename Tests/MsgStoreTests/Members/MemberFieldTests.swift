import MsgStore
import MsgStoreTools
import PageFile
import PageFileSalvage
import Simulation
import Testing

/// The client's own fields of a member lie beside the profile, and go when the member is forgotten.
struct MemberFieldTests {
  private static let long = (0..<4_000).map { UInt8(truncatingIfNeeded: $0 &* 17) }
  private static let ann = FieldOwner.member("ann")

  private func fields(
    _ store: MessageStore, of id: MemberID = "ann"
  ) throws -> [OwnField] {
    try store.read { try $0.ownFields(of: .member(id)) }
  }

  @Test func fieldsNeedNoProfile() throws {
    let store = try memoryStore()
    try store.write { chat throws in
      #expect(try chat.receive([.kind("bot"), OwnField("a", Self.long)], of: Self.ann))
      #expect(try !chat.receive([OwnField("a", Self.long)], of: Self.ann))
    }
    #expect(try fields(store).map(\.value) == [Self.long])
    #expect(try fields(store, of: "bob").isEmpty)
    try store.read { chat throws in
      #expect(try chat.ownKind(of: Self.ann) == "bot")
      #expect(try chat.profile(of: "ann") == nil && chat.profiles().isEmpty)
    }
    try store.write { chat in
      _ = try chat.receive(MemberProfile(of: "ann", name: "Ann", version: 3))
    }
    #expect(try store.read { try $0.profiles().map(\.name) } == ["Ann"])
    #expect(try fields(store).map(\.value) == [Self.long])
    try store.expectSound()
  }

  @Test(arguments: [true, false]) func aForgottenMemberHasNoValueInAnyFile(
    hasProfile: Bool
  ) throws {
    let directory = MemoryDirectory()
    let store = try memoryStore(directory)
    let canary = Array("Kanarienvogel".utf8)
    let told = [
      OwnField("a", canary), OwnField("b", canary + Self.long, at: time(5)),
      OwnField("c", canary, at: time(6), isLocal: true), .kind("Kanarienvogel"),
    ]
    try store.write { chat throws in
      try chat.receive(told, of: Self.ann)
      // A profile or an entry that goes erases the bytes of all that goes with it.
      if hasProfile {
        try chat.receive(MemberProfile(of: "ann", name: "Ann", version: 1))
        try chat.setOwnField("d", canary, of: Self.ann)
      }
    }
    try store.checkpoint()
    #expect(directory.holds(canary))
    try store.write { chat throws in
      #expect(try chat.forgetMember("ann"))
      #expect(try !chat.forgetMember("ann"))
      // The same statements do not come back.
      #expect(try !chat.receive(told, of: Self.ann))
    }
    try store.checkpoint()
    #expect(!directory.holds(canary))
    #expect(try fields(store).isEmpty)
    #expect(try store.waiting == [])
    // Later ones do.
    try store.write { chat in
      _ = try chat.receive([OwnField("a", [1], at: time(10))], of: Self.ann)
    }
    #expect(try fields(store).map(\.value) == [[1]])
    try store.expectSound()
  }

  @Test func changedFieldsAreTold() throws {
    let store = try memoryStore()
    let changes = store.changes.makeAsyncIterator()
    var counts = store.live(.profiles) { chat in try chat.ownFields(of: Self.ann).count }
      .makeAsyncIterator()
    #expect(try counts.nextIfThere() == 0)
    try store.write { chat in _ = try chat.receive([OwnField("a", [1])], of: Self.ann) }
    #expect(changes.nextIfThere()?.profiles == ["ann"])
    #expect(try counts.nextIfThere() == 1)
    try store.write { chat in _ = try chat.forgetMember("ann") }
    #expect(changes.nextIfThere()?.profiles == ["ann"])
    #expect(try counts.nextIfThere() == 0)
  }

  @Test func anExportAndASalvageHaveThem() throws {
    let directory = MemoryDirectory()
    let store = try memoryStore(directory)
    try store.write { chat throws in
      for index in 0..<20 {
        let id = MemberID("m\(index)")
        if index % 2 == 0 { try chat.receive(MemberProfile(of: id, name: "N\(index)")) }
        try chat.receive(
          [.kind("bot"), OwnField("a", Self.long), OwnField("b", nil, at: time(3))],
          of: .member(id))
      }
      try chat.setOwnField("mine", [0xFF], of: .member("m3"), isLocal: true)
      try chat.setOwnField("told", [1], of: .member("m4"))
      try chat.forgetMember("m5")
    }
    try store.holdOutbox()
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
    #expect(try fields(saved, of: "m3").map(\.name) == ["a", "mine"])
    try saved.expectSound()
  }

  @Test func aMalformedRecordIsReported() throws {
    let directory = MemoryDirectory()
    let store = try memoryStore(directory)
    try store.write { chat in _ = try chat.receive([OwnField("a", [1])], of: Self.ann) }
    try store.close()
    try directory.plant(in: "store") { source in
      var cursor = Cursor(source, Schema.directory)
      let isThere = try cursor.first()
      #expect(isThere)
      var key = ByteBuffer()
      cursor.appendKey(to: &key)
      try Bytes.with([1, 9]) { (bytes) throws(PageFileError) in
        _ = try BTree(source, Schema.directory).insert(key.bytes, bytes)
      }
    }
    let damaged = try memoryStore(directory)
    #expect(throws: StoreError.self) { try fields(damaged) }
    let findings = try damaged.check().map(\.description)
    #expect(findings.count == 1 && findings[0].contains("malformed record"), "\(findings)")
  }
}
