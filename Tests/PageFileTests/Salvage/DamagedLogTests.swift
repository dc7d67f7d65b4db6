import PageFile
import PageFileSalvage
import Testing

/// The log's commits are applied as far as they can be proven, and the others are listed.
struct DamagedLogTests {
  /// A store that was killed: a checkpoint after round 5, and rounds 6 to 12 in the log.
  private func killed(pageByteCount: Int = 4096) throws -> MemoryDirectory {
    let directory = MemoryDirectory()
    var options = smallPages
    options.pageByteCount = pageByteCount
    let database = try Database(in: directory, name: "x", options: options)
    for round in 1...5 { try Rounds.write(round, to: database) }
    try database.checkpoint()
    for round in 6...12 { try Rounds.write(round, to: database, .full) }
    return directory.copy()
  }

  /// The file that has the commits, and where they begin.
  private func commits(_ files: MemoryDirectory) throws -> (name: String, offsets: [Int]) {
    for name in ["x-wal0", "x-wal1"] {
      let file = try files.open(name, .read)
      let bytes = try #require(files[name])
      guard let header = Bytes.with(bytes, { WALHeader($0) }), !header.isEmpty else { continue }
      var scan = try WALScan(file, header)
      var offsets: [Int] = []
      while try scan.next({ offsets.append($0.offset) }) == nil {}
      if offsets.count == 7 { return (name, offsets) }
    }
    Issue.record("no file has the commits of rounds 6 to 12")
    return ("", [])
  }

  @Test(arguments: 0..<7)
  func commitsBeforeADamagedOneCount(index: Int) throws {
    let files = try killed()
    let (name, offsets) = try commits(files)
    files.damage(name, offsets[index] + 200..<offsets[index] + 201)
    let salvage = try PageSalvage(in: files, name: "x")
    #expect(try Rounds.round(of: salvage.contents()) == 5 + index)
    #expect(!salvage.report.isWhole)
    let lost = salvage.report.lostCommits
    #expect(lost.map(\.offset) == Array(offsets[index...]))
    #expect(lost.allSatisfy { $0.wasDurable && $0.file == name })
  }

  /// The last commit was never synced, so nothing says that it was ever whole.
  @Test func aTornTailIsNoLoss() throws {
    let directory = MemoryDirectory()
    let database = try Database(in: directory, name: "x", options: smallPages)
    try Rounds.write(1, to: database, .full)
    try Rounds.write(2, to: database, .relaxed)
    let files = directory.copy()
    let statistics = database.statistics
    let wal = try #require(files["x-wal0"])
    let sectors = Array(stride(from: WALHeader.commitsOffset, to: wal.count, by: 512))
    let start = try #require(sectors.last { wal[$0..<$0 + 4].elementsEqual("CMT1".utf8) })
    files.damage("x-wal0", start + 300..<start + 310)
    let salvage = try PageSalvage(in: files, name: "x")
    #expect(try Rounds.round(of: salvage.contents()) == 1)
    #expect(salvage.report.isWhole)
    #expect(salvage.report.lostCommits.map(\.lsn) == [statistics.lastLSN])
    #expect(salvage.report.lostCommits.allSatisfy { !$0.wasDurable })
  }

  @Test func withoutItsLogTheStoreIsThatOfTheCheckpoint() throws {
    let intact = try killed()
    let name = try commits(intact).name
    for missing in [[name], ["x-wal0", "x-wal1"]] {
      let files = intact.copy()
      for name in missing { files[name] = nil }
      let salvage = try PageSalvage(in: files, name: "x")
      #expect(try Rounds.round(of: salvage.contents()) == 5)
      #expect(!salvage.report.isWhole)
    }
    let files = intact.copy()
    files[name == "x-wal0" ? "x-wal1" : "x-wal0"] = nil
    let salvage = try PageSalvage(in: files, name: "x")
    #expect(try Rounds.round(of: salvage.contents()) == 12)
    #expect(!salvage.report.isWhole)
  }

