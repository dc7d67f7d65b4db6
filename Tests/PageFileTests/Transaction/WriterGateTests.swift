import PageFile
import Testing

/// Who goes first at the gate, and who is told that it would wait for itself.
@Suite(.timeLimit(.minutes(30))) struct WriterGateTests {
  /// Writers of a database that come one after the other while somebody else is inside.
  private final class Queue: Sendable {
    private let database: Database
    private let order = Locked<[String]>([])
    private let writers = Locked<[Aside]>([])

    init(_ database: Database) { self.database = database }

    func add(_ name: String, _ urgency: WriteUrgency) {
      let writer = Aside()
      let count = writers.withLock { writers in
        writers.append(writer)
        return writers.count
      }
      writer.begin { [self] in
        guard let transaction = try? database.beginWrite(urgency) else { return }
        order.withLock { $0.append(name) }
        transaction.rollback()
      }
      Waiting.until { database.waitingWriterCount >= count }
    }

    func note(_ name: String) { order.withLock { $0.append(name) } }

    func finish() -> [String] {
      for writer in writers.withLock({ $0 }) { _ = writer.hasEnded(withinMilliseconds: 5000) }
      return order.withLock { $0 }
    }
  }

  private func database() throws -> Database {
    try Database(in: MemoryDirectory(), name: "x", options: smallPages)
  }

  @Test func urgentWritersGoFirstAndEachKindInItsOrder() throws {
    let database = try database()
    let queue = Queue(database)
    let transaction = try database.beginWrite()
    queue.add("a", .patient)
    queue.add("b", .patient)
    queue.add("c", .urgent)
    queue.add("d", .patient)
    queue.add("e", .urgent)
    transaction.rollback()
    #expect(queue.finish() == ["c", "e", "a", "b", "d"])
    #expect(database.waitingWriterCount == 0)
  }

  @Test func aWriterThatHasTimeGetsItsTurnAmongUrgentOnes() throws {
    let database = try database()
    let queue = Queue(database)
    let transaction = try database.beginWrite()
    queue.add("patient", .patient)
    for number in 0..<40 { queue.add("\(number)", .urgent) }
    transaction.rollback()
    #expect(queue.finish().firstIndex(of: "patient") == WriterGate.maximumPassedOverCount)
  }

  /// A checkpoint is what full logs wait for, and goes before all writers.
  @Test func aCheckpointGoesBeforeWriters() throws {
    let directory = StagedDirectory()
    let database = try Database(in: directory, name: "x", options: smallPages)
    try Rounds.write(1, to: database)
    let queue = Queue(database)
    let transaction = try database.beginWrite()
    queue.add("writer", .urgent)
    let checkpoint = Aside()
    checkpoint.begin { try? database.checkpoint() }
    Waiting.until { database.waitingWriterCount >= 2 }
    // The header of the other log is written.
    directory.once({ $0.kind == .write && $0.name != "x" && $0.offset == 0 }) { queue.note("turn") }
    transaction.rollback()
    #expect(queue.finish() == ["turn", "writer"])
    #expect(checkpoint.hasEnded(withinMilliseconds: 5000))
    #expect(database.statistics.checkpointCount == 1)
  }

  @Test func whoWouldWaitForItselfIsToldAtOnce() throws {
    let database = try database()
    try Rounds.write(1, to: database)
    let transaction = try database.beginWrite()
    func refuses(_ call: String, _ body: () throws(PageFileError) -> Void) {
      #expect(throws: PageFileError.insideTransaction(call: call)) { try body() }
    }
    refuses("write") { () throws(PageFileError) in try database.beginWrite().rollback() }
    refuses("checkpoint") { () throws(PageFileError) in try database.checkpoint() }
    refuses("compact") { () throws(PageFileError) in try database.compact() }
    refuses("close") { () throws(PageFileError) in try database.close() }
    #expect(try Rounds.read(database) == 1)
    try database.resume()
    // Another thread waits, as it always did.
    let other = Aside()
    other.begin { try? Rounds.write(2, to: database) }
    Waiting.until { database.waitingWriterCount > 0 }
    transaction.rollback()
    #expect(other.hasEnded(withinMilliseconds: 5000))
    #expect(try Rounds.read(database) == 2)
    try database.checkpoint()
    try database.close()
  }

  @Test func suspendingInsideAWriteIsRefused() throws {
    let database = try Database(in: MemoryDirectory(), name: "x")
    let transaction = try database.beginWrite()
    #expect(throws: PageFileError.insideTransaction(call: "suspend")) { try database.suspend() }
    transaction.rollback()
    try database.suspend()
  }
}
