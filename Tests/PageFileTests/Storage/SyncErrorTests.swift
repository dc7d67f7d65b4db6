import PageFile
import Simulation
import Testing

/// A failed sync is final: what it was to write may be lost, and the next one would succeed without
/// it.
struct SyncErrorTests {
  /// EIO, ENOSPC, EDQUOT.
  @Test(arguments: [Int32(5), 28, 122]) func whatTheWriteBackMetIsAnInputOutputError(code: Int32) {
    let error = SystemCall.syncError("fdatasync", "x", code)
    #expect(error == .ioError(call: "fdatasync", errno: code, path: "x"))
  }

  /// EPERM, EACCES: outside of Apple's systems they come from the write-back, too.
  @Test(arguments: [Int32(1), 13]) func onlyALockedAppleDeviceRefusesASync(code: Int32) {
    let error = SystemCall.syncError("fdatasync", "x", code)
    #if canImport(Darwin)
      #expect(error == .deviceLocked(call: "fdatasync", path: "x"))
    #else
      #expect(error == .ioError(call: "fdatasync", errno: code, path: "x"))
    #endif
  }

  #if !canImport(Darwin)
    /// A network file system refuses the write-back of a commit, tells of it once, and syncs the next
    /// one: nothing after it may be acknowledged.
    @Test(arguments: [Fault.FailedSync.showsNew, .showsOld])
    func noCommitIsAcknowledgedAfterARefusedWriteBack(how: Fault.FailedSync) throws {
      let directory = SimulatedDirectory(SimulatedDisk())
      let database = try Database(in: directory, name: "x")
      try Rounds.write(1, to: database, .full)
      let syncCount = directory.callCounts[Fault.Call.sync.rawValue]
      directory.set(.fault(Fault(.sync, first: syncCount + 1, .refused, failedSync: how)))
      #expect(throws: PageFileError.self) { try Rounds.write(2, to: database, .full) }
      directory.set(nil)
      #expect(throws: PageFileError.poisoned) { try Rounds.write(3, to: database, .full) }
      try database.resume()
      try Rounds.write(4, to: database, .full)
      #expect(try Rounds.read(database) == 4)
    }
  #endif
}