  /// What is cut off takes the witnesses of its commits along, so the length alone tells.
  @Test func aLogThatWasCutMayLackCommits() throws {
    let intact = try killed()
    let (name, offsets) = try commits(intact)
    #expect(try PageSalvage(in: intact, name: "x").report.isWhole)
    for (index, end) in offsets.enumerated() {
      let files = intact.copy()
      files[name] = intact[name].map { Array($0.prefix(end)) }
      #expect(throws: PageFileError.self) { _ = try Database(in: files, name: "x") }
      let salvage = try PageSalvage(in: files, name: "x")
      #expect(try Rounds.round(of: salvage.contents()) == 5 + index)
      #expect(!salvage.report.isWhole)
      let lsn = salvage.report.lastLSN
      #expect(
        salvage.report.findings == ["\(name): cut short; commits after \(lsn) may be missing"])
    }
  }

  /// A file that was made shorter than it had grown, but not below its least length, has all.
  @Test func aClosedStoresShortLogIsNoLoss() throws {
    let directory = MemoryDirectory()
    let database = try Database(in: directory, name: "x", options: smallPages)
    try Rounds.write(1, to: database, .full)
    try database.close()
    for name in ["x-wal0", "x-wal1"] { directory[name]?.removeLast(1000) }
    #expect(try PageSalvage(in: directory, name: "x").report.isWhole)
  }

  @Test func theLogOfAnotherStoreIsNotApplied() throws {
    let files = try killed()
    let other = try killed()
    for name in ["x-wal0", "x-wal1"] { files[name] = other[name] }
    let salvage = try PageSalvage(in: files, name: "x")
    #expect(try Rounds.round(of: salvage.contents()) == 5)
    #expect(salvage.report.findings.contains("x-wal0 belongs to another store"))
    #expect(salvage.report.lostCommits.isEmpty)
  }

  @Test(arguments: [4096, 8192, 16384, 32768])
  func theStoreIsKnownFromItsPages(pageByteCount: Int) throws {
    let files = try killed(pageByteCount: pageByteCount)
    for index in 0..<2 { files.damageMetaSlot(index) }
    let salvage = try PageSalvage(in: files, name: "x")
    #expect(salvage.report.pageByteCount == pageByteCount)
    #expect(try Rounds.round(of: salvage.contents()) == 12)
    #expect(salvage.report.findings.count == 2, "\(salvage.report.findings)")
  }

  /// A store that never had a checkpoint is in its log alone.
  @Test(arguments: [4096, 8192, 16384, 32768])
  func theStoreIsKnownFromItsLog(pageByteCount: Int) throws {
    let directory = MemoryDirectory()
    var options = smallPages
    options.pageByteCount = pageByteCount
    let database = try Database(in: directory, name: "x", options: options)
    for round in 1...3 { try Rounds.write(round, to: database) }
    let files = directory.copy()
    for index in 0..<2 { files.damageMetaSlot(index) }
    let salvage = try PageSalvage(in: files, name: "x")
    #expect(salvage.report.pageByteCount == pageByteCount)
    #expect(try Rounds.round(of: salvage.contents()) == 3)
  }

  /// A close cuts the files, so that the log ends before the newest pages in the slots.
  @Test(arguments: [false, true])
  func whatAClosedStoresLogHasLeftIsNotAppliedToNewerPages(isTreeNew: Bool) throws {
    let directory = MemoryDirectory()
    let database = try Database(in: directory, name: "x", options: smallPages)
    if !isTreeNew {
      try database.write { (source) throws(PageFileError) in try source.put([0], [0], tree: 1) }
    }
    for round in 1...12 { try Rounds.write(round, to: database, .full) }
    let long = [UInt8](repeating: 7, count: 400_000)
    try database.write { (source) throws(PageFileError) in
      try Rounds.write(13, to: source)
      try source.put([0], long, tree: 1)
    }
    try database.close()
    for index in 0..<2 { directory.damageMetaSlot(index) }
    let wals = ["x-wal0", "x-wal1"].compactMap { directory[$0] }
    #expect(wals.contains { Bytes.with($0) { WALHeader($0)?.isEmpty == false } })
    let salvage = try PageSalvage(in: directory, name: "x")
    #expect(salvage.report.lastLSN.rawValue < database.statistics.lastLSN.rawValue)
    #expect(try Rounds.round(of: salvage.contents()) == 13)
    #expect(salvage.contents(of: 1) == [[0]: long])
  }

  /// The id is enough, wherever it can still be read.
  @Test func aPartOfAMetaSlotIsEnough() throws {
    let files = try killed()
    for name in ["x-wal0", "x-wal1"] { files.damage(name, 0..<WALHeader.byteCount) }
    for index in 0..<2 {
      let start = MetaSlot.offset(of: index)
      files.damage("x", start..<start + MetaSlot.storeIDOffset)
    }
    let salvage = try PageSalvage(in: files, name: "x")
    // Where the log begins nobody knows then, but what was in slots is there.
    #expect(try Rounds.round(of: salvage.contents()) == 5)
    #expect(salvage.report.lostCommits.count == 7)
    #expect(!salvage.report.isWhole)
  }

  @Test func withoutTheIdNothingCanBeProven() throws {
    let files = try killed()
    for name in ["x-wal0", "x-wal1"] { files.damage(name, 0..<WALHeader.byteCount) }
    for index in 0..<2 { files.damageMetaSlot(index) }
    #expect(throws: PageFileError.notADatabase(path: "memory:x")) {
      _ = try PageSalvage(in: files, name: "x")
    }
    let magic = MetaSlot.magic
    files["x"]?.replaceSubrange(0..<magic.count, with: magic)
    let error = #expect(throws: PageFileError.self) {
      _ = try PageSalvage(in: files, name: "x")
    }
    guard case .corruptMeta? = error else {
      Issue.record("\(String(describing: error))")
      return
    }
  }

  @Test func theSlotOfAnotherStoreIsNotBelieved() throws {
    let files = try killed()
    let other = try #require(try killed()["x"])
    for index in 0..<2 {
      let damaged = files.copy()
      let slot = MetaSlot.offset(of: index)..<MetaSlot.offset(of: index) + MetaSlot.byteCount
      damaged["x"]?.replaceSubrange(slot, with: other[slot])
      let salvage = try PageSalvage(in: damaged, name: "x")
      #expect(try Rounds.round(of: salvage.contents()) == 12)
      #expect(!salvage.report.isWhole)
    }
  }

  @Test func aNewerFormatIsRefused() throws {
    let files = try killed()
    var bytes = try #require(files["x"])
    var slot = ByteBuffer()
    slot.append(Array(bytes[0..<504]))
    slot.mutableBytes.store(UInt32(2), at: 8)
    let checksum = Checksum.of(slot.bytes, seed: Checksum.seed(0x4D45_5441))
    slot.append(littleEndian: checksum)
    bytes.replaceSubrange(0..<512, with: slot.bytes.array())
    files["x"] = bytes
    #expect(throws: PageFileError.unsupportedFormat(version: 2, features: 0)) {
      _ = try PageSalvage(in: files, name: "x")
    }
  }
}
