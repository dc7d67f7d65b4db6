import PageFile
import Testing

/// What is kept for a full device is there when it is needed.
struct ReserveTests {
  private func makeStore(_ directory: StagedDirectory) throws -> Database {
    let database = try Database(in: directory, name: "x", options: smallPages)
    try database.write { (source) throws(PageFileError) in
      for key in 0..<400 { try source.put(bigEndian(key), [UInt8](repeating: 7, count: 900)) }
    }
    try database.checkpoint()
    return database
  }

  /// The slots that a running checkpoint has taken were reserved for it, so they are not missing.
  @Test func deletionsGoOnWhileACheckpointRuns() throws {
    let directory = StagedDirectory()
    let database = try makeStore(directory)
    try database.write { (source) throws(PageFileError) in
      for key in 100..<400 { try source.put(bigEndian(key), [UInt8](repeating: 8, count: 900)) }
    }
    let writer = Aside()
    let stage = Stage()
    let failure = Locked<PageFileError?>(nil)
    directory.onCall { (call) throws(PageFileError) in
      if call.kind == .extend { throw .diskFull }
      guard call.kind == .sync else { return }
      if call.name == "x" {
        // The pages are written.
        if stage.reach(2) { _ = writer.hasEnded(withinMilliseconds: 5000) }
      } else if stage.reach(1) {
        // Before a page is.
        writer.begin {
          do throws(PageFileError) {
            try database.write(.relaxed) { (source) throws(PageFileError) in
              source.usesReserve = true
              for key in 0..<8 { try source.remove(bigEndian(key)) }
              stage.wait(for: 2)
            }
          } catch {
            failure.withLock { $0 = error }
          }
        }
        _ = writer.hasEnded(withinMilliseconds: 50)
      }
    }
    try database.checkpoint()
    #expect(writer.hasEnded(withinMilliseconds: 5000))
    #expect(failure.withLock { $0 } == nil)
  }

  /// Giving back what the log has grown by leaves the bytes that are kept.
  @Test func shrinkingTheLogLeavesWhatIsKept() throws {
    let directory = StagedDirectory()
    let database = try makeStore(directory)
    try Rounds.write(1, to: database)
    // Commits of 216 KiB while a checkpoint runs.
    directory.once({ $0.kind == .sync && $0.name == "x" }) {
      for key in 0..<53 {
        try? database.write { (source) throws(PageFileError) in
          try source.put([9, UInt8(key)], [UInt8](repeating: UInt8(key), count: 3600))
        }
      }
    }
    try database.checkpoint()
    directory.onCall { (call) throws(PageFileError) in
      if call.kind == .extend { throw .diskFull }
    }
    try database.write { (source) throws(PageFileError) in
      source.usesReserve = true
      for key in 0..<13 {
        try source.put([9, UInt8(key)], [UInt8](repeating: 200 - UInt8(key), count: 3600))
      }
    }
  }
}

/// How far a test has come that several threads play.
private final class Stage: Sendable {
  private let reached = Locked(0)

  /// Goes on to a stage; false when that was reached before.
  func reach(_ stage: Int) -> Bool {
    reached.withLock { reached in
      if reached >= stage { return false }
      reached = stage
      return true
    }
  }

  func wait(for stage: Int) {
    let lock = Lock()
    while reached.withLock({ $0 < stage }) { lock.withLock { lock.wait(milliseconds: 2) } }
  }
}
