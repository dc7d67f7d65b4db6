import PageFile
import Testing

/// A read transaction sees its moment, or says that it cannot any more.
struct SnapshotTests {
  @Test func readersSeeTheirMomentThroughCommitsAndCheckpoints() throws {
    let database = try Database(in: MemoryDirectory(), name: "x", options: smallPages)
    let empty = try database.beginRead()
    try Rounds.write(1, to: database)
    let first = try database.beginRead()
    #expect(first.lsn == database.statistics.lastLSN)
    try database.checkpoint()
    try Rounds.write(2, to: database)
    let second = try database.beginRead()
    for round in 3..<9 {
      try Rounds.write(round, to: database)
      try database.checkpoint()
    }
    #expect(try Rounds.round(of: contents(of: empty.source)) == 0)
    #expect(try Rounds.round(of: contents(of: first.source)) == 1)
    #expect(try Rounds.round(of: contents(of: second.source)) == 2)
    #expect(try Rounds.read(database) == 8)
  }

  /// The old reader alone keeps more pages than the budget has room for: leaves that are written
  /// over, or overflow pages that are freed.
  ///
  /// Freed pages in the log once counted as if they took memory, and hid as many that the reader
  /// kept.
  @Test(arguments: [1000, 3000])
  func aSnapshotInTheWayOfTheBudgetExpires(valueByteCount: Int) throws {
    var options = smallPages
    options.cacheByteCount = 0
    let database = try Database(in: MemoryDirectory(), name: "x", options: options)
    func fill(_ byte: UInt8) throws {
      let value = [UInt8](repeating: byte, count: valueByteCount)
      try database.write { (source) throws(PageFileError) in
        for key in 0..<500 { try source.put(bigEndian(key), value) }
      }
    }
    try fill(1)
    let reader = try database.beginRead()
    // When exactly depends on the checkpoints beside: what they put into the cache counts there.
    var last: UInt8 = 1
    var isExpired = false
    while !isExpired && last < 30 {
      last += 1
      try fill(last)
      do throws(PageFileError) {
        _ = try contents(of: reader.source)
      } catch {
        try #require(error == .snapshotExpired)
        isExpired = true
      }
    }
    #expect(isExpired)
    #expect(throws: PageFileError.snapshotExpired) { try reader.source.enter() }
    let seen = try database.contents()
    let areNew = seen.values.allSatisfy { $0.first == last }
    #expect(seen.count == 500 && areNew)
    #expect(try database.findings() == [])
  }

  @Test func closingEndsEveryTransaction() throws {
    let database = try Database(in: MemoryDirectory(), name: "x", options: smallPages)
    try Rounds.write(1, to: database)
    let reader = try database.beginRead()
    try database.close()
    #expect(throws: PageFileError.self) { _ = try contents(of: reader.source) }
    #expect(throws: PageFileError.closed) { _ = try database.beginRead() }
    #expect(throws: PageFileError.closed) { _ = try database.beginWrite() }
    #expect(throws: PageFileError.closed) { try database.checkpoint() }
    try database.close()
  }
}
