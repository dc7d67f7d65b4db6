import Damage
import PageFile
import Testing

/// What a notification extension does: opens the store, commits once, closes it.
///
/// Each sync takes about as long as everything else together, so their number is held here.
struct OpenCommitCloseTests {
  private func run(_ number: Int, _ directory: any StorageDirectory) throws {
    let database = try Database(in: directory, name: "x")
    try database.write(.full) { source throws(PageFileError) in
      try source.put(bigEndian(number), bigEndian(number))
    }
    try database.close()
  }

  @Test func fewCallsAreMadeAndNoFileChangesItsSize() throws {
    let kinds = Locked<[HookedDirectory.Call.Kind: Int]>([:])
    let files = MemoryDirectory()
    let directory = HookedDirectory(files) { call, _ in
      kinds.withLock { $0[call.kind, default: 0] += 1 }
    }
    for number in 0..<5 { try run(number, directory) }
    for number in 5..<40 {
      kinds.withLock { $0 = [:] }
      let before = ["x", "x-wal0", "x-wal1"].map { files[$0]?.count }
      try run(number, directory)
      #expect(["x", "x-wal0", "x-wal1"].map { files[$0]?.count } == before)
      let counts = kinds.withLock { $0 }
      #expect(counts[.sync, default: 0] <= 7, "\(counts)")
      #expect(counts[.extend] == nil && counts[.truncate] == nil, "\(counts)")
    }
    let database = try Database(in: directory, name: "x")
    #expect(try database.contents().count == 40)
    #expect(try database.findings() == [])
  }

  /// The mark of a clean close is in both slots, and either way of losing one is survived.
  @Test func eitherSlotLeadsToWhatWasCommitted() throws {
    for slot in 0..<2 {
      let files = MemoryDirectory()
      for number in 0..<3 { try run(number, files) }
      let offset = MetaSlot.offset(of: slot)
      files["x"]?.replaceSubrange(offset..<offset + 512, with: repeatElement(0xA5, count: 512))
      try run(3, files)
      let database = try Database(in: files, name: "x")
      #expect(try database.contents().count == 4)
      #expect(try database.findings() == [])
    }
  }
}
