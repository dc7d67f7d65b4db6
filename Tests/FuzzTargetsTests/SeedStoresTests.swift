import FuzzTargets
import PageFile
import Simulation
import Testing

/// The stores that edits start from are sound, and have what is worth damaging: otherwise the fuzzer
/// would run all day and see nothing.
struct SeedStoresTests {
  @Test func everySeedIsASoundStore() throws {
    #expect(SeedStores.layouts.count == SeedStores.shapeCount)
    for (pageByteCount, disk) in SeedStores.layouts {
      let database = try open(disk)
      var findings: [CheckFinding] = []
      try database.check { findings.append($0) }
      #expect(findings == [], "pages of \(pageByteCount) bytes")
      try database.close()
    }
  }

  /// What is random in a new store would make an input mean something else in each run.
  @Test func seedsAreTheSameInEachRun() throws {
    let ids = Set(SeedStores.layouts.map { Array((bytes($0.disk, 0) ?? [])[40..<56]) })
    #expect(ids == [Array("the fuzzed store".utf8)])
  }

  @Test func seedsHaveEachStructure() throws {
    let layouts = SeedStores.layouts
    #expect(Set(layouts.map(\.pageByteCount)) == [4096, 8192, 16384, 32768])
    var kinds: Set<UInt8> = []
    var levels: Set<UInt8> = []
    var tableHeights: Set<UInt8> = []
    var logsInUse = 0
    for (pageByteCount, disk) in layouts {
      let data = try #require(bytes(disk, 0))
      tableHeights.insert(data[98])
      for page in stride(from: 32768, to: data.count - pageByteCount + 1, by: pageByteCount) {
        kinds.insert(data[page + PageHeader.kindOffset])
        levels.insert(data[page + PageHeader.levelOffset])
      }
      let logs = [1, 2].compactMap { bytes(disk, $0) }
      let hasCommits = logs.count {
        $0.count > 4100 && Array($0[4096..<4100]) == Array("CMT1".utf8)
      }
      logsInUse = max(logsInUse, hasCommits)
    }
    #expect(kinds.isSuperset(of: [1, 2, 3, 4]))
    #expect(levels.isSuperset(of: [0, 1, 2]))
    #expect(tableHeights == [0, 1, 2])
    #expect(logsInUse == 2)
  }

  /// Both logs count only if a reader goes from the one to the other.
  @Test func commitsOfBothLogsAreRead() throws {
    let reached = try SeedStores.layouts.map { layout in
      let database = try open(layout.disk)
      defer { try? database.close() }
      return Int(database.statistics.lastLSN.rawValue)
    }
    // The third shape: one commit before the checkpoint, one in the first log, two in the second.
    #expect(reached[2] == 4)
  }

  private func open(_ disk: SimulatedDisk) throws(PageFileError) -> Database {
    var options = DatabaseOptions()
    options.access = .readOnly
    return try Database(in: SimulatedDirectory(disk), name: "x", options: options)
  }

  private func bytes(_ disk: SimulatedDisk, _ file: Int) -> [UInt8]? {
    disk.bytes(of: ["x", "x-wal0", "x-wal1"][file])
  }
}
