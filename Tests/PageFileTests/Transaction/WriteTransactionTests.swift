import PageFile
import Testing

/// A transaction is kept whole or not at all, and costs nothing when it changes nothing.
struct WriteTransactionTests {
  private let directory = MemoryDirectory()
  private let database: Database

  init() throws {
    database = try Database(in: directory, name: "x", options: smallPages)
    try Rounds.write(1, to: database)
  }

  private var files: [[UInt8]?] { ["x", "x-wal0", "x-wal1"].map { directory[$0] } }

  @Test func rollbackLeavesNothing() throws {
    let (files, lsn) = (files, database.statistics.lastLSN)
    for round in 2..<30 {
      let transaction = try database.beginWrite()
      try Rounds.write(round, to: transaction.source)
      #expect(try Rounds.round(of: contents(of: transaction.source)) == round)
      #expect(try Rounds.read(database) == 1)
      transaction.rollback()
    }
    #expect(try Rounds.read(database) == 1)
    #expect(self.files == files && database.statistics.lastLSN == lsn)
    try Rounds.write(30, to: database)
    #expect(try Rounds.read(database) == 30)
    #expect(try database.findings() == [])
  }

  @Test func lettingGoOfATransactionRollsBack() throws {
    func beginAndForget() throws {
      let transaction = try database.beginWrite()
      try Rounds.write(2, to: transaction.source)
    }
    let before = files
    try beginAndForget()
    #expect(files == before)
    #expect(try Rounds.read(database) == 1)
    try Rounds.write(3, to: database)
    #expect(try Rounds.read(database) == 3)
  }

  @Test(arguments: [SyncLevel.relaxed, .full])
  func commitThatChangesNothingWritesNothing(level: SyncLevel) throws {
    // Everything durable, so that a full commit has nothing to wait for either.
    try Rounds.write(2, to: database, .full)
    let (files, lsn) = (files, database.statistics.lastLSN)
    var transaction = try database.beginWrite()
    #expect(try transaction.commit(level) == lsn)
    transaction = try database.beginWrite()
    try transaction.source.remove([9, 9, 9])
    #expect(try contents(of: transaction.source).count > 0)
    #expect(try transaction.commit(level) == lsn)
    #expect(self.files == files)
    #expect(database.statistics.lastLSN == lsn)
  }

  @Test func commitsAreNumberedWithoutGaps() throws {
    var lsn = database.statistics.lastLSN
    for round in 2..<12 {
      if round % 4 == 0 { try database.checkpoint() }
      let rolledBack = try database.beginWrite()
      try Rounds.write(round, to: rolledBack.source)
      rolledBack.rollback()
      let transaction = try database.beginWrite()
      try Rounds.write(round, to: transaction.source)
      let next = try transaction.commit(.full)
      #expect(next.rawValue == lsn.rawValue + 1)
      #expect(database.statistics.durableLSN == next)
      lsn = next
    }
  }

  /// A transaction took a page number from the end, gave it back, and committed without a change.
  ///
  /// The roots did not move past that number but it counted as free: it was given out twice
  /// afterwards.
  @Test func numbersTakenAndGivenBackAreNotGivenOutTwice() throws {
    let transaction = try database.beginWrite()
    try transaction.source.put([1], [1], tree: 1)
    try transaction.source.remove([1], tree: 1)
    _ = try transaction.commit(.relaxed)
    try database.write { (source) throws(PageFileError) in
      for tree in 1..<4 { try source.put([UInt8(tree)], [UInt8(tree)], tree: tree) }
    }
    for store in [database, try Database(in: directory.copy(), name: "x")] {
      for tree in 1..<4 { #expect(try store.contents(of: tree) == [[UInt8(tree)]: [UInt8(tree)]]) }
      #expect(try Rounds.read(store) == 1)
      #expect(try store.findings() == [])
    }
  }

  /// The same in a store that was never written to: its first root lay beyond the end of the page
  /// numbers, and neither the log nor, after a checkpoint, the meta slots could be read any more.
  @Test func firstPageTakenAndGivenBackLeavesAReadableStore() throws {
    let directory = MemoryDirectory()
    let database = try Database(in: directory, name: "y", options: smallPages)
    let transaction = try database.beginWrite()
    try transaction.source.put([1], [1])
    try transaction.source.remove([1])
    _ = try transaction.commit(.relaxed)
    try database.write(.full) { (source) throws(PageFileError) in try source.put([2], [2]) }
    #expect(try Database(in: directory.copy(), name: "y").contents() == [[2]: [2]])
    try database.checkpoint()
    #expect(try Database(in: directory.copy(), name: "y").contents() == [[2]: [2]])
  }

  @Test func whatIsInsertedAndRemovedInOneTransactionLeavesNothing() throws {
    try database.write { (source) throws(PageFileError) in
      for key in 0..<200 { try source.put([2, UInt8(key)], [UInt8](repeating: 1, count: 900)) }
      for key in 0..<200 { try source.remove([2, UInt8(key)]) }
      try source.put([3], [3], tree: 1)
    }
    #expect(try Rounds.read(database) == 1)
    #expect(try database.contents(of: 1) == [[3]: [3]])
    #expect(try database.findings() == [])
    let copy = try Database(in: directory.copy(), name: "x")
    #expect(try Rounds.read(copy) == 1)
    #expect(try copy.findings() == [])
  }

  /// Letting go of a database closed it, which waits for the writer: whoever held a transaction that
  /// outlived its database hung for ever.
  @Test func aTransactionMayOutliveItsDatabase() throws {
    let files = MemoryDirectory()
    @Sendable func begin() throws(PageFileError) -> WriteTransaction {
      try Database(in: files, name: "y", options: smallPages).beginWrite()
    }
    let outcome = Locked("hangs")
    let worker = Worker()
    worker.enqueue {
      do {
        let transaction = try begin()
        try Rounds.write(1, to: transaction.source)
        _ = try transaction.commit(.full)
        outcome.withLock { $0 = "committed" }
      } catch {
        outcome.withLock { $0 = "\(error)" }
      }
    }
    let pause = Lock()
    for _ in 0..<100 where outcome.withLock({ $0 }) == "hangs" {
      pause.withLock { pause.wait(milliseconds: 50) }
    }
    try #require(outcome.withLock { $0 } == "committed")
    worker.stop()
    #expect(try Rounds.read(Database(in: files, name: "y")) == 1)
  }

  @Test func writersWaitForEachOther() throws {
    let worker = Worker()
    let order = Locked<[String]>([])
    let database = database
    let first = try database.beginWrite()
    worker.enqueue {
      do {
        let second = try database.beginWrite()
        order.withLock { $0.append("second begins") }
        second.rollback()
      } catch {
        order.withLock { $0.append("\(error)") }
      }
    }
    try Rounds.write(2, to: first.source)
    order.withLock { $0.append("first ends") }
    _ = try first.commit(.relaxed)
    worker.stop()
    #expect(order.withLock { $0 } == ["first ends", "second begins"])
  }
}

/// The smallest pages, so that little content makes many.
var smallPages: DatabaseOptions {
  var options = DatabaseOptions()
  options.pageByteCount = 4096
  return options
}
