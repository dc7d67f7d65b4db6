import MsgStore
import MsgStoreTools
import PageFile
import PageFileSalvage
import Simulation
import Testing

/// The client's own fields of messages: short ones in slices, long ones beside their messages.
struct OwnFieldTests {
  private static let long = (0..<5_000).map { UInt8(truncatingIfNeeded: $0 &* 7) }

  private func bytes(_ text: String) -> [UInt8] { Array(text.utf8) }

  private func fields(
    _ store: MessageStore, of id: MessageID = "m"
  ) throws -> [OwnField] {
    try store.read { try $0.ownFields(of: .message(id, in: "room")) }
  }

  /// A message with a kind, a short field, a long one, and a local one.
  private func full(_ id: MessageID = "m", at time: Int64 = 5) -> Message {
    var full = message(id, at: time)
    full.ownKind = "call"
    full.ownFields = [
      OwnField("seconds", bytes("93")), OwnField("wave", Self.long),
      OwnField("mine", [0xFF, 0], at: Timestamp(microseconds: 9), isLocal: true),
    ]
    return full
  }

  @Test(arguments: [true, false]) func aSliceHasShortFieldsAndTheLengthOfLongOnes(
    isPacked: Bool
  ) throws {
    let store = try memoryStore(
      packing: isPacked ? PackingSizes(looseCount: 0, maximumSegmentByteCount: .max) : .usual)
    try store.write { chat throws in
      let all = (0..<40).map { index in
        let id = MessageID("m\(index)")
        return index % 3 == 0 ? full(id, at: Int64(index)) : message(id, at: Int64(index))
      }
      _ = try chat.insert(contentsOf: all)
    }
    if isPacked { try store.compact() }
    let slice = try store.read { try $0.thread("room").tail(40) }
    #expect(slice.count == 40)
    for (index, read) in slice.enumerated() {
      let one = try #require(try store.message(read.id))
      #expect(one == read)
      guard index % 3 == 0 else {
        #expect(read.ownKind == nil && read.ownFields.isEmpty)
        continue
      }
      #expect(read.ownKind == "call" && read.ownFields.map(\.name) == ["mine", "seconds", "wave"])
      #expect(read.ownField("seconds")?.text == "93" && read.ownField("seconds")?.time == nil)
      #expect(read.ownField("mine")?.isLocal == true && read.ownField("mine")?.value == [0xFF, 0])
      let wave = try #require(read.ownField("wave"))
      #expect(wave.isOmitted && wave.value == nil && wave.byteCount == Self.long.count)
      let whole = try fields(store, of: read.id)
      #expect(whole.first { $0.name == "wave" }?.value == Self.long)
    }
    // A message that was read can be inserted again.
    try store.write { chat throws in
      #expect(try chat.insert(slice[0]) == .duplicate)
    }
    #expect(try fields(store, of: "m0").contains { $0.value == Self.long })
    try store.expectSound()
  }

