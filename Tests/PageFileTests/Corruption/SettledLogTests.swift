import PageFile
import Testing

/// A data file that was copied before its log: it lacks commits that a checkpoint has moved into the
/// real one, and the log says so even where these commits were overwritten or cut off.
struct SettledLogTests {
  private func erase(_ key: UInt8, in database: Database) throws {
    try database.write(.full) { (source) throws(PageFileError) in
      source.isErasing = true
      try source.remove([1, key])
    }
  }

  /// The log was overwritten because something in it was erased, then begun anew or not.
  @Test func anOlderDataFileIsRefusedBesideALogThatWasOverwritten() throws {
    let directory = MemoryDirectory()
    let database = try Database(in: directory, name: "x", options: smallPages)
    try Rounds.write(1, to: database, .full)
    try database.checkpoint()
    try Rounds.write(2, to: database, .full)
    let early = directory.copy()
    try erase(3, in: database)
    try database.checkpoint()
    // The log that the early data file names holds zeros now, under its old header.
    let later = directory.copy()
    for names in [["x-wal0", "x-wal1"], ["x-wal0"], ["x-wal1"]] {
      let mixed = early.copy()
      for name in names { mixed[name] = later[name] }
      do {
        let opened = try Database(in: mixed, name: "x", options: smallPages)
        let seen = try Rounds.read(opened)
        #expect(seen == 2, "\(names): opened at round \(seen), older than either")
      } catch PageFileError.walMismatch, PageFileError.corruptWAL {
      }
    }
    let whole = try Database(in: later, name: "x", options: smallPages)
    #expect(try whole.findings() == [])
  }

  /// Closing cuts the log to its smallest size, through commits that are in the data file.
  @Test func anOlderDataFileIsRefusedBesideALogThatWasCut() throws {
    let directory = MemoryDirectory()
    var database = try Database(in: directory, name: "x", options: smallPages)
    try Rounds.write(1, to: database, .full)
    try database.checkpoint()
    let early = directory.copy()
    for round in 2...60 { try Rounds.write(round, to: database, .full) }
    try database.close()
    database = try Database(in: directory, name: "x", options: smallPages)
    #expect(try Rounds.read(database) == 60)
    let mixed = directory.copy()
    mixed["x"] = early["x"]
    #expect(throws: PageFileError.self) {
      try Database(in: mixed, name: "x", options: smallPages)
    }
  }

  /// Data file and logs of all pairs of moments of a store that erases, checkpoints, and is closed.
  @Test func noMixOfTwoMomentsOpensOlderThanEither() throws {
    var random = SeededGenerator()
    var moments: [(files: MemoryDirectory, round: Int)] = []
    let directory = MemoryDirectory()
    var database = try Database(in: directory, name: "x", options: smallPages)
    for round in 1...24 {
      try database.write(.full) { (source) throws(PageFileError) in
        source.isErasing = random.below(3) == 0
        try Rounds.write(round, to: source)
      }
      moments.append((directory.copy(), round))
      switch random.below(5) {
      case 0: try database.checkpoint()
      case 1:
        try database.close()
        moments.append((directory.copy(), round))
        database = try Database(in: directory, name: "x", options: smallPages)
      default: continue
      }
      moments.append((directory.copy(), round))
    }
    var counts = (refused: 0, opened: 0)
    for data in moments {
      for log in moments {
        for names in [["x-wal0", "x-wal1"], ["x-wal0"], ["x-wal1"]] {
          let mixed = data.files.copy()
          for name in names { mixed[name] = log.files[name] }
          do {
            let round = try Rounds.read(Database(in: mixed, name: "x", options: smallPages))
            counts.opened += 1
            #expect(
              round >= min(data.round, log.round),
              "data of \(data.round), \(names) of \(log.round) open at \(round)")
          } catch is PageFileError {
            counts.refused += 1
          }
        }
      }
    }
    #expect(counts.refused > 0 && counts.opened > moments.count)
  }
}
