import PageFile
import Testing

/// A name that stands for another file than was opened, and what killed creations leave.
@Suite struct OwnershipTests {
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
    #expect(throws: PageFileError.poisoned) { _ = try database.beginWrite() }
    #expect(files[name] == bytes)
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
}
