import Damage
import PageFile
import Testing

/// Files that are no store, or not one to be opened: a typed error each, and nothing changed.
struct BadFileTests {
  @Test func foreignFileIsNotADatabase() throws {
    try expectRefused(Array("just a text file\n".utf8)) { $0 == .notADatabase(path: "memory:x") }
    try expectRefused([UInt8](repeating: 7, count: 100_000)) {
      $0 == .notADatabase(path: "memory:x")
    }
  }

  @Test func emptyFileIsNotADatabase() throws {
    try expectRefused([]) { $0 == .notADatabase(path: "memory:x") }
  }

  @Test func emptyFileBesideALogIsAMissingMainFile() throws {
    let directory = try usedStore()
    directory["x"] = []
    try expectRefused(directory) { $0 == .mainFileMissing(path: "memory:x") }
    directory["x"] = nil
    try expectRefused(directory) { $0 == .mainFileMissing(path: "memory:x") }
  }

  @Test func missingLogIsAMismatchUnlessClosedCleanly() throws {
    let directory = try usedStore()
    directory["x-wal0"] = nil
    directory["x-wal1"] = nil
    try expectRefused(directory) { if case .walMismatch = $0 { true } else { false } }
    let closed = try closedStore()
    closed["x-wal0"] = nil
    closed["x-wal1"] = nil
    #expect(try Database(in: closed, name: "x").contents().count == 50)
  }

  @Test func logOfAnotherStoreIsAMismatch() throws {
    let directory = try usedStore()
    let other = try usedStore()
    directory["x-wal0"] = other["x-wal0"]
    directory["x-wal1"] = other["x-wal1"]
    try expectRefused(directory) { if case .walMismatch = $0 { true } else { false } }
  }

  /// Two copies of one cleanly closed store go their own ways: the log of one is not that of the
  /// other, though both began where the close left off.
  @Test func logOfACopyOfTheSameStoreIsAMismatch() throws {
    let closed = try closedStore()
    let copies = try (0..<2).map { number in
      let copy = closed.copy()
      let database = try Database(in: copy, name: "x")
      try database.write(.full) { (source) throws(PageFileError) in
        try source.put([9, UInt8(number)], [1])
      }
      return copy.copy()
    }
    copies[0]["x-wal0"] = copies[1]["x-wal0"]
    copies[0]["x-wal1"] = copies[1]["x-wal1"]
    try expectRefused(copies[0]) {
      switch $0 {
      case .walMismatch, .corruptWAL: true
      default: false
      }
    }
  }

  @Test func truncatedFileIsCorrupt() throws {
    let bytes = try #require(try closedStore()["x"])
    // Behind the pages in use are free slots, which nobody misses.
    for count in [1, 100, 511, 512, 4096, 16384, 16896, 20000, 32768, 36000, 40000] {
      let directory = MemoryDirectory()
      directory["x"] = Array(bytes[..<count])
      do throws(PageFileError) {
        let database = try Database(in: directory, name: "x")
        _ = try database.contents()
        Issue.record("a file cut to \(count) bytes was read")
      } catch {
        switch error {
        case .corruptMeta, .corruptPage, .notADatabase: break
        default: Issue.record("cut to \(count): \(error)")
        }
      }
    }
  }

  @Test func newerFormatIsUnsupportedAndUntouched() throws {
    let directory = try closedStore()
    var bytes = try #require(directory["x"])
    for slot in 0..<2 {
      let offset = MetaSlot.offset(of: slot)
      bytes[offset + 8] = 9
      let checksum = Bytes.with(Array(bytes[offset..<offset + 504])) {
        Checksum.of($0, seed: Checksum.seed(0x4D45_5441))
      }
      for byte in 0..<8 {
        bytes[offset + 504 + byte] = UInt8(truncatingIfNeeded: checksum >> (8 * byte))
      }
    }
    directory["x"] = bytes
    try expectRefused(directory) { $0 == .unsupportedFormat(version: 9, features: 0) }
  }

  /// What only a writer has to look at is looked at before anything is written.
  @Test func openingThatFindsDamageLateHasWrittenNothing() throws {
    let directory = try usedStore(checkpointing: true)
    // Pages above the root now lie beyond the end of the page numbers.
    try changeMetaSlots(of: directory, at: 184, byteCount: 4) { _ in 4 }
    try expectNotWritable(directory) { if case .corruptPage = $0 { true } else { false } }
  }

