import MsgStore
import MsgStoreTools
import PageFile
import Simulation
import Testing

/// The local member sets fields: local ones for themselves, shared ones through the outbox.
struct OwnFieldActTests {
  private static let long = (0..<3_000).map { UInt8(truncatingIfNeeded: $0 &* 11) }
  private static let post = FieldOwner.message("r", in: "room")
  private static let room = FieldOwner.conversation("room")
  private static let owners = [post, room, .member("ann")]
  private let clock = TestClock(9_000_000)

  private func filled(_ directory: MemoryDirectory = MemoryDirectory()) throws -> MessageStore {
    let store = try clock.outboxStore(directory)
    try store.write {
      try $0.putConversation("room", participants: ["me", "you", "ann"])
      try $0.insert(chatMessage("r", in: "room", at: 50))
    }
    return store
  }

  private func bytes(_ text: String) -> [UInt8] { Array(text.utf8) }

  private func field(
    _ store: MessageStore, _ owner: FieldOwner, _ name: String = "a"
  ) throws -> OwnField? {
    try store.read { try $0.ownFields(of: owner) }.first { $0.name == name }
  }

  private func told(_ item: OutboxItem) throws -> OwnField {
    guard case .setOwnField(let field, _) = item.task else {
      Issue.record("\(item.task)")
      return OwnField("", nil)
    }
    return field
  }

