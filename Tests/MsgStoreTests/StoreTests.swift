import MsgStore
import MsgStoreTools
import PageFile
import Testing

/// Opening, transactions, limits, and the check.
struct StoreTests {
  private struct OwnError: Error, Equatable {}

  @Test func aFailedWriteLeavesNothing() throws {
    let store = try memoryStore()
    try store.write { try $0.insert(message("m1", at: 1)) }
    #expect(throws: OwnError()) {
      try store.write { chat in
        try chat.insert(Message(in: "new room", from: "new member", text: "x"))
        try chat.insert(message("m2", at: 2))
        try chat.delete("m1", in: "room")
        throw OwnError()
      }
    }
    #expect(throws: OwnError()) { try store.read { _ in throw OwnError() } }
    // Numbers given in the lost transaction are given again, to others.
    try store.write { chat in
      try chat.insert(Message(id: "x", in: "another", from: "somebody", text: "y"))
    }
    try store.read { (chat) throws in
      #expect(try chat.thread("room").tail(9).ids == ["m1"])
      #expect(try chat.thread("another").tail(1).first?.sender == "somebody")
      #expect(try chat.conversations(count: 9).count == 2)
    }
    try store.write { _ in }
    try store.expectSound()
  }

  @Test func whatIsRefusedChangesNothingAndTheRestStays() throws {
    let store = try memoryStore()
    try store.write { chat in
      try chat.insert(message("m1", at: 1))
      #expect(throws: StoreError.input(.identifier(what: "message id", byteCount: 0))) {
        try chat.insert(message("", at: 1))
      }
      let long = String(repeating: "é", count: 128)
      #expect(throws: StoreError.input(.identifier(what: "message id", byteCount: 256))) {
        try chat.insert(message(MessageID(long), at: 1))
      }
      #expect(throws: StoreError.input(.identifier(what: "conversation id", byteCount: 256))) {
        try chat.insert(Message(in: ConversationID(long), from: "a", text: ""))
      }
      #expect(throws: StoreError.input(.identifier(what: "member id", byteCount: 0))) {
        try chat.insert(Message(in: "room", from: "", text: ""))
      }
      #expect(throws: StoreError.input(.identifier(what: "message id", byteCount: 256))) {
        try chat.insert(Message(in: "room", from: "a", text: "", replyTo: MessageID(long)))
      }
      let text = String(repeating: "x", count: 1 << 20)
      #expect(throws: StoreError.input(.tooLong(.text, byteCount: 1 << 20 + 1, limit: 1 << 20))) {
        try chat.insert(message("m2", at: 2, text: text + "x"))
      }
      try chat.insert(message("m3", at: 3, text: text))
      #expect(throws: StoreError.input(.tooLong(.title, byteCount: 65537, limit: 65536))) {
        let title = String(repeating: "x", count: 65537)
        try chat.putConversation("room", participants: [], title: title)
      }
      let crowd = (0...10_000).map { MemberID("member \($0)") }
      #expect(throws: StoreError.input(.tooMany(.participants, count: 10_001, limit: 10_000))) {
        try chat.putConversation("room", participants: crowd)
      }
      #expect(throws: StoreError.input(.tooMany(.participants, count: 10_001, limit: 10_000))) {
        try chat.findOrCreateConversation(with: crowd.dropLast())
      }
      #expect(throws: StoreError.input(.identifier(what: "member id", byteCount: 0))) {
        try chat.findOrCreateConversation(with: ["ann", ""])
      }
      let edge = String(repeating: "a", count: 255)
      try chat.insert(
        Message(
          id: MessageID(edge), in: ConversationID(edge), from: MemberID(edge), text: "",
          replyTo: MessageID(edge)))
    }
    try store.read { chat in
      #expect(try chat.thread("room").tail(9).ids == ["m1", "m3"])
      let edge = String(repeating: "a", count: 255)
      let message = try chat.message(MessageID(edge), in: ConversationID(edge))
      #expect(message?.replyTo == MessageID(edge) && message?.sender == MemberID(edge))
      #expect(try chat.message(MessageID(edge + "a"), in: ConversationID(edge)) == nil)
      #expect(try chat.conversation(ConversationID(edge + "a")) == nil)
      #expect(try chat.conversation("") == nil)
    }
    try store.expectSound()
    #expect(throws: StoreError.input(.identifier(what: "member id", byteCount: 0))) {
      try memoryStore(localMember: "")
    }
    let nobody = try memoryStore(localMember: nil)
    #expect(throws: StoreError.input(.noParticipants)) {
      try nobody.write { try $0.findOrCreateConversation(with: []) }
    }
  }

  @Test func everyErrorHasASentence() {
    let errors: [StoreError] = [
      .storage(.diskFull), .opening(.notAMessageStore(path: "x")),
      .opening(.schemaTooNew(found: 3, supported: 2)),
      .opening(.schemaTooOld(found: 1, supported: 2)),
      .opening(.localMemberDiffers(stored: "a", given: "b")),
      .input(.identifier(what: "message id", byteCount: 0)),
      .input(.identifier(what: "message id", byteCount: 300)),
      .input(.tooLong(.text, byteCount: 2, limit: 1)),
      .input(.tooLong(.title, byteCount: 2, limit: 1)),
      .input(.tooLong(.syncPosition, byteCount: 2, limit: 1)),
      .input(.tooMany(.participants, count: 2, limit: 1)), .input(.noParticipants),
      .input(.count(0)), .input(.outOfRange(.retentionDays, 0, allowed: 1...9)),
      .message(.notFound, "m", in: "room"), .corruptRecord(tree: "ids", reason: "none"),
      .numbersExhausted(what: "member"),
    ]
    #expect(Set(errors.map(\.description)).count == errors.count)
  }

  @Test func asynchronousCallsDoTheSame() async throws {
    let store = try memoryStore()
    try await withThrowingTaskGroup(of: Void.self) { group in
      for writer in 0..<20 {
        group.addTask {
          for index in 0..<10 {
            let name = MessageID("w\(writer)-\(index)")
            try await store.write(.relaxed) { chat in
              _ = try chat.insert(message(name, at: Int64(index)))
            }
            let found = try await store.read { try $0.message(name, in: "room") }
            #expect(found?.id == name)
          }
        }
      }
      try await group.waitForAll()
    }
    let count = try await store.read { try $0.conversation("room")?.messageCount }
    #expect(count == 200)
    await #expect(throws: OwnError()) { try await store.read { _ in throw OwnError() } }
    await #expect(throws: OwnError()) { try await store.write { _ in throw OwnError() } }
    try store.expectSound()
    try await store.close()
    await #expect(throws: StoreError.storage(.closed)) {
      try await store.read { try $0.conversations(count: 1).count }
    }
  }

  @Test func aStoreMayGoOnOneOfItsOwnThreads() async throws {
    for _ in 0..<50 {
      let store = try memoryStore()
      _ = try await store.write { try $0.insert(message("m", at: 1)) }
      let count = try await store.read { try $0.thread("room").tail(5).count }
      #expect(count == 1)
    }
  }

  @Test func anotherFileIsNotAMessageStore() throws {
    try expectOpening(fails: { if case .opening(.notAMessageStore) = $0 { true } else { false } }) {
      source in
      try put(source, 3, [1, 2, 3], [])
    }
    try expectOpening(fails: { if case .opening(.notAMessageStore) = $0 { true } else { false } }) {
      source in
      try put(source, 0, Array("schema version".utf8), [1])
    }
    try expectOpening(fails: { $0 == .opening(.schemaTooNew(found: 7, supported: 6)) }) { source in
      try put(source, 0, Array("schema version".utf8), [7, 0, 0, 0, 0, 0, 0, 0])
    }
    try expectOpening(fails: { $0 == .opening(.schemaTooOld(found: 5, supported: 6)) }) { source in
      try put(source, 0, Array("schema version".utf8), [5, 0, 0, 0, 0, 0, 0, 0])
    }
    try expectOpening(fails: { if case .corruptRecord = $0 { true } else { false } }) { source in
      try put(source, 0, Array("schema version".utf8), [6, 0, 0, 0, 0, 0, 0, 0])
      source[.localMember] = 1
    }
  }

  @Test func numbersEnd() throws {
    let directory = MemoryDirectory()
    try memoryStore(directory).close()
    try edit(directory) { source in
      source[.nextMember] = UInt64(UInt32.max)
    }
    let store = try memoryStore(directory)
    #expect(throws: StoreError.numbersExhausted(what: "member")) {
      try store.write { chat in
        // Going on after such an error does not commit half of a change.
        _ = try? chat.insert(message("m", at: 1))
        try chat.insert(message("m", at: 1, from: "me"))
      }
    }
    #expect(try store.read { try $0.conversation("room") } == nil)
  }

  @Test func damageIsFoundAndThrownAndNeverTraps() throws {
    let message: [UInt8] = [0, 0, 0, 1, 1, 0x80, 0, 0, 0, 0, 0, 0, 1, 2] + Array("m1".utf8)
    let id: [UInt8] = [0, 0, 0, 1] + Array("m1".utf8)
    let damages: [(tree: Int, key: [UInt8], value: [UInt8]?)] = [
      (6, message, nil), (6, message, [9]), (6, message, [1, 0, 2, 99, 65]),
      (6, message, [1, 0, 2, 1, 0xFF]), (6, message, [1, 16, 2, 1, 200, 1, 1, 2, 3]),
      (6, [0, 0, 0, 1], [1, 0, 2, 1]), (6, [0, 0, 0, 9] + message.dropFirst(4), [1, 0, 2, 1, 65]),
      (7, id, nil), (7, id, [1]), (7, [0, 0, 0, 1, 65], [1, 0, 0, 0, 0, 0, 0, 0, 0, 2]),
      (2, [0, 0, 0, 1], nil), (2, [0, 0, 0, 1], [1]), (2, [0, 0, 0, 1, 1], nil),
      (2, [0, 0], []), (3, [1], []), (3, [UInt8](repeating: 9, count: 12), []),
      (1, [1] + Array("room".utf8), nil), (1, [1] + Array("room".utf8), [1]),
      (1, [1] + Array("room".utf8), [7, 0, 0, 0]), (1, [2] + Array("you".utf8), nil),
      (1, [2, 0xFF], [1, 0, 0, 0]), (11, [0, 0, 0, 0, 9, 0, 0, 0, 2], nil),
      (11, [0, 0, 0, 0, 9, 0, 0, 0, 2], [0xFF]),
      (1, [3] + [UInt8](repeating: 1, count: 12), []), (1, [9, 9], []), (11, [0, 0, 0, 1, 9], []),
      (11, [0, 0, 0, 0, 5, 7], []), (11, [0, 0, 0, 0, 6, 1, 2, 3, 4], []),
      (11, [0, 0, 0, 1, 9, 0, 0, 0, 2], Array("you".utf8)), (11, [0, 0, 0, 0, 2, 1], []),
      (2, [0, 0, 0, 1, 7, 0, 0, 0, 1], [9]), (2, [0, 0, 0, 1, 8, 1], []),
    ]
    for damage in damages {
      let (tree, key, value) = damage
      let directory = MemoryDirectory()
      let store = try memoryStore(directory)
      try store.write { try $0.insert(MsgStoreTests.message("m1", at: 1)) }
      try store.expectSound()
      try store.close()
      try edit(directory) { source in
        guard let value else {
          return _ = try Bytes.with(key) { (key) throws in
            try BTree(source, TreeNumber(tree)).remove(key)
          }
        }
        try put(source, tree, key, value)
      }
      let damaged = try memoryStore(directory)
      #expect(try !damaged.check().isEmpty, "\(damage)")
      try readAndWriteEverything(damaged)
    }
  }

  /// Whatever is thrown is an error of the store.
  private func readAndWriteEverything(_ store: MessageStore) throws {
    func read(_ body: (borrowing StoreSnapshot) throws -> Void) throws {
      do { try store.read(body) } catch is StoreError {}
    }
    func write(_ body: (borrowing StoreWriter) throws -> Void) throws {
      do { try store.write(.full, body) } catch is StoreError {}
    }
    try read { chat in _ = try chat.thread("room").tail(5).map(\.text) }
    try read { chat in _ = try chat.thread("room").around("m1", count: 3) }
    try read { chat in _ = try chat.message("m1", in: "room") }
    try read { chat in _ = try chat.conversations(count: 5) }
    try write { chat in try chat.setStatus(.read, of: "m1", in: "room") }
    try write { chat in try chat.acknowledge("m1", in: "room", serverTimestamp: time(0)) }
    try write { chat in try chat.markRead("room") }
    try write { chat in try chat.insert(message("m2", at: 2)) }
    try write { chat in try chat.delete("m1", in: "room") }
    try write { chat in _ = try chat.findOrCreateConversation(with: ["you"]) }
  }

  // MARK: - The layer below

  private func put(_ source: PageSource, _ tree: Int, _ key: [UInt8], _ value: [UInt8]) throws {
    _ = try Bytes.with(key) { key in
      try Bytes.with(value) { try BTree(source, TreeNumber(tree)).insert(key, $0) }
    }
  }

  private func edit(_ directory: MemoryDirectory, _ body: (PageSource) throws -> Void) throws {
    let database = try Database(in: directory, name: "store", options: DatabaseOptions())
    let transaction = try database.beginWrite()
    try transaction.source.enter()
    try body(transaction.source)
    transaction.source.leave()
    _ = try transaction.commit(.full)
    try database.close()
  }

  private func expectOpening(
    fails isExpected: (StoreError) -> Bool, after body: (PageSource) throws -> Void
  ) throws {
    let directory = MemoryDirectory()
    try edit(directory, body)
    do throws(StoreError) {
      _ = try MessageStore(in: directory, name: "store")
      Issue.record("it opened")
    } catch {
      #expect(isExpected(error), "\(error)")
    }
  }
}
