import PageFile
import Testing

/// A transaction that grows beyond its limit is refused, and nothing else suffers.
@Suite struct LimitTests {
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
}
