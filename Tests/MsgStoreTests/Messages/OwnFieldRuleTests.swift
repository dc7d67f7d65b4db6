import MsgStore
import Testing

/// Of all that was received of a field one statement counts, which is said here once more.
struct OwnFieldRuleTests {
  private static let owners: [FieldOwner] = [
    .message("m", in: "room"), .message("later", in: "room"), .conversation("room"),
    .member("ann"),
  ]

  private struct Statement {
    let name: String
    let value: [UInt8]?
    let time: Int64?
    let isLocal: Bool

    init(_ random: inout SeededGenerator) {
      name = ["", "a", "b"].randomElement(using: &random) ?? ""
      let isShort = name.isEmpty || random.chance(60)
      let byteCount = isShort ? Int.random(in: 1...2, using: &random) : 257
      let byte = UInt8.random(in: 65...67, using: &random)
      value = random.chance(80) ? [UInt8](repeating: byte, count: byteCount) : nil
      time = random.chance(70) ? .random(in: 0...3, using: &random) : nil
      isLocal = !name.isEmpty && random.chance(30)
    }

    var told: OwnField {
      let at = time.map { Timestamp(microseconds: $0) }
      if name.isEmpty { return .kind(value.map { String(decoding: $0, as: UTF8.self) }, at: at) }
      return OwnField(name, value, at: at, isLocal: isLocal)
    }

    /// The times, from none on; then the values, from none on; then the shared one.
    func counts(before other: Statement) -> Bool {
      if time ?? -1 != other.time ?? -1 { return time ?? -1 > other.time ?? -1 }
      let (length, otherLength) = (value?.count ?? -1, other.value?.count ?? -1)
      if length != otherLength { return length > otherLength }
      // Of long values of one length their digests decide, which are not said again.
      if let value, let otherValue = other.value, value != otherValue, length <= 256 {
        return otherValue.lexicographicallyPrecedes(value)
      }
      return !isLocal && other.isLocal
    }
  }

  @Test(arguments: seeds(6, debugCount: 2), owners) func theStatementThatCountsIsKept(
    seed: UInt64, owner: FieldOwner
  ) throws {
    var random = SeededGenerator(seed: seed)
    let store = try memoryStore()
    try store.write { _ = try $0.insert(message("m", at: 1)) }
    var known: [String: [Statement]] = [:]
    for _ in 0..<60 {
      let statement = Statement(&random)
      // Long values of one length differ in their times.
      let isAmbiguous = known.values.joined().contains { other in
        other.value?.count == 257 && other.time == statement.time
      }
      if isAmbiguous, statement.value?.count == 257 { continue }
      known[statement.name, default: []].append(statement)
      try store.write { _ = try $0.receive([statement.told], of: owner) }
      if owner == .message("later", in: "room") { continue }
      try compare(store, owner, known)
    }
    try store.write { _ = try $0.insert(message("later", at: 2)) }
    try compare(store, owner, known)
    try store.expectSound()
  }

  @Test(arguments: [true, false]) func aLongValueThatWaitedIsMergedWithThatOfItsMessage(
    isLater: Bool
  ) throws {
    let (waited, own) = ([UInt8](repeating: 65, count: 300), [UInt8](repeating: 66, count: 400))
    let owner = FieldOwner.message("m", in: "room")
    let store = try memoryStore()
    try store.write { chat throws in
      try chat.receive([OwnField("a", waited, at: time(isLater ? 5 : 3))], of: owner)
      var copy = message("m", at: 1)
      copy.ownFields = [OwnField("a", own, at: time(4)), OwnField("b", own)]
      try chat.insert(copy)
    }
    let fields = try store.read { try $0.ownFields(of: owner) }
    #expect(fields.map(\.value) == [isLater ? waited : own, own])
    try store.expectSound()
  }

  private func compare(
    _ store: MessageStore, _ owner: FieldOwner, _ known: [String: [Statement]]
  ) throws {
    let counting = known.mapValues { all in
      all.reduce(all[0]) { $1.counts(before: $0) ? $1 : $0 }
    }
    let (fields, kind) = try store.read { (try $0.ownFields(of: owner), try $0.ownKind(of: owner)) }
    for name in ["a", "b"] {
      let field = fields.first { $0.name == name }
      let expected = counting[name].flatMap { $0.value == nil ? nil : $0 }
      #expect(field?.value == expected?.value, "\(name)")
      #expect(field?.time?.microseconds == expected?.time, "\(name)")
      #expect(field?.isLocal == expected?.isLocal, "\(name)")
    }
    let value = counting[""]?.value.map { String(decoding: $0, as: UTF8.self) }
    #expect(kind == value)
  }
}
