import PageFile
import Simulation
import Testing

/// What the simulated disk promises to those who believe its crash states.
struct SimulatedDiskTests {
  private let directory = SimulatedDirectory()

  private func makeFile(
    _ name: String = "a", byteCount: Int = 0
  ) throws(PageFileError) -> any StorageFile {
    let file = try directory.open(name, .create)
    try file.extend(to: byteCount)
    try file.sync()
    try directory.sync()
    return file
  }

  /// Writes a byte all over some sectors.
  private func fill(
    _ file: any StorageFile, sector: Int, count: Int = 1, with byte: UInt8
  ) throws(PageFileError) {
    try Bytes.with([UInt8](repeating: byte, count: count * 512)) { (bytes) throws(PageFileError) in
      try file.write(bytes, at: sector * 512)
    }
  }

  /// The first byte of each sector of a file; nil without the file.
  private func sectors(
    _ directory: SimulatedDirectory, _ name: String = "a"
  ) throws(PageFileError) -> [UInt8]? {
    guard try directory.exists(name) else { return nil }
    let file = try directory.open(name, .read)
    var buffer = ByteBuffer()
    buffer.append(zeros: try file.byteCount())
    _ = try file.read(into: buffer.mutableBytes, at: 0)
    let bytes = buffer.bytes.array()
    return stride(from: 0, to: bytes.count, by: 512).map { bytes[$0] }
  }

  private func cut(
    kept: [Range<Int>] = [], hasGarbage: Bool = false, _ profile: DiskProfile = .worst
  ) -> SimulatedDirectory {
    let cut = PowerCut(kept: kept, hasGarbage: hasGarbage)
    return SimulatedDirectory(directory.disk.afterPowerCut(cut, profile))
  }

  @Test func aCallIsSeenAtOnceAndLostWithoutASync() throws {
    let file = try makeFile(byteCount: 1024)
    try fill(file, sector: 1, with: 7)
    #expect(try sectors(directory) == [0, 7])
    #expect(try sectors(cut()) == [0, 0])
    #expect(try sectors(SimulatedDirectory(directory.disk)) == [0, 7])
  }

  @Test func aSyncConcernsItsFileOnly() throws {
    let first = try makeFile("a", byteCount: 512)
    let second = try makeFile("b", byteCount: 512)
    try fill(first, sector: 0, with: 1)
    try fill(second, sector: 0, with: 2)
    try first.sync()
    #expect(try sectors(cut(), "a") == [1])
    #expect(try sectors(cut(), "b") == [0])
  }

  @Test func aNameWaitsForTheDirectory() throws {
    let file = try directory.open("a", .create)
    try fill(file, sector: 0, with: 1)
    try file.sync()
    #expect(try sectors(cut()) == nil)
    #expect(try sectors(cut(), "a") == nil)
    #expect(try sectors(cut(kept: [0..<1])) == [1])
    #expect(try sectors(cut(.ext4)) == nil)
    try directory.sync()
    #expect(try sectors(cut()) == [1])
  }

  @Test func aNewNameAndTheOldOneAreLostOrKeptApart() throws {
    let file = try makeFile(byteCount: 512)
    try fill(file, sector: 0, with: 1)
    try file.sync()
    try directory.rename("a", to: "b")
    #expect(try directory.identity(of: "b") == file.identity())
    for (kept, hasOld, hasNew) in [
      ([], true, false), ([0..<1], true, true), ([1..<2], false, false), ([0..<2], false, true),
    ] as [([Range<Int>], Bool, Bool)] {
      #expect(try cut(kept: kept).exists("a") == hasOld)
      #expect(try cut(kept: kept).exists("b") == hasNew)
    }
    let both = cut(kept: [0..<1])
    #expect(try both.identity(of: "a")?.linkCount == 2)
    // A journal keeps the order.
    #expect(try cut(kept: [1..<2], .ext4).exists("a"))
  }

  @Test func anyPartOfAWriteMayBeThere() throws {
    let file = try makeFile(byteCount: 2048)
    try fill(file, sector: 0, count: 4, with: 9)
    #expect(directory.disk.pendingUnitCount == 4)
    #expect(try sectors(cut(kept: [0..<1, 2..<4])) == [9, 0, 9, 9])
    #expect(try sectors(cut(kept: [3..<4])) == [0, 0, 0, 9])
  }

