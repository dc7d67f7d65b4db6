import PageFile
import Testing

/// Ending the use of the files while somebody on another thread is in the middle of something.
struct EndingRaceTests {
  /// A descriptor that is closed may belong to another file a moment later: what is written to it
  /// then destroys that file.
  @Test func suspendingWaitsForACheckpointOfAnotherThread() throws {
    let directory = StagedDirectory()
    let database = try Database(in: directory, name: "x", options: smallPages)
    try Rounds.write(1, to: database, .full)
    let suspension = Aside()
    directory.once({ $0.kind == .sync && $0.name == "x" }) {
      suspension.begin { try? database.suspend(checkpoints: false) }
      _ = suspension.hasEnded(withinMilliseconds: 200)
    }
    _ = try? database.checkpoint()
    #expect(suspension.hasEnded(withinMilliseconds: 5000))
    let late = directory.callsAfterClose
    #expect(late == [])
    directory.onCall(nil)
    try database.resume()
    #expect(try Rounds.read(database) == 1)
  }

  /// Whoever closes while another thread resumes must not come back with an open database.
  @Test func closingBesideResumingCloses() throws {
    let directory = StagedDirectory()
    let database = try Database(in: directory, name: "x", options: smallPages)
    try Rounds.write(1, to: database)
    try database.suspend()
    let closing = Aside()
    directory.once({ $0.kind == .open && $0.name == "x" }) {
      closing.begin { try? database.close() }
      _ = closing.hasEnded(withinMilliseconds: 200)
    }
    try database.resume()
    #expect(closing.hasEnded(withinMilliseconds: 5000))
    #expect(throws: PageFileError.closed) { _ = try database.beginRead() }
    let next = try Database(in: directory.files, name: "x", options: smallPages)
    #expect(try Rounds.read(next) == 1)
  }

  /// Two threads that resume get one new engine; the one that comes second finds it in use.
  @Test func resumingTwiceAtOnceIsNoError() throws {
    let directory = StagedDirectory()
    let database = try Database(in: directory, name: "x", options: smallPages)
    try Rounds.write(1, to: database)
    try database.suspend()
    let other = Aside()
    let failure = Locked<PageFileError?>(nil)
    directory.once({ $0.kind == .open && $0.name == "x" }) {
      other.begin {
        do throws(PageFileError) {
          try database.resume()
        } catch {
          failure.withLock { $0 = error }
        }
      }
      _ = other.hasEnded(withinMilliseconds: 200)
    }
    try database.resume()
    #expect(other.hasEnded(withinMilliseconds: 5000))
    #expect(failure.withLock { $0 } == nil)
    #expect(try Rounds.read(database) == 1)
  }

  /// Beginning to read beside the owner reads files, which closing must wait for.
  @Test func closingWaitsForAReaderThatLooksForCommits() throws {
    let directory = StagedDirectory()
    let owner = try Database(in: directory.files, name: "x", options: smallPages)
    try Rounds.write(1, to: owner)
    var options = smallPages
    options.access = .readOnly
    let reader = try Database(in: directory, name: "x", options: options)
    try Rounds.write(2, to: owner)
    let closing = Aside()
    directory.once({ $0.kind == .read }) {
      closing.begin { try? reader.suspend() }
      _ = closing.hasEnded(withinMilliseconds: 200)
    }
    _ = try? reader.beginRead()
    #expect(closing.hasEnded(withinMilliseconds: 5000))
    let late = directory.callsAfterClose
    #expect(late == [])
  }

  /// A commit that another thread waits for on its way to the disk is not lost by handing over, and
  /// not reported as if it might be.
  @Test func suspendingMakesDurableWhatOthersWaitFor() throws {
    for _ in 0..<20 {
      let directory = StagedDirectory()
      let database = try Database(in: directory, name: "x", options: smallPages)
      try Rounds.write(1, to: database, .full)
      let writers = [Aside(), Aside()]
      let failures = Locked<[PageFileError]>([])
      let suspension = Aside()
      @Sendable func write(_ round: Int) {
        do throws(PageFileError) {
          try Rounds.write(round, to: database, .full)
        } catch {
          failures.withLock { $0.append(error) }
        }
      }
      directory.once({ $0.kind == .sync }) {
        // Now the first writer syncs; the second one commits and waits for its turn to.
        writers[1].begin { write(3) }
        _ = writers[1].hasEnded(withinMilliseconds: 20)
        suspension.begin { try? database.suspend(checkpoints: false) }
        _ = suspension.hasEnded(withinMilliseconds: 20)
      }
      writers[0].begin { write(2) }
      #expect(writers[0].hasEnded(withinMilliseconds: 5000))
      #expect(writers[1].hasEnded(withinMilliseconds: 5000))
      #expect(suspension.hasEnded(withinMilliseconds: 5000))
      // Or it came too late to commit.
      #expect(failures.withLock { $0.allSatisfy { $0 == .suspended } })
    }
  }

  /// Work that was asked for and has not begun is not begun once the files are somebody else's.
  @Test func nothingIsDoneForAnEngineThatHasEnded() throws {
    let directory = StagedDirectory()
    var options = smallPages
    options.backgroundWork = .caller
    let database = try Database(in: directory, name: "x", options: options)
    // So much that the log is to grow.
    try database.write { (source) throws(PageFileError) in
      for key in 0..<60 { try source.put([UInt8(key)], [UInt8](repeating: 1, count: 3000)) }
    }
    try database.suspend(checkpoints: false)
    #expect(throws: PageFileError.suspended) { _ = try database.beginWrite() }
    database.runBackgroundWork()
    let late = directory.callsAfterClose
    #expect(late == [])
  }

  /// A reader waits for nobody, whatever the log is having done to it.
  @Test func beginningToReadDoesNotWaitWhileTheLogIsErased() throws {
    let directory = StagedDirectory()
    let database = try Database(in: directory, name: "x", options: smallPages)
    try database.write { (source) throws(PageFileError) in
      source.isErasing = true
      try source.put([1], [1])
    }
    let writer = Aside()
    let reader = Aside()
    let hasRead = Locked(false)
    directory.once({ $0.kind == .write && $0.name != "x" && $0.offset == 4096 }) {
      writer.begin { try? Rounds.write(1, to: database) }
      _ = writer.hasEnded(withinMilliseconds: 100)
      reader.begin { _ = try? database.beginRead() }
      let ended = reader.hasEnded(withinMilliseconds: 5000)
      hasRead.withLock { $0 = ended }
    }
    try database.checkpoint()
    #expect(writer.hasEnded(withinMilliseconds: 5000))
    #expect(reader.hasEnded(withinMilliseconds: 5000))
    #expect(hasRead.withLock { $0 })
  }
}
