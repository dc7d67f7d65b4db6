import PageFile
import Synchronization
import Testing

/// Readers on threads of their own, beside a writer and checkpoints.
///
/// Run under the thread sanitizer by `make test-tsan`.
struct ConcurrencyTests {
  /// Each commit writes its number under every key, so a reader that sees two numbers saw a mix.
  @Test func readersSeeOneMomentBesideWriterAndCheckpoints() throws {
    var options = DatabaseOptions()
    options.pageByteCount = 4096
    options.cacheByteCount = 64 * 4096
    let database = try Database(in: MemoryDirectory(), name: "concurrent", options: options)
    try writeRound(0, to: database)
    let isDone = Atomic<Bool>(false)
    let failures = Locked<[String]>([])
    let readers = (0..<4).map { _ in Worker() }
    for reader in readers {
      reader.enqueue {
        var last: UInt64 = 0
        while !isDone.load(ordering: .acquiring) {
          do {
            let round = try readRound(database)
            if round < last { failures.withLock { $0.append("\(round) after \(last)") } }
            last = round
          } catch PageFileError.snapshotExpired {
          } catch {
            failures.withLock { $0.append("\(error)") }
          }
        }
      }
    }
    for round in 1...150 {
      try writeRound(UInt64(round), to: database)
      if round % 10 == 0 { try database.checkpoint() }
    }
    isDone.store(true, ordering: .releasing)
    for reader in readers { reader.stop() }
    #expect(failures.withLock { $0 } == [])
    #expect(try readRound(database) == 150)
    #expect(try database.findings() == [])
  }

  @Test func concurrentFullCommitsAreAllDurable() throws {
    let database = try Database(in: MemoryDirectory(), name: "group")
    let failures = Locked<[String]>([])
    let writers = (0..<4).map { _ in Worker() }
    for (index, writer) in writers.enumerated() {
      writer.enqueue {
        do {
          for number in 0..<100 {
            try database.write(.full) { (source) throws(PageFileError) in
              try source.put([UInt8(index), UInt8(number)], [UInt8(number)])
            }
            let statistics = database.statistics
            if statistics.durableLSN < LSN(UInt64(number)) {
              failures.withLock { $0.append("not durable") }
            }
          }
        } catch {
          failures.withLock { $0.append("\(error)") }
        }
      }
    }
    for writer in writers { writer.stop() }
    #expect(failures.withLock { $0 } == [])
    #expect(try database.contents().count == 400)
    #expect(database.statistics.durableLSN == database.statistics.lastLSN)
  }

  /// Closing beside durable commits: each of them is there afterwards or was refused, and none is told
  /// that its fate is unknown because its sync met a closed file.
  @Test func closingBesideFullCommitsLosesNoneThatReturned() throws {
    for _ in 0..<10 {
      let directory = MemoryDirectory()
      let database = try Database(in: directory, name: "closing")
      let acknowledged = Locked<[[UInt8]]>([])
      let failures = Locked<[String]>([])
      let writers = (0..<3).map { _ in Worker() }
      for (index, writer) in writers.enumerated() {
        writer.enqueue {
          for number in 0..<200 {
            let key = [UInt8(index), UInt8(number)]
            do throws(PageFileError) {
              try database.write(.full) { (source) throws(PageFileError) in
                try source.put(key, [1])
              }
              acknowledged.withLock { $0.append(key) }
            } catch {
              if error != .closed { failures.withLock { $0.append("\(error)") } }
              return
            }
          }
        }
      }
      while acknowledged.withLock({ $0.count }) < 20 {}
      try database.close()
      for writer in writers { writer.stop() }
      #expect(failures.withLock { $0 } == [])
      let contents = try Database(in: directory, name: "closing").contents()
      #expect(acknowledged.withLock { $0 }.allSatisfy { contents[$0] != nil })
    }
  }

  /// A reader that never ends costs no log: its snapshot expires, or its versions stay within the
  /// budget.
  @Test func endlessReaderDoesNotHoldBackTheLog() throws {
    let directory = MemoryDirectory()
    var options = DatabaseOptions()
    options.cacheByteCount = 64 * 8192
    let database = try Database(in: directory, name: "endless", options: options)
    try writeRound(0, to: database)
    let reader = try database.beginRead()
    for round in 1...400 { try writeRound(UInt64(round), to: database) }
    try database.checkpoint()
    let walByteCount =
      (directory["endless-wal0"]?.count ?? 0) + (directory["endless-wal1"]?.count ?? 0)
    #expect(walByteCount <= 20 << 20)
    do throws(PageFileError) {
      let seen = try contents(of: reader.source)
      #expect(Set(seen.values).count == 1)
    } catch {
      #expect(error == .snapshotExpired)
    }
  }
}

private let roundKeyCount = 300

private func writeRound(_ round: UInt64, to database: Database) throws {
  try database.write { (source) throws(PageFileError) in
    for key in 0..<roundKeyCount {
      var value = ByteBuffer()
      value.append(littleEndian: round)
      value.append(zeros: 40)
      try source.put([UInt8(key / 256), UInt8(key % 256)], value.bytes.array())
    }
  }
}

/// The number that all keys show.
///
/// Throws when they do not agree.
private func readRound(_ database: Database) throws -> UInt64 {
  let transaction = try database.beginRead()
  let values = Set(try contents(of: transaction.source).values)
  guard values.count == 1, let value = values.first else {
    throw MixedMoments(count: values.count)
  }
  return Bytes.with(value) { $0.uint64(at: 0) }
}

private struct MixedMoments: Error {
  let count: Int
}
