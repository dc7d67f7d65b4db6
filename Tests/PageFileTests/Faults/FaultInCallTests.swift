import Damage
import PageFile
import Testing

/// The n-th call to the system fails inside of each call of the interface, for every n: the error comes out,
/// and what follows is as if nothing had been, or refused.
struct FaultInCallTests {
  /// Fails calls from the n-th on, when it is armed.
  private final class Fault: Sendable {
    private let left = Locked(Int.max)
    private let isOnce: Bool
    let hasStruck = Locked(false)

    init(isOnce: Bool) { self.isOnce = isOnce }

    func arm(after count: Int) { left.withLock { $0 = count } }
    func disarm() { left.withLock { $0 = .max } }

    func pass(_ call: HookedDirectory.Call) throws(PageFileError) {
      let isStruck = left.withLock { left in
        guard left != .max else { return false }
        left -= 1
        if left < 0 && isOnce { left = .max }
        return left < 0 || left == .max
      }
      if isStruck {
        hasStruck.withLock { $0 = true }
        throw .ioError(call: "\(call.kind)", errno: 5, path: call.name)
      }
    }
  }

  /// A store whose calls pass by a fault, opened with nothing in its cache.
  private func open(_ specimen: Specimen, _ fault: Fault) throws -> (Database, MemoryDirectory) {
    let files = specimen.files.copy()
    let directory = HookedDirectory(files) { (call, _) throws(PageFileError) in
      try fault.pass(call)
    }
    let database = try Database(
      in: directory, name: Specimen.storeName, options: SpecimenMaker.options)
    return (database, files)
  }

  /// Runs `body` with a fault at its first, second, … call to the system, until one comes too late.
  private func forEachFault(
    _ specimen: Specimen, _ body: (Database, MemoryDirectory, Fault) throws -> Void
  ) throws {
    for isOnce in [true, false] {
      for count in 0..<10_000 {
        let fault = Fault(isOnce: isOnce)
        let (database, files) = try open(specimen, fault)
        fault.arm(after: count)
        try body(database, files, fault)
        fault.disarm()
        if !fault.hasStruck.withLock({ $0 }) { break }
      }
    }
  }

  /// After the fault a new owner finds a commit's state, whole, and can go on.
  private func expectSound(
    _ files: MemoryDirectory, _ states: [Contents], in lsns: ClosedRange<Int>, _ what: String
  ) throws {
    let database = try Database(
      in: files.copy(), name: Specimen.storeName, options: SpecimenMaker.options)
    let (lsn, contents) = try database.state()
    let isOfCommit = lsns.contains(lsn) && states[lsn] == contents
    #expect(isOfCommit, "\(what): commit \(lsn) of \(lsns)")
    #expect(try database.findings() == [], "\(what)")
    _ = try database.put([0xFE], [1], tree: 3)
    try database.close()
  }

  // MARK: Reading

  @Test func aScanEndsWithTheErrorAndNeverEarlyInSilence() throws {
    let specimen = try Specimen.closed()
    let expected = specimen.states[specimen.lastLSN]
    for isForward in [true, false] {
      try forEachFault(specimen) { database, _, fault in
        let transaction = try database.beginRead()
        let source = transaction.source
        try source.enter()
        defer { source.leave() }
        var cursor = Cursor(source, TreeNumber(0))
        var count = 0
        var failure: PageFileError?
        do throws(PageFileError) {
          while try isForward ? cursor.next() : previous(&cursor, isFirst: count == 0) {
            count += 1
          }
        } catch {
          failure = error
        }
        guard let failure else {
          #expect(count == expected.keys.count { $0[0] == 0 })
          return
        }
        // Whoever goes on after an error must not take what comes for the end.
        #expect(throws: failure) { _ = try isForward ? cursor.next() : cursor.previous() }
        fault.disarm()
        #expect(try isForward ? cursor.last() : cursor.first())
      }
    }
  }

  private func previous(_ cursor: inout Cursor, isFirst: Bool) throws(PageFileError) -> Bool {
    try isFirst ? cursor.last() : cursor.previous()
  }

