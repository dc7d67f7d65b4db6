import PageFile
import Testing

/// Devices that are locked or full for a while: what cannot be done now is refused, nothing changes,
/// and the same calls succeed later.
struct RefusalTests {
  private func isLocked(_ body: () throws(PageFileError) -> Void) -> Bool {
    do throws(PageFileError) {
      try body()
      return false
    } catch {
      if case .deviceLocked = error { return true }
      return false
    }
  }

  @Test func aLockedDeviceRefusesAndIsTriedAgain() throws {
    let directory = FailingDirectory()
    let database = try Database(in: directory, name: "x", options: smallPages)
    directory.lockDevice(true)
    #expect(throws: PageFileError.self) { try Rounds.write(1, to: database, .full) }
    directory.lockDevice(false)
    try Rounds.write(1, to: database, .full)
    directory.lockDevice(true)
    // Nothing can be written: nothing has happened.
    #expect(isLocked { () throws(PageFileError) in try Rounds.write(2, to: database, .full) })
    #expect(try Rounds.read(database) == 1)
    #expect(isLocked { () throws(PageFileError) in try database.checkpoint() })
    #expect(!database.isPoisoned)
    directory.lockDevice(false)
    try Rounds.write(3, to: database, .full)
    try database.checkpoint()
    #expect(try Rounds.read(Database(in: directory.files.copy(), name: "x")) == 3)
    #expect(try database.findings() == [])
  }

  /// Refused at the n-th sync of a checkpoint, for each n; the next one does all of it.
  @Test(arguments: 0..<8) func aCheckpointThatALockedDeviceCutsShortIsTriedAgain(at sync: Int)
    throws
  {
    let directory = FailingDirectory()
    let database = try Database(in: directory, name: "x", options: smallPages)
    for round in 1...20 {
      try Rounds.write(round, to: database)
      directory.lockDevice(afterSyncs: sync)
      _ = try? database.checkpoint()
      directory.lockDevice(false)
      #expect(!database.isPoisoned)
      #expect(try Rounds.read(Database(in: directory.files.copy(), name: "x")) == round)
    }
    try database.checkpoint()
    #expect(try database.findings() == [])
    let slotCount = directory.files["x"].map { $0.count / 4096 } ?? 0
    #expect(slotCount < 400, "what the attempts took is given back")
  }

  @Test func aFullDeviceRefusesWhatGrowsAndTakesWhatMakesRoom() throws {
    let directory = FailingDirectory()
    let database = try Database(in: directory, name: "x", options: smallPages)
    func put(_ range: Range<Int>) throws {
      try database.write(.full) { (source) throws(PageFileError) in
        for key in range {
          try source.put(bigEndian(key), [UInt8](repeating: UInt8(key & 255), count: 900))
        }
      }
    }
    for start in stride(from: 0, to: 3000, by: 100) { try put(start..<start + 100) }
    try database.checkpoint()
    directory.fillDevice(true)
    var refusedAt: Int?
    for start in stride(from: 3000, to: 9000, by: 20) where refusedAt == nil {
      do throws(any Error) {
        try put(start..<start + 20)
      } catch PageFileError.diskFull {
        refusedAt = start
      }
    }
    let end = try #require(refusedAt)
    #expect(!database.isPoisoned)
    #expect(try database.contents().count == end)
    // Deletions go on for as long as there is anything to delete.
    for start in stride(from: 0, to: end, by: 10) {
      try database.write(.full) { (source) throws(PageFileError) in
        source.usesReserve = true
        for key in start..<start + 10 { try source.remove(bigEndian(key)) }
      }
    }
    #expect(try database.contents().isEmpty)
    let byteCount = directory.files["x"]?.count ?? 0
    try database.checkpoint()
    // What they freed goes back to the device.
    #expect((directory.files["x"]?.count ?? .max) < byteCount / 4)
    directory.fillDevice(false)
    try put(0..<100)
    try database.close()
    let reopened = try Database(in: directory, name: "x", options: smallPages)
    #expect(try reopened.contents().count == 100)
    #expect(try reopened.findings() == [])
  }

  /// The room that is kept is there again after closing, so a full device does not lock people out.
  @Test func aFullDeviceTakesDeletionsInAStoreThatWasClosed() throws {
    let directory = FailingDirectory()
    let database = try Database(in: directory, name: "x", options: smallPages)
    try Rounds.write(30, to: database)
    try database.close()
    directory.fillDevice(true)
    let reopened = try Database(in: directory, name: "x", options: smallPages)
    try reopened.write(.full) { (source) throws(PageFileError) in
      source.usesReserve = true
      for key in 0..<50 { try source.remove([1, UInt8(key)]) }
    }
    #expect(try reopened.contents().isEmpty)
  }

  @Test func aTransactionThatMetAFaultIsNotCommitted() throws {
    let files = MemoryDirectory()
    let database = try Database(in: files, name: "x", options: smallPages)
    try database.write { (source) throws(PageFileError) in
      for key in 0..<500 { try source.put(bigEndian(key), [UInt8](repeating: 7, count: 100)) }
    }
    try database.close()
    var bytes = try #require(files["x"])
    // Every page of the data file is damaged but those that opening reads.
    for offset in stride(from: 32768 + 100, to: bytes.count, by: 4096) { bytes[offset] ^= 1 }
    files["x"] = bytes
    guard let damaged = try? Database(in: files, name: "x", options: smallPages) else { return }
    let transaction = try damaged.beginWrite()
    try transaction.source.put([9], [9], tree: 1)
    #expect((try? transaction.source.put(bigEndian(3), [1])) == nil)
    var refusal: PageFileError?
    do throws(PageFileError) {
      _ = try transaction.commit()
    } catch {
      refusal = error
    }
    #expect(refusal == .aborted)
    #expect(try damaged.contents(of: 1).isEmpty)
  }
}
