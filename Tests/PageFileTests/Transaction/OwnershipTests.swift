import PageFile
import Testing

/// A name that stands for another file than was opened, and what killed creations leave.
struct OwnershipTests {
  /// Before the first write and before the log turns, so that nothing more is acknowledged than fits
  /// into one log file.
  @Test(arguments: ["x", "x-wal0", "x-wal1"])
  func aReplacedFileIsNoticedAtTheNextTurn(name: String) throws {
    let files = MemoryDirectory()
    let database = try Database(in: files, name: "x", options: smallPages)
    try Rounds.write(1, to: database)
    let bytes = files[name]
    files[name] = nil
    files[name] = bytes
    #expect(throws: PageFileError.fileReplaced(path: "memory:\(name)")) {
      try database.checkpoint()
    }
    // Whoever has not called for the checkpoint is told the cause, too.
    let replaced = PageFileError.fileReplaced(path: "memory:\(name)")
    #expect(throws: replaced) { _ = try database.beginWrite() }
    #expect(throws: replaced) { try database.checkpoint() }
    #expect(throws: replaced) { try database.close() }
    #expect(files[name] == bytes)
  }

  @Test(arguments: [0, 40_000])
  func aDataFileThatWasCutIsNoticedAtTheNextTurn(byteCount: Int) throws {
    let files = MemoryDirectory()
    let database = try Database(in: files, name: "x", options: smallPages)
    for round in 1...5 { try Rounds.write(round, to: database) }
    try database.checkpoint()
    try Rounds.write(6, to: database)
    try files.open("x", .readWrite).truncate(to: byteCount)
    let replaced = PageFileError.fileReplaced(path: "memory:x")
    #expect(throws: replaced) { try database.checkpoint() }
    #expect(throws: replaced) { _ = try database.beginWrite() }
  }

  @Test func noLogIsMadeBesideAReplacedFile() throws {
    let files = MemoryDirectory()
    let database = try Database(in: files, name: "x", options: smallPages)
    files["x"] = files["x"]
    #expect(throws: PageFileError.fileReplaced(path: "memory:x")) { _ = try database.beginWrite() }
    #expect(!files.exists("x-wal0") && !files.exists("x-wal1"))
  }

  @Test func whatAKilledCreationLeftIsRemovedUnlessItGoesOn() throws {
    let files = MemoryDirectory()
    let creator = try files.open("x-new", .create)
    #expect(try creator.tryLock())
    #expect(throws: PageFileError.busy(path: "memory:x-new")) {
      _ = try Database(in: files, name: "x", options: smallPages)
    }
    #expect(!files.exists("x"))
    creator.close()
    try Rounds.write(1, to: Database(in: files, name: "x", options: smallPages))
    #expect(files.exists("x") && !files.exists("x-new"))
  }

  /// Somebody takes an unlocked beginning for an abandoned one and makes his own, and is killed: that
  /// half of a store must not get the real name.
  @Test func aCreationThatWasTakenForAbandonedGivesUp() throws {
    let directory = StagedDirectory()
    let depth = Locked(0)
    directory.onCall { (call) throws(PageFileError) in
      guard call.kind == .create && call.name == "x-new" else { return }
      let isOuter = depth.withLock { depth in
        depth += 1
        return depth == 1
      }
      if !isOuter { throw .ioError(call: "kill", errno: 9, path: "x-new") }
      _ = try? Database(in: directory, name: "x", options: smallPages)
    }
    _ = try? Database(in: directory, name: "x", options: smallPages)
    directory.onCall(nil)
    let database = try Database(in: directory, name: "x", options: smallPages)
    try Rounds.write(1, to: database)
    #expect(try Rounds.read(database) == 1)
  }
}