  @Test func gettingAndCheckingFailOrAnswer() throws {
    let specimen = try Specimen.closed()
    let expected = specimen.states[specimen.lastLSN]
    try forEachFault(specimen) { database, _, _ in
      let transaction = try database.beginRead()
      try transaction.source.enter()
      defer { transaction.source.leave() }
      for (key, value) in expected where key[0] != Contents.wordByte {
        var seen = ByteBuffer()
        let isThere = Bytes.with(Array(key.dropFirst())) { name in
          try? BTree(transaction.source, TreeNumber(Int(key[0]))).value(of: name, appendTo: &seen)
        }
        let isRight = isThere == nil || (isThere == true && seen.bytes.array() == value)
        #expect(isRight)
      }
    }
    try forEachFault(specimen) { database, _, fault in
      var findings: [CheckFinding] = []
      let isDone = (try? database.check { findings.append($0) }) != nil
      let hasStruck = fault.hasStruck.withLock { $0 }
      #expect(!isDone || findings.isEmpty != hasStruck, "\(findings.prefix(2))")
    }
  }

  // MARK: Writing

  /// A transaction in which something has failed cannot be committed.
  @Test func aFailedChangeKeepsItsTransactionFromBeingCommitted() throws {
    let specimen = try Specimen.closed()
    let old = specimen.states[specimen.lastLSN]
    let changes: [(String, Contents)] = [
      ("replace chains", old.mapValues { $0.count > 3000 ? [1] : $0 }),
      ("remove all", [:]),
      ("remove most", old.filter { $0.key[0] == 1 || $0.key.hashValue % 9 == 0 }),
      ("grow all", old.mapValues { $0 + $0 }),
    ]
    for (name, new) in changes {
      try forEachFault(specimen) { database, files, fault in
        guard let transaction = try? database.beginWrite() else { return }
        var hasFailed = false
        do throws(PageFileError) {
          try new.write(over: old, to: transaction.source)
        } catch {
          hasFailed = true
        }
        fault.disarm()
        let isCommitted = (try? transaction.commit(.full)) != nil
        #expect(!hasFailed || !isCommitted, "\(name): committed though a change had failed")
        if hasFailed {
          let (_, contents) = try database.state()
          let isOld = contents == old
          #expect(isOld, "\(name)")
        }
        let states = specimen.states + [new]
        let lsn = specimen.lastLSN + (hasFailed || !isCommitted ? 0 : 1)
        try expectSound(files, states, in: lsn...lsn, name)
      }
    }
  }

  /// Commits, checkpoints and closings that fail leave one of the two states, and the next owner goes on.
  @Test func failedCommitsCheckpointsAndClosingsLeaveACommit() throws {
    for specimen in [try Specimen.closed(), try Specimen.inUse()] {
      let last = specimen.lastLSN
      var new = specimen.states[last]
      new[[3, 1]] = [UInt8](repeating: 9, count: 5000)
      let states = specimen.states + [new]
      for ending in ["commit", "checkpoint", "close", "rollback", "let go"] {
        try forEachFault(specimen) { database, files, fault in
          var acknowledged = last
          if let transaction = try? database.beginWrite() {
            let isWritten =
              (try? new.write(over: specimen.states[last], to: transaction.source)) != nil
            if ending == "rollback" || !isWritten {
              transaction.rollback()
            } else if ending != "let go" {
              if (try? transaction.commit(.full)) != nil { acknowledged = last + 1 }
            }
          }
          if ending == "checkpoint" { try? database.checkpoint() }
          if ending == "close" { try? database.close() }
          fault.disarm()
          try expectSound(files, states, in: acknowledged...last + 1, ending)
        }
      }
    }
  }

  /// Opening fails or works, and never leaves less than it found.
  @Test func failedOpeningsLoseNothing() throws {
    for specimen in [try Specimen.closed()] + (try Specimen.inMidCheckpoint()) {
      for count in 0..<10_000 {
        let fault = Fault(isOnce: true)
        let files = specimen.files.copy()
        let directory = HookedDirectory(files) { (call, _) throws(PageFileError) in
          try fault.pass(call)
        }
        fault.arm(after: count)
        let database = try? Database(
          in: directory, name: Specimen.storeName, options: SpecimenMaker.options)
        fault.disarm()
        if let database {
          let isRight = try database.state().contents == specimen.states[specimen.lastLSN]
          #expect(isRight)
          try? database.close()
        }
        let last = specimen.lastLSN
        try expectSound(files, specimen.states, in: last...last, specimen.name)
        if !fault.hasStruck.withLock({ $0 }) { break }
      }
    }
  }
}
