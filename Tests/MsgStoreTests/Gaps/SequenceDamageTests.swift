import MsgStore
import MsgStoreTools
import PageFile
import Testing

/// A check finds what is wrong with known sequences and client data, and using them never traps.
struct SequenceDamageTests {
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
    let key = Self.room + [8] + Self.first
    func run(_ first: UInt8) -> [UInt8] { Self.room + [8, 0x80, 0, 0, 0, 0, 0, 0, first] }
    let least = Self.room + [8] + [UInt8](repeating: 0, count: 8)
    let damages: [(tree: Int, key: [UInt8], value: [UInt8]?)] = [
      (2, key, nil), (2, key, [1]), (2, key, value(0)), (2, key, value(9)),
      (2, key, value(.max)), (2, run(4), value(4)), (2, run(2), value(2)),
      (2, run(19), value(19)), (2, run(21), value(.max)), (2, least, value(.max)),
      (2, [0, 0], value(1)), (2, [0, 0, 0, 9, 8] + Self.first, value(1)),
      (12, [0, 0, 0, 1], [1]), (12, [0, 0], [1]), (12, [0, 0, 0, 9, 65], [1]),
      (12, [0, 0, 0, 0, 0xFF], [1]), (12, [0, 0, 0, 0, 65], [UInt8](repeating: 0, count: 65537)),
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
    #expect(describe(2, Self.room + [8] + Self.first) == "1 sequences from 1")
    let waiting = [0, 0, 0, 0, 3, 0, 0, 0, 0, 0, 0, 1, 2] + Self.room + Array("m1".utf8)
    #expect(describe(11, waiting) == "waiting 258, 1 \"m1\"")
    #expect(describe(11, [0, 0, 0, 0, 5, 7]) == "0 0507…")
    #expect(describe(12, [0, 0, 0, 0] + Array("key".utf8)) == "store \"key\"")
    #expect(describe(12, Self.room + Array("key".utf8)) == "1 \"key\"")
    #expect(describe(9, Self.room + [2] + Array("m1".utf8) + [2, 7]) == "1 \"m1\" reaction 07")
    #expect(describe(9, Self.room + [2] + Array("m1".utf8) + [12]) == "1 026d310c…")
  }
}
