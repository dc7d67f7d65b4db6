import PageFile
import Simulation
import Testing

/// How calls fail on the simulated disk, and what is there afterwards.
struct SimulatedFaultTests {
  private let directory = SimulatedDirectory()

  /// A file of one durable sector of 1s.
  private func makeFile() throws(PageFileError) -> any StorageFile {
    let file = try directory.open("a", .create)
    try directory.sync()
    try write(1, to: file)
    try file.sync()
    return file
  }

  private func write(
    _ byte: UInt8, to file: any StorageFile, byteCount: Int = 512, at offset: Int = 0
  ) throws(PageFileError) {
    try Bytes.with([UInt8](repeating: byte, count: byteCount)) { (bytes) throws(PageFileError) in
      try file.write(bytes, at: offset)
    }
  }

  private func firstByte(_ disk: SimulatedDisk) throws(PageFileError) -> UInt8 {
    let file = try SimulatedDirectory(disk).open("a", .read)
    var buffer = ByteBuffer()
    buffer.append(zeros: 1)
    _ = try file.read(into: buffer.mutableBytes, at: 0)
    return buffer.bytes[0]
  }

  private var afterPowerCut: SimulatedDisk { directory.disk.afterPowerCut(PowerCut(), .worst) }

  /// Fails the first sync after a write of 2s, and answers what memory and medium hold then, and what
  /// the medium holds after a second sync.
  private func failSync(
    _ how: Fault.FailedSync
  ) throws -> (cached: UInt8, durable: UInt8, durableLater: UInt8) {
    let file = try makeFile()
    let syncCount = directory.callCounts[Fault.Call.sync.rawValue]
    directory.set(.fault(Fault(.sync, first: syncCount + 1, failedSync: how)))
    try write(2, to: file)
    #expect(throws: PageFileError.self) { try file.sync() }
    let cached = try firstByte(directory.disk)
    let durable = try firstByte(afterPowerCut)
    try file.sync()
    return (cached, durable, try firstByte(afterPowerCut))
  }

  @Test func aFailedSyncMayLeaveEverythingToTheNext() throws {
    #expect(try failSync(.keepsAll) == (2, 1, 2))
  }

  @Test func aFailedSyncMayLoseWhatMemoryGoesOnShowing() throws {
    #expect(try failSync(.showsNew) == (2, 1, 1))
  }

  @Test func aFailedSyncMayBringTheOldBytesBack() throws {
    #expect(try failSync(.showsOld) == (1, 1, 1))
  }

  @Test func aLossBeforeTheSyncIsToldByIt() throws {
    let (cached, durable, later) = try failSync(.tellsLate)
    #expect(cached == 1 || cached == 2)
    #expect(durable == 1 && later == 1)
  }

  @Test(arguments: [(Fault.FailedSync.showsNew, true), (.tellsOne, false)])
  func whoElseIsToldOfAFailedSync(how: Fault.FailedSync, isTold: Bool) throws {
    let file = try makeFile()
    let other = try directory.open("a", .readWrite)
    let syncCount = directory.callCounts[Fault.Call.sync.rawValue]
    directory.set(.fault(Fault(.sync, first: syncCount + 1, failedSync: how)))
    try write(2, to: file)
    #expect(throws: PageFileError.self) { try file.sync() }
    if isTold { #expect(throws: PageFileError.self) { try other.sync() } }
    try other.sync()
    // A handle opened later takes part in no loss that was told before.
    try directory.open("a", .readWrite).sync()
  }

  @Test(arguments: Fault.Reason.ofAnyCall) func callsFailFromTheNthOn(reason: Fault.Reason) throws {
    let file = try makeFile()
    let writeCount = directory.callCounts[Fault.Call.write.rawValue]
    directory.set(.fault(Fault(.write, first: writeCount + 2, count: 2, reason)))
    try write(2, to: file)
    for _ in 0..<2 { #expect(throws: PageFileError.self) { try write(3, to: file) } }
    if reason != .broken { #expect(try firstByte(directory.disk) == 2) }
    try write(4, to: file)
    #expect(try firstByte(directory.disk) == 4)
    #expect(directory.faultCount == 2)
  }

  @Test func allKindsOfCallsCanFailTogether() throws {
    let file = try makeFile()
    directory.set(.fault(Fault(nil, first: 1, count: .max, .locked)))
    let refusal = PageFileError.deviceLocked(call: "pwrite", path: "a")
    #expect(throws: refusal) { try write(2, to: file) }
    #expect(throws: PageFileError.self) { try file.sync() }
    #expect(throws: PageFileError.self) { try directory.open("b", .create) }
    #expect(throws: PageFileError.self) { try directory.sync() }
    directory.set(nil)
    try write(2, to: file)
  }

  @Test func aFullDiskRefusesWhatGrowsAndNothingElse() throws {
    let file = try makeFile()
    directory.set(.room(1024))
    #expect(throws: PageFileError.diskFull) { try file.extend(to: 1536) }
    #expect(throws: PageFileError.diskFull) { try write(2, to: file, byteCount: 1024, at: 512) }
    try write(2, to: file)
    try file.extend(to: 1024)
    #expect(try file.byteCount() == 1024)
  }

  /// With the disk free to be used, as it is for another thread.
  @Test func somebodyElseCanUseTheDiskBeforeACall() throws {
    let file = try makeFile()
    let other = try directory.open("a", .readWrite)
    let directory = directory
    directory.interrupt { path in
      directory.interrupt { _ in }
      try? Bytes.with([UInt8](repeating: 8, count: 512)) { (bytes) throws(PageFileError) in
        try other.write(bytes, at: 512)
      }
    }
    try write(2, to: file)
    #expect(try file.byteCount() == 1024)
  }
}
