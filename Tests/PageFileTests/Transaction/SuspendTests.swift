import PageFile
import Simulation
import Testing

/// Handing the files over and taking them up again, and the way out of `poisoned`.
struct SuspendTests {
  @Test(arguments: [true, false]) func aSuspendedDatabaseLetsAnotherOwnerIn(checkpoints: Bool)
    throws
  {
    let files = MemoryDirectory()
    let first = try Database(in: files, name: "x", options: smallPages)
    try Rounds.write(1, to: first)
    let reader = try first.beginRead()
    #expect(throws: PageFileError.busy(path: "memory:x")) {
      _ = try Database(in: files, name: "x", options: smallPages)
    }
    try first.suspend(checkpoints: checkpoints)
    #expect(throws: PageFileError.suspended) { _ = try first.beginRead() }
    #expect(throws: PageFileError.suspended) { _ = try first.beginWrite() }
    #expect(throws: PageFileError.suspended) { try first.checkpoint() }
    #expect(throws: PageFileError.snapshotExpired) { _ = try contents(of: reader.source) }

    let second = try Database(in: files, name: "x", options: smallPages)
    #expect(try Rounds.read(second) == 1)
    try Rounds.write(2, to: second)
    #expect(throws: PageFileError.busy(path: "memory:x")) { try first.resume() }
    #expect(throws: PageFileError.suspended) { _ = try first.beginRead() }
    try second.suspend(checkpoints: !checkpoints)

    try first.resume()
    try first.resume()
    #expect(try Rounds.read(first) == 2)
    try Rounds.write(3, to: first)
    #expect(throws: PageFileError.snapshotExpired) { _ = try contents(of: reader.source) }
    try first.close()
    try second.resume()
    #expect(try Rounds.read(second) == 3)
    #expect(try second.findings() == [])
  }

  @Test func aClosedDatabaseStaysClosed() throws {
    let database = try Database(in: MemoryDirectory(), name: "x", options: smallPages)
    try Rounds.write(1, to: database)
    try database.suspend()
    try database.suspend()
    try database.close()
    try database.suspend()
    #expect(throws: PageFileError.closed) { try database.resume() }
    #expect(throws: PageFileError.closed) { _ = try database.beginRead() }
  }

  @Test func aStoreThatIsGoneOrAnotherIsNotResumed() throws {
    let files = MemoryDirectory()
    let database = try Database(in: files, name: "x", options: smallPages)
    try Rounds.write(1, to: database)
    try database.suspend()
    let kept = ["x", "x-wal0", "x-wal1"].map { files[$0] }
    for name in ["x", "x-wal0", "x-wal1"] { files[name] = nil }
    #expect(throws: PageFileError.mainFileMissing(path: "memory:x")) { try database.resume() }
    #expect(!files.exists("x"))
    try Rounds.write(5, to: Database(in: files, name: "x", options: smallPages))
    #expect(throws: PageFileError.fileReplaced(path: "memory:x")) { try database.resume() }
    for (name, bytes) in zip(["x", "x-wal0", "x-wal1"], kept) { files[name] = bytes }
    try database.resume()
    #expect(try Rounds.read(database) == 1)
  }

  /// A sync fails once; what it was to make durable was written, so it is there after resuming.
  @Test func aPoisonedDatabaseGoesOnOnceItIsResumed() throws {
    let directory = FailingDirectory()
    let database = try Database(in: directory, name: "x", options: smallPages)
    try Rounds.write(1, to: database)
    directory.failSyncs(ofFilesAfter: 0)
    #expect(throws: PageFileError.commitUnknown(LSN(2))) {
      try Rounds.write(2, to: database, .full)
    }
    #expect(database.isPoisoned)
    #expect(throws: PageFileError.poisoned) { _ = try database.beginWrite() }
    #expect(try Rounds.read(database) == 2)
    directory.failSyncs()
    #expect(throws: PageFileError.poisoned) { _ = try database.beginWrite() }
    try database.resume()
    #expect(!database.isPoisoned)
    #expect(try Rounds.read(database) == 2)
    try Rounds.write(3, to: database)
    #expect(try Rounds.read(database) == 3)
    #expect(try database.findings() == [])
    #expect(directory.maximumCloseCount == 1)
  }

  /// A checkpoint on another thread is under way: its files must not be closed under its hands, whose
  /// numbers may stand for other files a moment later.
  @Test(arguments: [true, false]) func suspendingWaitsForACheckpoint(checkpoints: Bool) throws {
    let directory = SlowDirectory()
    let database = try Database(in: directory, name: "x", options: smallPages)
    try Rounds.write(1, to: database)
    directory.holdNextSync()
    let threads = (0..<2).map { _ in Worker() }
    threads[0].enqueue { try? database.checkpoint() }
    directory.waitUntilHeld()
    let hasReturned = Locked(false)
    threads[1].enqueue {
      try? database.suspend(checkpoints: checkpoints)
      hasReturned.withLock { $0 = true }
    }
    // Long enough for one that does not wait.
    let waiting = Lock()
    waiting.withLock { waiting.wait(milliseconds: 20) }
    #expect(!hasReturned.withLock { $0 })
    directory.letGo()
    for thread in threads { thread.stop() }
    #expect(directory.callsAfterClosing == [])
    try database.resume()
    #expect(try Rounds.read(database) == 1)
  }

  /// A sync that fails while the store is suspended may have lost commits that were not durable.
  @Test(arguments: [true, false]) func aFailedSyncIsToldByWhoeverSuspends(checkpoints: Bool) throws
  {
    let directory = SimulatedDirectory(SimulatedDisk())
    var options = smallPages
    options.backgroundWork = .caller
    let database = try Database(in: directory, name: "x", options: options)
    try Rounds.write(1, to: database, .full)
    try Rounds.write(2, to: database, .relaxed)
    let syncCount = directory.callCounts[Fault.Call.sync.rawValue]
    directory.set(.fault(Fault(.sync, first: syncCount + 1, failedSync: .showsOld)))
    #expect(throws: PageFileError.self) { try database.suspend(checkpoints: checkpoints) }
    directory.set(nil)
    // It is suspended all the same.
    #expect(throws: PageFileError.suspended) { try Rounds.read(database) }
    try database.resume()
    #expect(try Rounds.read(database) == 1)
    try Rounds.write(3, to: database, .full)
    #expect(try Rounds.read(database) == 3)
  }

  @Test func suspendingTwiceThrowsNothing() throws {
    let database = try Database(in: MemoryDirectory(), name: "x", options: smallPages)
    try Rounds.write(1, to: database, .relaxed)
    try database.suspend()
    try database.suspend()
    try database.close()
    try database.suspend()
  }
}
