import PageFile
import Testing

/// A store that was killed is opened: its log is read and nothing is written until somebody writes.
struct FoundLogTests {
  /// The files as a killed process leaves them, with some commits in the data file and some in the log.
  private func killed(after round: Int) throws -> MemoryDirectory {
    let directory = MemoryDirectory()
    let database = try Database(in: directory, name: "x", options: smallPages)
    for number in 1...round {
      try Rounds.write(number, to: database, .full)
      if number == round / 2 { try database.checkpoint() }
    }
    return directory.copy()
  }

  private func contents(_ files: MemoryDirectory) -> [[UInt8]?] {
    ["x", "x-wal0", "x-wal1"].map { files[$0] }
  }

  /// Counts what changes the files or waits for the medium.
  private func counting(_ files: MemoryDirectory) -> (StagedDirectory, Locked<Int>) {
    let staged = StagedDirectory(files)
    let count = Locked(0)
    staged.onCall { call in
      if call.kind != .open && call.kind != .read { count.withLock { $0 += 1 } }
    }
    return (staged, count)
  }

  @Test func nothingIsWrittenOrSyncedBeforeTheFirstWrite() throws {
    let files = try killed(after: 6)
    let before = contents(files)
    let (staged, count) = counting(files)
    let database = try Database(in: staged, name: "x", options: smallPages)
    #expect(try Rounds.read(database) == 6)
    #expect(try database.findings() == [])
    #expect(count.withLock { $0 } == 0)
    #expect(contents(files) == before)
    try Rounds.write(7, to: database, .full)
    #expect(try Rounds.read(database) == 7)
    #expect(count.withLock { $0 } > 0)
  }

  /// What was read from the log may be in the system's memory only.
  @Test func whatWasFoundIsNotCalledDurableBeforeItIs() throws {
    let files = try killed(after: 6)
    let database = try Database(in: files, name: "x", options: smallPages)
    let found = database.statistics
    #expect(found.lastLSN == LSN(6) && found.durableLSN == LSN(3))
    #expect(try database.beginWrite().commit(.full) == LSN(6))
    #expect(database.statistics.durableLSN >= LSN(6))
    #expect(database.statistics.loggedPageCount == 0)
  }

  @Test func aTransactionThatChangesNothingIsDurableAtFull() throws {
    let database = try Database(in: killed(after: 6), name: "x", options: smallPages)
    #expect(try database.beginWrite().commit(.full) == LSN(6))
    #expect(database.statistics.durableLSN == LSN(6))
  }

  @Test(arguments: [true, false]) func aCheckpointOrTheClosingMovesWhatWasFound(
    closes: Bool
  ) throws {
    let files = try killed(after: 6)
    let database = try Database(in: files, name: "x", options: smallPages)
    if closes { try database.close() } else { try database.checkpoint() }
    let again = try Database(in: files.copy(), name: "x", options: smallPages)
    #expect(try Rounds.read(again) == 6)
    #expect(again.statistics.loggedPageCount == 0)
    #expect(again.statistics.durableLSN == LSN(6))
  }

  @Test func lettingGoOfItWithoutAWriteLeavesACleanFile() throws {
    let files = try killed(after: 6)
    var database: Database? = try Database(in: files, name: "x", options: smallPages)
    #expect(try database.map(Rounds.read) == 6)
    database = nil
    let (staged, count) = counting(files)
    let again = try Database(in: staged, name: "x", options: smallPages)
    #expect(try Rounds.read(again) == 6)
    try again.close()
    #expect(count.withLock { $0 } == 0, "a clean store that is only read is not written to")
  }

  @Test func suspendingWithoutACheckpointWritesNothing() throws {
    let files = try killed(after: 6)
    let before = contents(files)
    let database = try Database(in: files, name: "x", options: smallPages)
    #expect(try Rounds.read(database) == 6)
    try database.suspend(checkpoints: false)
    #expect(contents(files) == before)
    try database.resume()
    try Rounds.write(7, to: database, .full)
    #expect(try Rounds.read(database) == 7)
  }

  /// The first write moves the log while somebody reads what was found.
  @Test func aReaderOfWhatWasFoundGoesOnBesideTheFirstWrites() throws {
    let database = try Database(in: killed(after: 6), name: "x", options: smallPages)
    let reader = try database.beginRead()
    for round in 7...12 {
      try Rounds.write(round, to: database, .full)
      try database.checkpoint()
      #expect(try Rounds.round(of: PageFileTests.contents(of: reader.source)) == 6)
    }
    #expect(try Rounds.read(database) == 12)
    #expect(try database.findings() == [])
  }

  /// Whatever page is damaged: an opening, or a first write, that is refused changes nothing.
  @Test func damageThatTheFirstWriteMeetsLeavesTheFilesAsTheyAre() throws {
    let directory = MemoryDirectory()
    let database = try Database(in: directory, name: "x", options: smallPages)
    try Rounds.write(1, to: database, .full)
    try database.checkpoint()
    try Rounds.write(2, to: database, .full)
    let files = directory.copy()
    let slotCount = try #require(files["x"].map { ($0.count - 32768) / 4096 })
    var hitCount = 0
    for slot in 0..<slotCount {
      let damaged = files.copy()
      damaged.damage("x", 32768 + slot * 4096 + 100..<32768 + slot * 4096 + 200)
      let before = contents(damaged)
      do {
        let opened = try Database(in: damaged, name: "x", options: smallPages)
        _ = try? opened.contents()
        do {
          try Rounds.write(3, to: opened, .full)
        } catch {
          hitCount += 1
          #expect(contents(damaged) == before, "slot \(slot): \(error), but changed")
          try? opened.close()
        }
      } catch {
        hitCount += 1
        #expect(contents(damaged) == before, "slot \(slot): refused with \(error), but changed")
      }
    }
    #expect(hitCount > 0)
  }
}
