import PageFile
import PageFileSalvage
import Simulation
import Testing

/// The salvage of encrypted stores: it finds what that of a plain store finds, with the key alone.
struct SealedSalvageTests {
  private static let names = ["x", "x-wal0", "x-wal1"]
  private let seals = SealSource(seed: 21)

  private func options(_ pageByteCount: Int = 4096) -> DatabaseOptions {
    var options = DatabaseOptions()
    options.pageByteCount = pageByteCount
    options.encryption = seals.encryption
    options.backgroundWork = .caller
    return options
  }

  /// A store with commits in its slots and in both files of its log.
  private func store(_ pageByteCount: Int = 4096) throws -> MemoryDirectory {
    let directory = MemoryDirectory()
    let database = try Database(in: directory, name: "x", options: options(pageByteCount))
    for round in 1...9 {
      try Rounds.write(round, to: database, .full)
      if round == 5 { try database.checkpoint() }
    }
    database.abandon()
    return directory
  }

  private func salvage(_ files: MemoryDirectory) throws(PageFileError) -> PageSalvage {
    let before = Self.names.map { files[$0] }
    let salvage = try PageSalvage(in: files, name: "x", encryption: seals.encryption)
    let isUntouched = Self.names.map { files[$0] } == before
    #expect(isUntouched)
    return salvage
  }

  @Test(arguments: PageSize.allowed) func aWholeStoreIsReadWhole(pageByteCount: Int) throws {
    let salvage = try salvage(store(pageByteCount))
    let isSame = salvage.contents() == Rounds.contents(after: 9)
    #expect(isSame && salvage.report.isWhole, "\(salvage.report.findings)")
    #expect(salvage.report.pageByteCount == pageByteCount)
  }

  @Test(arguments: PageSize.allowed)
  func withTheFirst32KiBGoneTheLogHasTheKey(pageByteCount: Int) throws {
    let files = try store(pageByteCount)
    files["x"] = [UInt8](repeating: 0, count: 32768) + (try #require(files["x"])).dropFirst(32768)
    let salvage = try salvage(files)
    let isSame = salvage.contents() == Rounds.contents(after: 9)
    #expect(isSame, "\(salvage.report)")
  }

  /// Each of the four records alone is enough.
  @Test func anyRecordIsEnough() throws {
    let whole = try store()
    let places = [("x", 0), ("x", MetaSlot.offset(of: 1)), ("x-wal0", 0), ("x-wal1", 0)]
    for kept in places.indices {
      let files = whole.copy()
      for (index, place) in places.enumerated() where index != kept {
        files.damage(place.0, place.1..<place.1 + 512)
      }
      let salvage = try salvage(files)
      let contents = salvage.contents()
      let isState = (0...9).contains { Rounds.contents(after: $0) == contents }
      #expect(isState, "record \(kept): \(salvage.report)")
    }
  }

  @Test func aDestroyedPageTakesNothingElse() throws {
    let whole = try store()
    let expected = Rounds.contents(after: 9)
    let slotCount = (try #require(whole["x"]).count - 32768) / 4096
    for slot in 0..<slotCount {
      let files = whole.copy()
      files.damage("x", 32768 + slot * 4096 + 100..<32768 + slot * 4096 + 200)
      let salvage = try salvage(files)
      for (key, value) in salvage.contents() {
        let isOfSomeRound = (0...9).contains { Rounds.contents(after: $0)[key] == value }
        #expect(isOfSomeRound, "slot \(slot)")
      }
      if salvage.report.lostPages.isEmpty {
        let isSame = salvage.contents() == expected
        #expect(isSame, "slot \(slot)")
      }
    }
  }

  /// Such a header looks like one of an encrypted store, but for the rest of the files.
  @Test(arguments: [false, true]) func aPlainStoreWhoseHeadersLookSealedIsSaved(
    withoutSlots: Bool
  ) throws {
    let files = MemoryDirectory()
    var plain = options()
    plain.encryption = nil
    let database = try Database(in: files, name: "x", options: plain)
    for round in 1...9 {
      try Rounds.write(round, to: database, .full)
      if round == 5 { try database.checkpoint() }
    }
    database.abandon()
    for name in Self.names.dropFirst() { files[name]?[12] = 0 }
    if withoutSlots { for index in 0...1 { files.damage("x", slot(index)) } }
    let salvage = try PageSalvage(in: files, name: "x")
    let contents = salvage.contents()
    let isState = (5...9).contains { Rounds.contents(after: $0) == contents }
    #expect(isState, "\(salvage.report)")
    #expect(throws: PageFileError.notEncrypted(path: "memory:x")) {
      try PageSalvage(in: files, name: "x", encryption: seals.encryption)
    }
  }

  /// The fields of a meta slot, but for the store id.
  private func slot(_ index: Int) -> Range<Int> {
    let start = MetaSlot.offset(of: index)
    return start + 80..<start + 512
  }

  @Test func errorsNameTheKey() throws {
    let files = try store()
    let path = "memory:x"
    #expect(throws: PageFileError.keyMissing(path: path)) { try PageSalvage(in: files, name: "x") }
    let other = SealSource(seed: 21, key: 7)
    #expect(throws: PageFileError.wrongKey(path: path)) {
      try PageSalvage(in: files, name: "x", encryption: other.encryption)
    }
    let plain = MemoryDirectory()
    try Rounds.write(1, to: Database(in: plain, name: "x"), .full)
    #expect(throws: PageFileError.notEncrypted(path: path)) {
      try PageSalvage(in: plain, name: "x", encryption: seals.encryption)
    }
    // No record is left: without it nothing can be read.
    for (name, offset) in [("x", 0), ("x", 16384), ("x-wal0", 0), ("x-wal1", 0)] {
      files.damage(name, offset..<offset + 512)
    }
    do throws(PageFileError) {
      _ = try salvage(files)
      Issue.record("salvaged without a record")
    } catch {
      if case .corruptMeta = error { return }
      #expect(error == .notADatabase(path: path))
    }
  }
}
