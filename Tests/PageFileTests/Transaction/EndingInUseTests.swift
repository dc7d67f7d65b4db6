import PageFile
import Synchronization
import Testing

/// A database that ends while this very thread uses it, or while its background work waits for a
/// transaction.
struct EndingInUseTests {
  /// Runs `body` on a thread of its own; false when it has not returned after ten seconds.
  private func returns(_ body: @escaping @Sendable () -> Void) -> Bool {
    let hasReturned = SharedFlag()
    let worker = Worker()
    worker.enqueue {
      body()
      hasReturned.isSet.store(true, ordering: .releasing)
    }
    for _ in 0..<10_000 {
      if hasReturned.isSet.load(ordering: .acquiring) {
        worker.stop()
        return true
      }
      Waiting.milliseconds(1)
    }
    return false
  }

  private final class SharedFlag: Sendable {
    let isSet = Atomic<Bool>(false)
  }

  /// The checkpoint that a large commit asks for waits for the next transaction; letting go of the
  /// database must not wait for that checkpoint.
  @Test func lettingGoOfADatabaseWithAnOpenTransactionReturns() throws {
    for _ in 0..<5 {
      let directory = MemoryDirectory()
      let hasReturned = returns {
        do throws(PageFileError) {
          var options = smallPages
          options.cacheByteCount = 64 * 4096
          var database: Database? = try Database(in: directory, name: "x", options: options)
          try database?.write { (source) throws(PageFileError) in
            for key in 0..<200 {
              try source.put([1, UInt8(key)], [UInt8](repeating: 1, count: 900))
            }
          }
          guard let transaction = try database?.beginWrite() else { return }
          Waiting.milliseconds(5)
          database = nil
          transaction.rollback()
        } catch {
          Issue.record("\(error)")
        }
      }
      try #require(hasReturned, "letting go of the database hangs")
      let again = try Database(in: directory, name: "x", options: smallPages)
      #expect(try again.contents().count == 200)
      #expect(try again.findings() == [])
    }
  }

  @Test func lettingGoOfADatabaseWithinABracketReturns() throws {
    let directory = MemoryDirectory()
    let hasReturned = returns {
      do throws(PageFileError) {
        var database: Database? = try Database(in: directory, name: "x", options: smallPages)
        try database?.write { (source) throws(PageFileError) in try Rounds.write(1, to: source) }
        guard let transaction = try database?.beginRead() else { return }
        try transaction.source.enter()
        database = nil
        transaction.source.leave()
      } catch {
        Issue.record("\(error)")
      }
    }
    try #require(hasReturned, "letting go of the database hangs")
    #expect(try Rounds.read(Database(in: directory, name: "x")) == 1)
  }

  @Test func closingAndSuspendingWithinABracketAreRefused() throws {
    let database = try Database(in: MemoryDirectory(), name: "x")
    try Rounds.write(1, to: database)
    let transaction = try database.beginRead()
    try transaction.source.enter()
    #expect(throws: PageFileError.insideTransaction(call: "close")) { try database.close() }
    #expect(throws: PageFileError.insideTransaction(call: "suspend")) { try database.suspend() }
    transaction.source.leave()
    try Rounds.write(2, to: database)
    try database.close()
  }

  /// Another thread's brackets are waited for as before.
  @Test func closingBesideAnotherThreadsBracketWaitsForIt() throws {
    let database = try Database(in: MemoryDirectory(), name: "x")
    try Rounds.write(1, to: database)
    let isInside = SharedFlag()
    let reader = Worker()
    reader.enqueue {
      guard let transaction = try? database.beginRead() else { return }
      try? transaction.source.enter()
      isInside.isSet.store(true, ordering: .releasing)
      Waiting.milliseconds(20)
      transaction.source.leave()
    }
    while !isInside.isSet.load(ordering: .acquiring) {}
    try database.close()
    reader.stop()
  }
}