  @Test func fieldsThatComeBeforeTheirMessageWait() throws {
    let store = try memoryStore()
    try store.write { chat throws in
      #expect(
        try chat.receive(
          [.kind("call"), OwnField("wave", Self.long), OwnField("a", [1])],
          of: .message("m", in: "room")))
      #expect(try !chat.receive([OwnField("a", [1])], of: .message("m", in: "room")))
    }
    try store.expectSound()
    try store.write { chat in _ = try chat.insert(message("m", at: 5)) }
    #expect(try store.message("m")?.ownKind == "call")
    #expect(try fields(store).map(\.value) == [[1], Self.long])
    try store.expectSound()
  }

  /// The value that counts, by the sentences in the documentation of `OwnField`.
  private func newest(_ fields: [OwnField]) -> OwnField? {
    fields.max { a, b in
      func numbers(_ field: OwnField) -> [Int64] {
        [
          field.time == nil ? 0 : 1, field.time?.microseconds ?? 0, field.value == nil ? 0 : 1,
          Int64(field.value?.count ?? 0),
        ]
      }
      if numbers(a) != numbers(b) { return numbers(a).lexicographicallyPrecedes(numbers(b)) }
      // Those of the test have equal bytes, and long ones of one length are equal.
      let (mine, theirs) = (a.value ?? [], b.value ?? [])
      if mine != theirs { return mine.lexicographicallyPrecedes(theirs) }
      return a.isLocal && !b.isLocal
    }
  }

  @Test(arguments: seeds(3)) func theOrderOfStatementsMakesNoDifference(seed: UInt64) throws {
    var random = SeededGenerator(seed: seed)
    for _ in 0..<Scale.count(debug: 6, release: 30) {
      let told = (0..<Int.random(in: 1..<12, using: &random)).map { _ in
        let byte = UInt8.random(in: 0..<3, using: &random)
        let isLong = random.chance(40)
        return OwnField(
          "f\(Int.random(in: 0..<3, using: &random))",
          random.chance(80)
            ? [UInt8](repeating: isLong ? 1 : byte, count: isLong ? 257 + Int(byte) : 2) : nil,
          at: random.chance(70) ? time(.random(in: 0..<4, using: &random)) : nil,
          isLocal: random.chance(30))
      }
      let expected = Dictionary(grouping: told, by: \.name).values.compactMap(newest)
        .filter { $0.value != nil }.sorted { $0.name < $1.name }
      for _ in 0..<3 {
        let store = try memoryStore(packing: .random(random.next()))
        var order = told.shuffled(using: &random) + told.filter { _ in random.chance(30) }
        order.insert(told[0], at: 0)
        let moment = Int.random(in: 0...order.count, using: &random)
        try store.write { chat throws in
          for (index, field) in order.enumerated() {
            if index == moment { try chat.insert(message("m", at: 5)) }
            try chat.receive([field], of: .message("m", in: "room"))
          }
          if moment == order.count { try chat.insert(message("m", at: 5)) }
        }
        #expect(try fields(store) == expected, "seed \(seed)")
        try store.expectSound()
      }
    }
  }

  @Test func ofTooManyNamesTheLeastStay() throws {
    let names = (10..<40).map { "f\($0)" }
    for order in [names, names.reversed()] {
      let store = try memoryStore()
      try store.write { chat throws in
        try chat.insert(message("m", at: 5))
        for name in order {
          try chat.receive([OwnField(name, Self.long)], of: .message("m", in: "room"))
        }
      }
      #expect(try fields(store).map(\.name) == Array(names.prefix(OwnField.maximumCount)))
      try store.expectSound()
    }
  }

  @Test func whatIsBeyondALimitIsRefused() throws {
    let store = try memoryStore()
    let owner = FieldOwner.message("m", in: "room")
    func expect(_ fault: InputFault, _ fields: [OwnField]) throws {
      #expect(throws: StoreError.input(fault)) {
        try store.write { try $0.receive(fields, of: owner) }
      }
      if case .ownKind = fault { return }
      var refused = message("m", at: 5)
      refused.ownFields = fields
      #expect(throws: StoreError.input(fault)) { try store.write { try $0.insert(refused) } }
    }
    try expect(.ownFieldName(byteCount: 0, limit: 64), [OwnField("", [1])])
    try expect(
      .ownFieldName(byteCount: 65, limit: 64), [OwnField(String(repeating: "n", count: 65), [1])])
    try expect(.ownKind(byteCount: 0, limit: 64), [.kind("")])
    try expect(.ownKind(byteCount: 65, limit: 64), [.kind(String(repeating: "k", count: 65))])
    try expect(
      .tooMany(.ownFields, count: 17, limit: 16), (0..<17).map { OwnField("f\($0)", [1]) })
    let half = [UInt8](repeating: 1, count: 32_768)
    try expect(
      .tooLong(.ownFields, byteCount: 65_538, limit: 65_536),
      [OwnField("a", half), OwnField("b", half)])
    #expect(
      "\(InputFault.ownFieldName(byteCount: 65, limit: 64))"
        == "the name of an own field has 65 bytes; the limit is 64")
    let whole = [UInt8](repeating: 1, count: 65_535)
    try store.write { chat throws in
      try chat.insert(message("m", at: 5))
      try chat.receive([OwnField("a", whole)], of: owner)
    }
    #expect(try fields(store).first?.value == whole)
    try store.expectSound()
  }

  @Test(arguments: ["removed", "retracted", "deleted", "retracted before it came"])
  func erasedFieldsAreInNoneOfTheFiles(end: String) throws {
    let canary = bytes("Kanarienvogel")
    let directory = MemoryDirectory()
    let store = try memoryStore(directory)
    let owner = FieldOwner.message("m", in: "room")
    let kind: OwnField = .kind("Kanarienvogel")
    let told = [
      kind, OwnField("a", canary),
      OwnField("b", canary + [UInt8](repeating: 1, count: 9_000)), OwnField("c", canary),
    ]
    try store.write { chat throws in
      for index in 0..<60 { try chat.insert(message(MessageID("n\(index)"), at: Int64(index))) }
      if !end.hasSuffix("came") { try chat.insert(message("m", at: 70)) }
      try chat.receive(told, of: owner)
    }
    try store.checkpoint()
    #expect(directory.holds(canary))
    try store.write { chat throws in
      switch end {
      case "removed":
        try chat.receive(
          [.kind(nil, at: time(1))] + ["a", "b", "c"].map { OwnField($0, nil, at: time(1)) },
          of: owner)
      case "deleted": #expect(try chat.delete("m", in: "room"))
      default: #expect(try chat.receiveRetraction(of: "m", in: "room"))
      }
      if end != "removed" { #expect(try !chat.receive(told, of: owner)) }
    }
    try store.checkpoint()
    #expect(!directory.holds(canary), "\(end)")
    #expect(try fields(store).isEmpty)
    try store.expectSound()
  }

  @Test func fieldsFollowTheirMessage() throws {
    let store = try memoryStore()
    try store.write { chat throws in
      var composed = own("c")
      composed.ownFields = [OwnField("a", [1]), OwnField("wave", Self.long)]
      try chat.send(composed)
      try chat.receive([OwnField("b", Self.long)], of: .message("s", in: "room"))
      try chat.acknowledge("c", in: "room", serverTimestamp: time(90), sequence: 4, as: "s")
    }
    #expect(try fields(store, of: "s").map(\.name) == ["a", "b", "wave"])
    try store.expectSound()
    try store.write { chat throws in
      var other = message("c", at: 90)
      other.conversation = "hall"
      other.ownFields = [OwnField("wave", [9], at: time(1)), OwnField("z", Self.long)]
      try chat.insert(other)
      try chat.renameConversation("room", to: "hall")
      for _ in 0..<5 { try chat.doWork() }
    }
    let moved = try store.read { try $0.ownFields(of: .message("c", in: "hall")) }
    #expect(moved.map(\.name) == ["a", "b", "wave", "z"])
    #expect(moved.map(\.value) == [[1], Self.long, [9], Self.long])
    try store.expectSound()
  }

  @Test func aMessageIsToldWithTheFieldsThatAreShared() throws {
    let store = try memoryStore()
    try store.write { chat throws in
      var composed = own("c")
      composed.ownKind = "poll"
      composed.ownFields = [
        OwnField("a", Self.long), OwnField("mine", [1], isLocal: true),
      ]
      try chat.send(composed)
      let item = try #require(try chat.outbox.next(for: "worker"))
      guard case .send(let told) = item.task else {
        Issue.record("\(item.task)")
        return
      }
      #expect(told.ownKind == "poll" && told.ownFields == [OwnField("a", Self.long)])
    }
  }

  @Test func changedFieldsAreTold() throws {
    let store = try memoryStore()
    try store.write { chat in _ = try chat.insert(message("m", at: 5)) }
    let changes = store.changes.makeAsyncIterator()
    try store.write { chat throws in
      try chat.receive([OwnField("a", Self.long)], of: .message("m", in: "room"))
    }
    let told = try #require(changes.nextIfThere())
    #expect(told.conversations["room"]?.messages["m"]?.parts == .ownFields)
    try store.write { chat throws in
      #expect(try !chat.receive([OwnField("a", Self.long)], of: .message("m", in: "room")))
    }
    #expect(changes.nextIfThere() == nil)
  }

  @Test func anExportAndASalvageHaveAllFields() throws {
    let directory = MemoryDirectory()
    let store = try memoryStore(directory)
    try store.write { chat throws in
      for index in 0..<100 { try chat.insert(full(MessageID("m\(index)"), at: Int64(index))) }
      try chat.receive(
        [.kind(nil, at: time(3)), OwnField("seconds", nil, at: time(3))],
        of: .message("m7", in: "room"))
      try chat.receive(
        [.kind("late", at: time(3)), OwnField("wave", Self.long)], of: .message("w", in: "room"))
    }
    let lines = try store.lines()
    let text = String(decoding: lines, as: UTF8.self)
    #expect(
      text.contains(
        #""own_fields":[{"text":"call"},{"name":"mine","value":"ff00","time_ms":0.009,"#
          + #""local":true},{"name":"seconds","text":"93"},{"name":"wave","value":"00070e"#))
    let restored = try MessageStore.restored(from: lines)
    #expect(try restored.lines() == lines)
    try restored.expectSound()
    try store.close()
    let report = try MessageSalvage(PageSalvage(in: directory, name: "store"))
      .run(in: directory, name: "new")
    #expect(report.lostRecordCount == 0)
    let saved = try MessageStore(in: directory, name: "new", options: StoreOptions())
    #expect(try saved.lines() == lines)
    try saved.expectSound()
  }

  @Test func aFieldWithBothATextAndAValueIsRefused() throws {
    let line =
      #"{"conversation":"c","id":"m","sender":"s","text":"","timestamp_ms":1,"#
      + #""own_fields":[{"name":"a","text":"x","value":"00"}]}"#
    #expect(throws: StoreToolError.self) { try MessageStore.restored(from: Array(line.utf8)) }
  }

  @Test func aCheckReportsLongFieldsThatDiffer() throws {
    for isMissing in [true, false] {
      let directory = MemoryDirectory()
      let store = try memoryStore(directory)
      try store.write { chat in _ = try chat.insert(full()) }
      try store.close()
      try directory.plant(in: "store") { source in
        let key = FactKey.key(1, "m", ownField: Array("wave".utf8))
        let tree = BTree(source, Schema.facts)
        if isMissing {
          _ = try tree.remove(key.bytes)
        } else {
          var value: [UInt8] = [1, 0]
          value += [UInt8](repeating: 3, count: Self.long.count)
          try Bytes.with(value) { (bytes) throws(PageFileError) in
            _ = try tree.insert(key.bytes, bytes)
          }
        }
      }
      let damaged = try memoryStore(directory)
      let findings = try damaged.check().map(\.description)
      #expect(findings.count == 1 && findings[0].contains("own field \"wave\""), "\(findings)")
      #expect(throws: StoreError.self) { try fields(damaged) }
    }
  }
}
