import PageFile
import Simulation
import Testing

/// Power cuts, full devices and damage while a store is compacted.
struct CompactionFaultTests {
  /// Chains on a hundred and more pages, of which most go: there is more to give back than what is
  /// kept for a full device.
  private let sparse: [Operation] = [
    .fill(0..<96, byteCount: 6000), .commit(.full), .checkpoint,
    .fill(0..<96, byteCount: 700), .put(90, byteCount: 9000), .put(91, byteCount: 12_000),
    .commit(.relaxed), .clear(0..<70), .commit(.full), .openReader,
  ]

  @Test(arguments: [DiskProfile.worst, .ext4, .apfs])
  func everyMomentSurvivesAPowerCut(profile: DiskProfile) {
    let explorer = Explorer(
      seed: 3,
      ExplorationPlan(
        setting: StoreSetting(profile: profile),
        choices: CrashChoices(exhaustiveUnitCount: 4, sampleCount: 2, maximumCount: 5),
        branchCounts: [1]))
    explorer.explore(
      sparse + [.compact, .closeReader, .compact, .put(3, byteCount: 50), .commit(.full)],
      from: sparse.count + 1)
    if let first = explorer.report.failures.first {
      Issue.record("\(explorer.report.failures.count) failures:\(Shrinker.shrink(first))")
    }
    #expect(explorer.report.counts.savedPageCount > 0)
    #expect(explorer.report.counts.movedPageCount > 0)
    #expect(explorer.report.stateCount > 60)
  }

  @Test func everyFailingCallLeavesASoundStore() {
    let explorer = Explorer(seed: 4, ExplorationPlan(branchCounts: []))
    explorer.exploreTroubles(sparse + [.compact, .reopen], maximumCount: 150)
    if let first = explorer.report.failures.first {
      Issue.record("\(explorer.report.failures.count) failures:\(Shrinker.shrink(first))")
    }
  }

  private func makeSparse(
    _ directory: any StorageDirectory, checkpoints: Bool = true
  ) throws -> Database {
    let database = try Database(in: directory, name: "x", options: smallPages)
    try database.write { (source) throws(PageFileError) in
      for number in 0..<8000 {
        try source.put(bigEndian(number), [UInt8](repeating: 7, count: 60))
      }
    }
    try database.checkpoint()
    try database.write { (source) throws(PageFileError) in
      for number in 0..<8000 where number % 3 != 0 { try source.remove(bigEndian(number)) }
    }
    if checkpoints { try database.checkpoint() }
    return database
  }

  /// Packing needs room before it gives any back.
  ///
  /// Where the file has free slots nothing has to grow;
  /// and what of the log there is lasts for small steps, with a checkpoint after each.
  @Test func aFullDeviceIsNoObstacleWhereThereAreFreeSlots() throws {
    let directory = FailingDirectory()
    let database = try makeSparse(directory, checkpoints: false)
    let expected = try database.contents()
    let before = directory.files["x"]?.count ?? 0
    directory.fillDevice(true)
    try database.compact()
    #expect(try database.contents() == expected)
    #expect(try database.findings() == [])
    #expect(directory.files["x"]?.count ?? 0 < before)
  }

  @Test func aDeviceWithoutRoomForASingleCommitIsReported() throws {
    let directory = FailingDirectory()
    let database = try makeSparse(directory)
    let expected = try database.contents()
    let before = try #require(directory.files["x"])
    directory.refusePages(true)
    directory.fillDevice(true)
    #expect(throws: PageFileError.diskFull) { try database.compact() }
    #expect(try database.contents() == expected)
    #expect(try database.findings() == [])
    #expect(directory.files["x"]?.count ?? 0 >= before.count)
    directory.refusePages(false)
    directory.fillDevice(false)
    try database.compact()
    #expect(try database.contents() == expected)
    #expect(try database.findings() == [])
  }

  @Test func aDamagedStoreStaysAsItIs() throws {
    let files = MemoryDirectory()
    try makeSparse(files).close()
    var random = SeededGenerator()
    let slots = 32768..<(try #require(files["x"]).count)
    for _ in 0..<20 {
      let damaged = files.copy()
      let byte = slots.lowerBound + random.below(slots.count)
      damaged["x"]?[byte] ^= 1
      let before = try #require(damaged["x"])
      // A store whose page table has no root is not opened at all.
      guard let database = try? Database(in: damaged, name: "x", options: smallPages) else {
        continue
      }
      let isDamaged = try !database.findings().isEmpty
      do {
        try database.compact()
        #expect(!isDamaged, "byte \(byte)")
      } catch {
        guard case PageFileError.corruptPage = error else { throw error }
        #expect(isDamaged && damaged["x"] == before)
        try database.close()
        #expect(damaged["x"] == before)
      }
    }
  }

  /// Whoever stops between two steps, or dies there, loses nothing, and may begin anew.
  @Test func anInterruptedCompactionIsSound() throws {
    let files = MemoryDirectory()
    var database = try makeSparse(files)
    let expected = try database.contents()
    var stepCount = 0
    while true {
      var compaction = Compaction()
      var left = stepCount
      while left > 0, try database.compact(&compaction) { left -= 1 }
      if compaction.stage == .done { break }
      // As the process dies.
      database = try Database(in: files.copy(), name: "x", options: smallPages)
      #expect(try database.contents() == expected)
      #expect(try database.findings() == [])
      stepCount += 1
    }
    #expect(stepCount > 6)
  }
}