  @Test func openingThatWouldPassTheLastNumberOfAMetaSlotHasWrittenNothing() throws {
    let directory = try usedStore(checkpointing: true)
    try changeMetaSlots(of: directory, at: 56, byteCount: 8) { slot in
      Counter.limit - 4 + UInt64(slot)
    }
    try expectNotWritable(directory) { if case .limitExceeded = $0 { true } else { false } }
  }

  @Test func secondOwnerIsBusyAndReaderIsNot() throws {
    let directory = try closedStore()
    let owner = try Database(in: directory, name: "x")
    #expect(throws: PageFileError.busy(path: "memory:x")) { try Database(in: directory, name: "x") }
    var options = DatabaseOptions()
    options.access = .readOnly
    let reader = try Database(in: directory, name: "x", options: options)
    #expect(try reader.contents().count == 50)
    try owner.write { (source) throws(PageFileError) in try source.put([99, 99], [1]) }
    #expect(try reader.contents().count == 51)
    try owner.checkpoint()
    try owner.write { (source) throws(PageFileError) in try source.put([99, 98], [1]) }
    #expect(try reader.contents().count == 52)
    #expect(throws: PageFileError.self) { try reader.write { _ in } }
  }

  @Test func openingAndReadingACleanStoreWritesNothing() throws {
    let directory = try closedStore()
    let before = [directory["x"], directory["x-wal0"], directory["x-wal1"]]
    let database = try Database(in: directory, name: "x")
    #expect(try database.contents().count == 50)
    try database.close()
    #expect([directory["x"], directory["x-wal0"], directory["x-wal1"]] == before)
  }

  @Test func directoryAndMissingPermissionAreErrors() throws {
    #expect(throws: PageFileError.self) { try Database(path: "/") }
    #expect(throws: PageFileError.self) { try Database(path: "/nowhere/at/all/x") }
    var options = DatabaseOptions()
    options.access = .readOnly
    #expect(throws: PageFileError.ioError(call: "open", errno: 2, path: "memory:x")) {
      try Database(in: MemoryDirectory(), name: "x", options: options)
    }
  }

  private func usedStore(checkpointing: Bool = false) throws -> MemoryDirectory {
    let directory = MemoryDirectory()
    let database = try Database(in: directory, name: "x")
    try fill(database)
    if checkpointing { try database.checkpoint() }
    return directory.copy()
  }

  private func closedStore() throws -> MemoryDirectory {
    let directory = MemoryDirectory()
    let database = try Database(in: directory, name: "x")
    try fill(database)
    try database.close()
    return directory
  }

  private func fill(_ database: Database) throws {
    try database.write(.full) { (source) throws(PageFileError) in
      for number in 0..<50 {
        try source.put([1, UInt8(number)], [UInt8](repeating: 5, count: 400))
      }
    }
  }

  private func changeMetaSlots(
    of directory: MemoryDirectory, at offset: Int, byteCount: Int, to value: (Int) -> UInt64
  ) throws {
    var bytes = try #require(directory["x"])
    for slot in 0..<2 {
      Forge.store(value(slot), byteCount, in: &bytes, at: MetaSlot.offset(of: slot) + offset)
      Forge.sealMeta(&bytes, slot)
    }
    directory["x"] = bytes
  }

  private func expectNotWritable(
    _ directory: MemoryDirectory, _ matches: (PageFileError) -> Bool
  ) throws {
    let names = ["x", "x-wal0", "x-wal1"]
    let before = names.map { directory[$0] }
    do throws(PageFileError) {
      // Opening reads; whoever writes first finds it.
      let database = try Database(in: directory, name: "x")
      try database.beginWrite().rollback()
      Issue.record("can be written")
    } catch {
      #expect(matches(error), "\(error)")
    }
    let isUnchanged = names.map { directory[$0] } == before
    #expect(isUnchanged)
  }

  private func expectRefused(_ bytes: [UInt8], _ matches: (PageFileError) -> Bool) throws {
    let directory = MemoryDirectory()
    directory["x"] = bytes
    try expectRefused(directory, matches)
  }

  private func expectRefused(
    _ directory: MemoryDirectory, _ matches: (PageFileError) -> Bool
  ) throws {
    let names = ["x", "x-wal0", "x-wal1"]
    let before = names.map { directory[$0] }
    for access in [DatabaseOptions.Access.readWrite, .readOnly] {
      var options = DatabaseOptions()
      options.access = access
      do throws(PageFileError) {
        _ = try Database(in: directory, name: "x", options: options)
        Issue.record("was opened")
      } catch {
        #expect(matches(error), "\(error)")
      }
      #expect(names.map { directory[$0] } == before)
    }
  }
}
