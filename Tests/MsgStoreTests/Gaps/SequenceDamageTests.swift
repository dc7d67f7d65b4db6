import MsgStore
import MsgStoreTools
import PageFile
import Testing

/// A check finds what is wrong with known sequences and client data, and using them never traps.
@Suite struct SequenceDamageTests {
  private static let first: [UInt8] = [0x80, 0, 0, 0, 0, 0, 0, 1]
  private static let room: [UInt8] = [0, 0, 0, 1]

  private func value(_ number: Int64) -> [UInt8] {
    (0..<8).map { UInt8(truncatingIfNeeded: number >> ($0 * 8)) }
  }

  /// The store's known numbers are 1 to 3, 10, and 20; its numbers in bytes are as the format says.
  private func damaged(_ tree: Int, _ key: [UInt8], _ value: [UInt8]?) throws -> MessageStore {
    let directory = MemoryDirectory()
    let store = try memoryStore(directory)
    try store.write { chat in
      for sequence: Int64 in [1, 2, 3, 10, 20] {
        try chat.insert(message(MessageID("m\(sequence)"), at: sequence, sequence))
      }
      try chat.setSyncPosition([1], for: "k", in: "room")
    }
    try store.expectSound()
    try store.close()
    let database = try Database(in: directory, name: "store", options: DatabaseOptions())
    let transaction = try database.beginWrite()
    try transaction.source.enter()
    _ = try Bytes.with(key) { key in
      let tree = BTree(transaction.source, TreeNumber(tree))
      guard let value else { return try tree.remove(key) }
      return try Bytes.with(value) { try tree.insert(key, $0) }
    }
    transaction.source.leave()
    _ = try transaction.commit(.full)
    try database.close()
    return try memoryStore(directory)
  }

  @Test func damageToSequencesIsFoundAndNeverTraps() throws {
    let key = Self.room + Self.first
    func run(_ first: UInt8) -> [UInt8] { Self.room + [0x80, 0, 0, 0, 0, 0, 0, first] }
    let least = Self.room + [UInt8](repeating: 0, count: 8)
    let damages: [(tree: Int, key: [UInt8], value: [UInt8]?)] = [
      (11, key, nil), (11, key, [1]), (11, key, value(0)), (11, key, value(9)),
      (11, key, value(.max)), (11, run(4), value(4)), (11, run(2), value(2)),
      (11, run(19), value(19)), (11, run(21), value(.max)), (11, least, value(.max)),
      (11, [0, 0], value(1)), (11, [0, 0, 0, 9] + Self.first, value(1)),
      (13, [0, 0, 0, 1], [1]), (13, [0, 0], [1]), (13, [0, 0, 0, 9, 65], [1]),
      (13, [0, 0, 0, 0, 0xFF], [1]), (13, [0, 0, 0, 0, 65], [UInt8](repeating: 0, count: 65537)),
    ]
    for damage in damages {
      let store = try damaged(damage.tree, damage.key, damage.value)
      #expect(try !store.check().isEmpty, "\(damage)")
      func expectNoTrap(_ body: (borrowing StoreWriter) throws -> Void) throws {
        do { try store.write(.full, body) } catch is StoreError {}
      }
      try expectNoTrap { chat in
        var slice = try chat.thread("room").tail(2)
        for _ in 0..<9 {
          guard let next = slice.older.next else { break }
          slice = try chat.thread("room").before(next, count: 2)
        }
      }
      try expectNoTrap { _ = try $0.thread("room").at(time(0), count: 9) }
      try expectNoTrap { _ = try $0.thread("room").around("m10", count: 9) }
      try expectNoTrap { _ = try $0.gaps(in: "room") }
      do { try store.read { _ = try $0.knownSequences(in: "room") } } catch is StoreError {}
      do { try store.read { _ = try $0.syncPositions() } } catch is StoreError {}
      do { try store.read { _ = try $0.syncPositions(in: "room") } } catch is StoreError {}
      for range: ClosedRange<Int64> in [4...5, 19...19, 0...0, .min ... .max] {
        try expectNoTrap { try $0.declareAbsent(range, in: "room") }
      }
    }
  }

  @Test func keysOfTheirTreesAreShownInWords() {
    func describe(_ tree: Int, _ key: [UInt8]) -> String {
      SchemaReport.describeKey(key, tree: tree)
    }
    #expect(describe(11, Self.room + Self.first) == "1 from 1")
    #expect(describe(12, [0, 0, 0, 0, 0, 0, 1, 2]) == "258")
    #expect(describe(13, [0, 0, 0, 0] + Array("key".utf8)) == "store \"key\"")
    #expect(describe(13, Self.room + Array("key".utf8)) == "1 \"key\"")
    #expect(describe(9, Self.room + [2] + Array("m1".utf8) + [2, 7]) == "1 \"m1\" reaction 07")
    #expect(describe(9, Self.room + [2] + Array("m1".utf8) + [12]) == "1 026d310c…")
  }
}