  @Test(arguments: owners) func aSharedFieldIsToldAndGetsTheServersTime(owner: FieldOwner) throws {
    let store = try filled()
    #expect(try store.write { try $0.setOwnField("a", Self.long, of: owner) })
    #expect(try !store.write { try $0.setOwnField("a", Self.long, of: owner) })
    let provisional = try #require(try field(store, owner)?.time)
    if owner != .member("ann") { #expect(provisional.microseconds > 50) }
    let item = try store.take()
    let told = try told(item)
    #expect(told.name == "a" && told.value == Self.long && told.time == provisional)
    if case .setOwnField(_, let other) = item.task { #expect(other == owner) }
    try store.done(item, serverTime: time(900))
    #expect(try field(store, owner)?.time == time(900))
    #expect(try field(store, owner)?.value == Self.long)
    #expect(try store.waiting == [])
    // A later statement of the server counts, an earlier one does not.
    try store.write { chat throws in
      #expect(try !chat.receive([OwnField("a", [7], at: time(899))], of: owner))
      #expect(try chat.receive([OwnField("a", [7], at: time(901))], of: owner))
    }
    #expect(try field(store, owner)?.value == [7])
    try store.expectSound()
  }

  @Test(arguments: owners) func theServersTimeTakesThePlaceOfAGreaterOne(
    owner: FieldOwner
  ) throws {
    let store = try filled()
    try store.write { chat throws in
      try chat.receive([OwnField("a", [0], at: time(5_000))], of: owner)
      try chat.setOwnField("a", [1], of: owner)
    }
    try store.done(try store.take(), serverTime: time(100))
    #expect(try field(store, owner)?.time == time(100))
    #expect(try field(store, owner)?.value == [1])
    try store.expectSound()
  }

  @Test(arguments: owners) func aLocalFieldIsNeverTold(owner: FieldOwner) throws {
    let store = try filled()
    try store.write { chat throws in
      #expect(try chat.setOwnField("a", Self.long, of: owner, isLocal: true))
    }
    #expect(try store.waiting == [])
    #expect(try field(store, owner)?.isLocal == true)
    // A field that becomes local takes its entry back.
    try store.write { chat throws in
      try chat.setOwnField("a", [1], of: owner)
      #expect(try chat.outbox.counts().total == 1)
      try chat.setOwnField("a", [1], of: owner, isLocal: true)
    }
    #expect(try store.waiting == [])
    // The answer to one that was on its way changes nothing of it.
    try store.write { chat in _ = try chat.setOwnField("a", [2], of: owner) }
    let item = try store.take()
    try store.write { chat in _ = try chat.setOwnField("a", [3], of: owner, isLocal: true) }
    try store.done(item, serverTime: time(7_000))
    #expect(try field(store, owner)?.value == [3])
    #expect(try field(store, owner)?.isLocal == true)
    try store.expectSound()
  }

  @Test(arguments: owners) func theNewestValueIsToldAloneUnderAnotherToken(
    owner: FieldOwner
  ) throws {
    let store = try filled()
    try store.write { chat throws in
      try chat.setOwnField("a", [1], of: owner)
      try chat.setOwnField("b", [9], of: owner)
      try chat.setOwnField("a", [2], of: owner)
    }
    #expect(try store.counts().total == 2)
    let first = try store.take()
    #expect(try told(first).value == [2])
    try store.fail(first)
    // The server may have the failed attempt, so the next value needs another token.
    try store.write { chat in _ = try chat.setOwnField("a", [3], of: owner) }
    #expect(try store.counts().total == 2)
    #expect(try !store.done(first, serverTime: time(300)))
    clock.advance(100)
    let second = try store.take()
    #expect(second.id == first.id && second.token != first.token)
    #expect(try told(second).value == [3])
    // One that is set while its entry runs is told behind it.
    try store.write { chat in _ = try chat.setOwnField("a", nil, of: owner) }
    try store.done(second, serverTime: time(4_000))
    #expect(try field(store, owner) == nil)
    let third = try store.take()
    #expect(try told(third).name == "b")
    try store.done(third)
    let last = try store.take()
    #expect(try told(last).isRemoved && told(last).name == "a")
    try store.done(last, serverTime: time(4_001))
    #expect(try store.waiting == [])
    #expect(try field(store, owner) == nil)
    try store.expectSound()
  }

  @Test(arguments: owners) func aValueOfTheServersLeavesNothingToTell(owner: FieldOwner) throws {
    let store = try filled()
    try store.write { chat throws in
      try chat.setOwnField("a", [1], of: owner)
      try chat.setOwnKind("mine", of: owner)
      try chat.receive([OwnField("a", [2], at: time(800))], of: owner)
    }
    let item = try store.take()
    #expect(try told(item).name == "" && told(item).text == "mine")
    try store.done(item)
    #expect(try store.next() == nil)
    #expect(try store.waiting == [])
    #expect(try store.read { try $0.ownKind(of: owner) } == "mine")
    #expect(try field(store, owner)?.value == [2])
    try store.expectSound()
  }

  @Test(arguments: owners) func aRefusedValueWaitsForADecision(owner: FieldOwner) throws {
    let store = try filled()
    try store.write { chat in _ = try chat.setOwnField("a", [1], of: owner) }
    try store.fail(try store.take(), .invalid)
    #expect(try store.counts().failed == 1)
    let entry = try #require(try store.entries().first)
    #expect(entry.text == "a" && entry.failure?.kind == .invalid)
    // Another value is told anew.
    try store.write { chat in _ = try chat.setOwnField("a", [2], of: owner) }
    #expect(try store.counts() == OutboxCounts(queued: 1))
    try store.fail(try store.take(), .invalid)
    let failed = try #require(try store.entries().first?.id)
    try store.write { try $0.outbox.remove(failed) }
    #expect(try store.waiting == [])
    #expect(try field(store, owner)?.value == [2])
    try store.expectSound()
  }

  @Test func aMessageThatCannotHaveLeftIsSentWithItsFields() throws {
    let store = try filled()
    let owner = FieldOwner.message("m", in: "room")
    try store.write { chat throws in
      var composed = own("m")
      composed.ownFields = [OwnField("a", [1]), OwnField("c", [3])]
      try chat.send(composed)
      try chat.setOwnField("a", [0], of: owner)
      try chat.setOwnField("b", Self.long, of: owner)
      try chat.setOwnField("c", nil, of: owner)
      try chat.setOwnKind("call", of: owner)
    }
    #expect(try store.counts().total == 1)
    let item = try store.take()
    guard case .send(let sent) = item.task else {
      Issue.record("\(item.task)")
      return
    }
    #expect(sent.ownKind == "call")
    #expect(sent.ownFields == [OwnField("a", [0]), OwnField("b", Self.long)])
    // From now on the server may have it.
    try store.write { chat in _ = try chat.setOwnField("a", [5], of: owner) }
    #expect(try store.waiting == ["send m running", "setMessageField m queued"])
    try store.write { chat throws in
      try chat.acknowledge("m", in: "room", serverTimestamp: time(90), sequence: 4, as: "s")
    }
    let field = try store.take()
    if case .setOwnField(_, let other) = field.task { #expect(other == owner) }
    #expect(field.serverName == "s")
    try store.done(field, serverTime: time(95))
    #expect(try self.field(store, owner) == OwnField("a", [5], at: time(95)))
    try store.expectSound()
  }

  @Test func aMessageThatIsRetractedTakesItsFieldsOutOfTheOutbox() throws {
    let store = try filled()
    try store.write { chat throws in
      try chat.insert(message("mine", at: 60, from: "me"))
      try chat.setOwnField("a", [1], of: .message("mine", in: "room"))
      try chat.retract("mine", in: "room")
    }
    #expect(throws: StoreError.message(.retracted, "mine", in: "room")) {
      try store.write { _ = try $0.setOwnField("b", [1], of: .message("mine", in: "room")) }
    }
    #expect(try store.waiting == ["setMessageField mine queued, blocked", "retract mine queued"])
    try store.done(try store.take(), serverTime: time(70))
    #expect(try store.waiting == [])
    try store.expectSound()
  }

  @Test(arguments: owners) func whatHasNoRoomIsRefused(owner: FieldOwner) throws {
    let store = try filled()
    func set(_ name: String, _ value: [UInt8]?) throws {
      try store.write { _ = try $0.setOwnField(name, value, of: owner) }
    }
    #expect(throws: StoreError.input(.ownFieldName(byteCount: 0, limit: 64))) { try set("", [1]) }
    for index in 10..<26 { try set("f\(index)", [1]) }
    #expect(throws: StoreError.input(.tooMany(.ownFields, count: 17, limit: 16))) {
      try set("g", [1])
    }
    try set("f10", [UInt8](repeating: 1, count: 40_000))
    #expect(throws: StoreError.self) { try set("f11", [UInt8](repeating: 2, count: 40_000)) }
    // There is always room for a removal.
    try set("f11", nil)
    try set("f10", nil)
    try store.expectSound()
  }

  @Test func onlyWhatIsHereCanHaveAField() throws {
    let store = try filled()
    func set(_ owner: FieldOwner, isLocal: Bool) throws {
      try store.write { _ = try $0.setOwnField("a", [1], of: owner, isLocal: isLocal) }
    }
    #expect(throws: StoreError.message(.notFound, "x", in: "room")) {
      try set(.message("x", in: "room"), isLocal: true)
    }
    #expect(throws: StoreError.conversation(.notFound, "none")) {
      try set(.conversation("none"), isLocal: true)
    }
    try store.write { _ = try $0.leave("room") }
    for owner in [Self.room, Self.post] {
      #expect(throws: StoreError.conversation(.notAMember, "room")) {
        try set(owner, isLocal: false)
      }
      try set(owner, isLocal: true)
    }
    try store.expectSound()
  }

  @Test func anEntryIsRestoredWithItsValue() throws {
    let store = try filled()
    try store.write { chat throws in
      for owner in Self.owners {
        try chat.setOwnField("a", Self.long, of: owner)
        try chat.setOwnKind("call", of: owner)
        try chat.setOwnField("mine", [1], of: owner, isLocal: true)
      }
    }
    let lines = try store.lines()
    let text = String(decoding: lines, as: UTF8.self)
    #expect(text.contains(#""task":"set message field","conversation":"room","message":"r","#))
    let restored = try MessageStore.restored(from: lines)
    try restored.expectSound()
    try restored.write { chat in _ = try chat.outbox.releaseAll() }
    let told = ["field a: -", "field : call"]
    #expect(try restored.drain() == told + told + told)
    // One whose value is not there any more has nothing to tell.
    let without = text.split(separator: "\n").map { String($0) }.map { line in
      line.contains(#""own_fields""#)
        ? line.replacing(#""name":"a""#, with: #""name":"z""#) : line
    }
    let rest = Array(without.joined(separator: "\n").utf8)
    #expect(throws: StoreToolError.self) { try MessageStore.restored(from: rest) }
    let other = try MessageStore.restored(from: rest, isLenient: true)
    #expect(try other.counts().total == 3)
  }
}
