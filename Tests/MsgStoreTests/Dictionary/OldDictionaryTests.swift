import MsgStore
import MsgStoreTools
import PageFile
import Testing

/// Compacting packs everything with the newest dictionary, and removes the others: never one that a
/// segment still needs.
struct OldDictionaryTests {
  private let files = MemoryDirectory()

  /// Words of which each dictionary has its own.
  private static func phrases(_ seed: UInt64) -> [String] {
    var random = SeededGenerator(seed: seed)
    return (0..<60).map { _ in
      (0..<4).map { _ in
        String((0..<6).map { _ in "abcdefghijklmnop".randomElement(using: &random) ?? "a" })
      }.joined(separator: " ")
    }
  }

  /// What everybody says: two people on one day, so that compacting makes no dictionary of its own.
  private static let spoken = phrases(1)

  private static func dictionary(_ number: UInt32) -> [UInt8] {
    Array(phrases(UInt64(number)).joined(separator: "\u{1}").utf8)
  }

  private func add(_ number: UInt32, to store: MessageStore) throws {
    try store.write { try $0.addDictionary(Self.dictionary(number), number: number) }
  }

  /// A message of a thread in which so many in a row have one time, in whole minutes, and none has a
  /// sequence.
  private static func message(
    _ index: Int, in room: ConversationID, burst: Int, _ random: inout SeededGenerator
  ) -> Message {
    let text = (0..<3).map { _ in spoken.randomElement(using: &random) ?? "" }
    return Message(
      id: MessageID("m\(10_000 + index)"), in: room, from: MemberID("member-\(index % 2)"),
      text: text.joined(separator: " "),
      serverTimestamp: time(Int64((index + 3) / burst) * 60_000_000))
  }

  private static let rooms = (0..<8).map { ConversationID("room-\($0)") }

  /// Threads of which a part was imported and the rest came one by one, packed with dictionary 1.
  private func makeBursts(
    of burst: Int, packing: PackingSizes, in files: any StorageDirectory
  ) throws -> (MessageStore, [ConversationID: [Message]]) {
    var options = StoreOptions(localMember: "me", clock: { time(1) })
    options.packing = packing
    let store = try MessageStore(in: files, name: "store", options: options)
    try add(1, to: store)
    var random = SeededGenerator(seed: seeds(1)[0])
    var expected: [ConversationID: [Message]] = [:]
    for room in Self.rooms[..<3] {
      let count = Int.random(in: 150...340, using: &random)
      let messages = (0..<count).map { Self.message($0, in: room, burst: burst, &random) }
      try store.write(.relaxed) { chat in
        for message in messages[..<140] { try chat.insert(message, as: .history) }
      }
      for message in messages[140...] { try store.write(.relaxed) { try $0.insert(message) } }
      expected[room] = messages
    }
    return (store, expected)
  }

  private func expect(
    _ expected: [ConversationID: [Message]], in store: MessageStore,
    _ location: SourceLocation = #_sourceLocation
  ) throws {
    for (room, messages) in expected {
      let texts = try store.read { try $0.thread(room).tail(1000).map(\.text) }
      #expect(texts == messages.map(\.text), sourceLocation: location)
      // The tail has unpacked all of them; some are looked up, too.
      for message in messages.enumerated().filter({ $0.offset % 17 == 0 }).map(\.element) {
        let found = try store.read { try $0.message(message.id, in: room)?.text }
        #expect(found == message.text, sourceLocation: location)
      }
    }
    try store.expectSound(location)
  }

  private static let packings = [
    PackingSizes(), PackingSizes(looseCount: 5, maximumSegmentByteCount: 300),
  ]

  @Test(arguments: [10, 20, 40, 100, 200], packings)
  func burstsOfOneTimeArePackedWithTheNewest(_ burst: Int, _ packing: PackingSizes) throws {
    let (store, expected) = try makeBursts(of: burst, packing: packing, in: files)
    try store.checkpoint()
    #expect(try Cells(files).usedDictionaries[1] ?? 0 > 2)
    try add(2, to: store)
    try store.compact()
    try expect(expected, in: store)
    try store.close()
    #expect(try Cells(files).usedDictionaries.keys.allSatisfy { [0, 2].contains($0) })
    #expect(try Cells(files).dictionaryKeys.allSatisfy { $0[1..<5] == [0, 0, 0, 2] })
    let reopened = try memoryStore(files)
    try expect(expected, in: reopened)
    try reopened.close()
  }

  @Test func theCopyOfMsgdumpCompactHasAllMessages() throws {
    let directory = try TemporaryDirectory()
    let (store, expected) = try makeBursts(
      of: 100, packing: PackingSizes(), in: PosixDirectory(path: directory.path("")))
    try add(2, to: store)
    try store.close()
    #expect(try directory.run("compact", "store", "new").status == 0)
    for name in ["store", "new"] {
      let store = try MessageStore(
        path: directory.path(name), options: StoreOptions(localMember: "me"))
      try expect(expected, in: store)
      try store.close()
    }
  }

  /// Then some segments are packed with one, and some with the other.
  @Test func aDictionaryThatComesInTheMiddleOfACompactionCostsNothing() throws {
    let store = try memoryStore(files)
    try add(1, to: store)
    var random = SeededGenerator(seed: 7)
    var expected: [ConversationID: [Message]] = [:]
    for room in Self.rooms {
      let messages = (0..<300).map { Self.message($0, in: room, burst: 1, &random) }
      try store.write(.relaxed) { chat in for message in messages { try chat.insert(message) } }
      expected[room] = messages
    }
    try add(2, to: store)
    try store.close()
    var hasMixed = false
    for step in [1, 2, 4, 7] {
      let files = files.copy()
      let store = try memoryStore(files)
      var count = 0
      try store.compact { progress in
        guard progress.stage == .packing else { return }
        count += 1
        if count == step { try add(3, to: store) }
      }
      try store.close()
      let used = try Cells(files).usedDictionaries
      hasMixed = hasMixed || used[2] != nil && used[3] != nil
      let reopened = try memoryStore(files)
      try expect(expected, in: reopened)
      try reopened.compact()
      try reopened.close()
      #expect(try Cells(files).dictionaryKeys.allSatisfy { $0[1..<5] == [0, 0, 0, 3] })
      try expect(expected, in: try memoryStore(files))
    }
    #expect(hasMixed)
  }

  @Test func whoeverDoesNotPackKeepsAllDictionaries() throws {
    let (store, expected) = try makeBursts(of: 20, packing: PackingSizes(), in: files)
    try add(2, to: store)
    try store.close()
    let other = try memoryStore(files, packs: false)
    try other.compact()
    try other.close()
    try expect(expected, in: try memoryStore(files))
  }

  /// What was read once is known for as long as the store is open.
  @Test func aCheckFindsALostDictionaryThatWasReadBefore() throws {
    let (store, expected) = try makeBursts(of: 20, packing: PackingSizes(), in: files)
    try expect(expected, in: store)
    try add(2, to: store)
    try store.write { try $0.removeDictionary(1) }
    let findings = try store.check()
    #expect(findings.contains { $0.description.contains("dictionary 1") })
    try store.close()
    let reopened = try memoryStore(files)
    #expect(try reopened.check() == findings)
    try reopened.close()
  }
}
