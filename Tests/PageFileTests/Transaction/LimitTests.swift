import PageFile
import Testing

/// A transaction that grows beyond its limit is refused, and nothing else suffers.
struct LimitTests {
  private let limit = 64 << 20

  @Test func transactionBeyondItsLimitIsRefusedAndTheStoreGoesOn() throws {
    var options = DatabaseOptions()
    options.pageByteCount = 32768
    let directory = MemoryDirectory()
    let database = try Database(in: directory, name: "x", options: options)
    try Rounds.write(1, to: database)
    let before = ["x", "x-wal0", "x-wal1"].map { directory[$0] }
    let megabytes = [UInt8](repeating: 7, count: 8 << 20)
    let transaction = try database.beginWrite()
    var keptCount = 0
    do throws(PageFileError) {
      for key in 0..<9 {
        try transaction.source.put([2, UInt8(key)], megabytes)
        keptCount += 1
      }
      Issue.record("72 MiB went into one transaction")
    } catch {
      #expect(
        error
          == .limitExceeded(
            what: "bytes of pages changed in one transaction", value: limit + 32768, limit: limit))
    }
    // Headers and a few cells make eight values a little more than 64 MiB.
    #expect(keptCount == 7)
    transaction.rollback()
    #expect(["x", "x-wal0", "x-wal1"].map { directory[$0] } == before)
    #expect(try Rounds.read(database) == 1)
    try Rounds.write(2, to: database)
    #expect(try Rounds.read(database) == 2)
    #expect(try database.findings() == [])
    #expect(try Rounds.read(Database(in: directory.copy(), name: "x")) == 2)
  }

  /// What an operation has changed and freed again is in memory until the operation ends.
  @Test func pagesFreedWithinAnOperationCount() throws {
    var options = DatabaseOptions()
    options.backgroundWork = .caller
    let database = try Database(in: MemoryDirectory(), name: "x", options: options)
    let transaction = try database.beginWrite()
    let source = transaction.source
    let megabytes = [UInt8](repeating: 7, count: 25 << 20)
    try source.enter()
    for _ in 0..<2 { try source.put([1], megabytes) }
    #expect(throws: PageFileError.self) { try source.put([1], megabytes) }
    #expect(database.livingPageCount <= limit / 4096 + 64)
    source.leave()
    transaction.rollback()
    // In operations of their own they may be as many as one likes.
    let next = try database.beginWrite()
    for _ in 0..<4 { try next.source.put([1], megabytes) }
    next.rollback()
  }
}
