import PageFile
import PageFileSalvage
import Testing

/// What a killed process leaves behind, at whatever moment, is salvaged to what recovery makes of it,
/// also when files that say where to begin are damaged.
struct SalvageCopiesTests {
  private struct State {
    var random: SeededGenerator
    var copies: [MemoryDirectory] = []
  }

  /// Copies of the files before some of the operations of a run of rounds.
  private func copies(_ random: inout SeededGenerator) throws -> [MemoryDirectory] {
    let state = Locked(State(random: SeededGenerator(seed: random.next())))
    let directory = WatchedDirectory { files in
      state.withLock { if $0.random.below(4) == 0 { $0.copies.append(files.copy()) } }
    }
    var database = try Database(in: directory, name: "x", options: smallPages)
    for round in 1...60 {
      try Rounds.write(round, to: database, random.below(2) == 0 ? .full : .relaxed)
      if random.below(4) == 0 { try database.checkpoint() }
      if random.below(10) == 0 {
        try database.close()
        database = try Database(in: directory, name: "x", options: smallPages)
      }
    }
    try database.close()
    return state.withLock { $0.copies }.filter { $0.exists("x") }
  }

  private func recovered(_ files: MemoryDirectory) throws -> [[UInt8]: [UInt8]] {
    try Database(in: files.copy(), name: "x", options: smallPages).contents()
  }

  @Test func aSalvageReadsWhatRecoveryReads() throws {
    var random = SeededGenerator()
    let copies = try copies(&random)
    #expect(copies.count > 30)
    for files in copies {
      let salvage = try PageSalvage(in: files, name: "x")
      let isSame = try salvage.contents() == recovered(files)
      #expect(isSame && salvage.report.isWhole, "\(salvage.report.findings)")
    }
  }

  @Test func aSalvageNeedsNoMetaSlot() throws {
    var random = SeededGenerator()
    for files in try copies(&random) where files.exists("x-wal0") && files.exists("x-wal1") {
      let expected = try recovered(files)
      for index in 0..<2 { files.damageMetaSlot(index) }
      do throws(PageFileError) {
        let salvage = try PageSalvage(in: files, name: "x")
        let isSame = salvage.contents() == expected
        #expect(isSame, "\(salvage.report)")
      } catch {
        // Nothing was in the files yet that could prove anything.
        #expect(expected.isEmpty, "\(error)")
      }
    }
  }

  @Test(arguments: 0..<2)
  func aSalvageNeedsNoWALHeader(index: Int) throws {
    var random = SeededGenerator()
    for files in try copies(&random) where files.exists("x-wal\(index)") {
      let expected = try recovered(files)
      files.damage("x-wal\(index)", 0..<WALHeader.byteCount)
      let salvage = try PageSalvage(in: files, name: "x")
      let isSame = salvage.contents() == expected
      #expect(isSame, "\(salvage.report)")
    }
  }
}
