import PageFile
import Synchronization
import Testing

/// A store that is opened, written, and closed over and over, and one that is read beside that.
struct ReopeningTests {
  /// A clean close begins the log that the next opening goes on with, in either of the two files.
  @Test func everyReopeningHasEveryCommit() throws {
    let directory = MemoryDirectory()
    var logs: Set<Int> = []
    for round in 1...4 {
      let database = try Database(in: directory, name: "x", options: smallPages)
      #expect(try Rounds.read(database) == round - 1)
      try Rounds.write(round, to: database, .full)
      logs.insert(try currentLog(directory))
      if round == 2 {
        // Two turns until the close is done: the next opening begins its log in the other file.
        try database.checkpoint()
        try Rounds.write(round, to: database, .full)
      }
      // Killed now, it has the commit as well.
      let killed = try Database(in: directory.copy(), name: "x", options: smallPages)
      #expect(try Rounds.read(killed) == round)
      try database.close()
      let reopened = try Database(in: directory, name: "x", options: smallPages)
      #expect(try Rounds.read(reopened) == round)
      #expect(try reopened.findings() == [])
      try reopened.close()
    }
    #expect(logs == [0, 1], "each file was the current log of an opening")
  }

  /// Which WAL file is of the later generation.
  private func currentLog(_ directory: MemoryDirectory) throws -> Int {
    let counters = try ["x-wal0", "x-wal1"].map { name in
      let bytes = try #require(directory[name])
      return Bytes.with(Array(bytes[..<WALHeader.byteCount])) { WALHeader($0) }?
        .generation.counter ?? 0
    }
    return counters[0] > counters[1] ? 0 : 1
  }

  /// The owner turns its log all the time and uses slots again as soon as it may; whoever reads the
  /// files beside it sees commits one after the other, or is told to try again.
  @Test func aReaderBesideACheckpointingOwnerSeesCommitsOnly() throws {
    let directory = MemoryDirectory()
    let owner = try Database(in: directory, name: "x", options: smallPages)
    try Rounds.write(1, to: owner)
    let isDone = Atomic<Bool>(false)
    let failures = Locked<[String]>([])
    let writer = Worker()
    writer.enqueue {
      let end = ContinuousClock.now + .seconds(1)
      var round = 1
      do {
        while ContinuousClock.now < end {
          round += 1
          try Rounds.write(round, to: owner)
          try owner.checkpoint()
        }
      } catch {
        failures.withLock { $0.append("round \(round): \(error)") }
      }
      isDone.store(true, ordering: .releasing)
    }
    var options = smallPages
    options.access = .readOnly
    let reader = try Database(in: directory, name: "x", options: options)
    var last = 1
    var seen: Set<Int> = []
    while !isDone.load(ordering: .acquiring) {
      do {
        let round = try Rounds.read(reader)
        #expect(round >= last)
        last = round
        seen.insert(round)
      } catch PageFileError.snapshotExpired, PageFileError.busy {
      }
    }
    writer.stop()
    #expect(failures.withLock { $0 } == [])
    #expect(seen.count > 1)
    #expect(try Rounds.read(reader) == Rounds.read(owner))
    #expect(try owner.findings() == [])
  }
}