  @Test func aLaterWriteMayArriveWithoutAnEarlierOne() throws {
    let file = try makeFile(byteCount: 1024)
    try fill(file, sector: 0, with: 1)
    try fill(file, sector: 1, with: 2)
    #expect(try sectors(cut(kept: [1..<2])) == [0, 2])
    // But not where all is as of one moment.
    #expect(try sectors(cut(kept: [1..<2], .btrfs)) == [0, 0])
  }

  @Test func aSizeAndItsBytesArriveApart() throws {
    let file = try makeFile(byteCount: 512)
    try fill(file, sector: 1, with: 5)
    #expect(try sectors(cut(kept: [0..<1])) == [0])
    #expect(try sectors(cut(kept: [1..<2])) == [0, 0])
    #expect(try sectors(cut(kept: [0..<2])) == [0, 5])
    // Where sizes wait for data, the size alone cannot be there.
    #expect(try sectors(cut(kept: [1..<2], .ext4)) == [0])
  }

  @Test func garbageIsOnlyWhereNothingWasBefore() throws {
    let file = try makeFile(byteCount: 512)
    try fill(file, sector: 0, count: 2, with: 5)
    let sizeOnly = try #require(try sectors(cut(kept: [2..<3], hasGarbage: true)))
    #expect(sizeOnly.count == 2 && sizeOnly[0] == 0 && sizeOnly[1] != 0)
  }

  @Test func aShorterFileComesBackLonger() throws {
    let file = try makeFile(byteCount: 1024)
    try fill(file, sector: 1, with: 5)
    try file.sync()
    try file.truncate(to: 512)
    #expect(try sectors(directory) == [0])
    #expect(try sectors(cut()) == [0, 5])
    try file.sync()
    try file.extend(to: 1024)
    #expect(try sectors(directory) == [0, 0])
  }

  @Test func aLiarLosesWhatItHasSynced() throws {
    let liar = SimulatedDirectory(SimulatedDisk(), .liar)
    let file = try liar.open("a", .create)
    try file.extend(to: 512)
    try file.sync()
    try liar.sync()
    let rest = SimulatedDirectory(liar.disk.afterPowerCut(PowerCut(), .liar))
    #expect(try !rest.exists("a"))
  }

  @Test func equalDisksHaveEqualHashesAndOthersNot() throws {
    let file = try makeFile(byteCount: 8192)
    let empty = directory.disk.contentHash
    try fill(file, sector: 3, with: 1)
    let written = directory.disk.contentHash
    try file.sync()
    let synced = directory.disk.contentHash
    #expect(Set([empty, written, synced]).count == 3)
    #expect(cut().disk.contentHash == synced)
    try fill(file, sector: 3, with: 0)
    try file.sync()
    #expect(directory.disk.contentHash == empty)
  }

  /// A captured disk does not change with the one it was captured from.
  @Test func aCapturedDiskStaysAsItWas() throws {
    let file = try makeFile(byteCount: 512)
    try fill(file, sector: 0, with: 1)
    let captured = directory.disk
    try fill(file, sector: 0, with: 2)
    try file.sync()
    #expect(try sectors(SimulatedDirectory(captured)) == [1])
  }

  @Test func theDeadChangeNothingAndMistakesAreNoticed() throws {
    let file = try makeFile(byteCount: 512)
    file.close()
    #expect(directory.misuse == nil)
    #expect(throws: PageFileError.self) { try file.sync() }
    #expect(directory.misuse != nil)
    directory.die()
    #expect(throws: PageFileError.self) { try directory.remove("a") }
    #expect(try SimulatedDirectory(directory.disk).exists("a"))
  }

  @Test func oneHandleHasTheLockUntilItIsClosed() throws {
    let first = try makeFile()
    let second = try directory.open("a", .readWrite)
    #expect(try first.tryLock())
    #expect(try !second.tryLock())
    first.close()
    #expect(try second.tryLock())
  }
}
