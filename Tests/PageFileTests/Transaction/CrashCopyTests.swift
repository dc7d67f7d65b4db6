import PageFile
import Testing

/// What a killed process leaves behind, at whatever moment, opens to a committed state: the last one
/// acknowledged, or the one that was being written.
struct CrashCopyTests {
  /// How far a run of rounds has come, and copies of its files at some of its operations.
  private struct Progress {
    var random: SeededGenerator
    /// The last round acknowledged, and the last one begun.
    var rounds = 0...0
    var copies: [(files: MemoryDirectory, rounds: ClosedRange<Int>)] = []
    var operationCount = 0
  }

  /// Rounds, checkpoints and clean closes; one operation in `rarity` is preceded by a copy.
  private func play(
    roundCount: Int, rarity: Int, _ random: inout SeededGenerator
  ) throws -> [(files: MemoryDirectory, rounds: ClosedRange<Int>)] {
    let progress = Locked(Progress(random: SeededGenerator(seed: random.next())))
    let directory = WatchedDirectory { files in
      progress.withLock { progress in
        progress.operationCount += 1
        guard progress.random.below(rarity) == 0 else { return }
        progress.copies.append((files.copy(), progress.rounds))
      }
    }
    var database = try Database(in: directory, name: "x", options: smallPages)
    for round in 1...roundCount {
      progress.withLock { $0.rounds = round - 1...round }
      try Rounds.write(round, to: database, random.below(2) == 0 ? .full : .relaxed)
      progress.withLock { $0.rounds = round...round }
      if random.below(4) == 0 { try database.checkpoint() }
      if random.below(10) == 0 {
        try database.close()
        database = try Database(in: directory, name: "x", options: smallPages)
      }
    }
    try database.close()
    return progress.withLock { $0.copies }
  }

  private func expectRound(
    in rounds: ClosedRange<Int>, _ directory: any StorageDirectory
  ) throws -> Int {
    let database = try Database(in: directory, name: "x", options: smallPages)
    let round = try Rounds.read(database)
    #expect(rounds.contains(round), "round \(round) where \(rounds) belongs")
    #expect(try database.findings() == [])
    return round
  }

  @Test func copiesAtAnyOperationOpenToTheLastCommit() throws {
    var random = SeededGenerator()
    let copies = try play(roundCount: 60, rarity: 4, &random)
    #expect(copies.count > 30)
    for copy in copies { _ = try expectRound(in: copy.rounds, copy.files) }
  }

  /// A reader opens the same copies without writing a byte to them.
  @Test func readersOpenCopiesWithoutChangingThem() throws {
    var random = SeededGenerator()
    var options = smallPages
    options.access = .readOnly
    for copy in try play(roundCount: 30, rarity: 6, &random) where copy.files.exists("x") {
      let names = ["x", "x-wal0", "x-wal1"]
      let before = names.map { copy.files[$0] }
      let round = try Rounds.read(Database(in: copy.files, name: "x", options: options))
      #expect(copy.rounds.contains(round))
      #expect(names.map { copy.files[$0] } == before)
    }
  }

  /// The process is killed again while it recovers, and once more while it recovers from that.
  @Test func copiesOfARecoveryOpenToTheSameCommit() throws {
    var random = SeededGenerator()
    var openedCount = 0
    for copy in try play(roundCount: 60, rarity: 12, &random) {
      var candidates = [copy.files]
      var rounds = copy.rounds
      for _ in 0..<3 {
        guard let files = candidates.randomElement(using: &random) else { break }
        let (round, next) = try recoverWithCopies(files, rounds)
        // What the first recovery found is there for good.
        rounds = round...round
        candidates = next
        openedCount += 1
      }
    }
    #expect(openedCount > 10)
  }

  /// Opens a copy and answers what it holds, with copies made before each of the opening's operations.
  private func recoverWithCopies(
    _ files: MemoryDirectory, _ rounds: ClosedRange<Int>
  ) throws -> (round: Int, copies: [MemoryDirectory]) {
    let copies = Locked<[MemoryDirectory]>([])
    let directory = WatchedDirectory(files) { files in
      copies.withLock { $0.append(files.copy()) }
    }
    return (try expectRound(in: rounds, directory), copies.withLock { $0 })
  }

  /// A thread of its own takes the copies, while commits and checkpoints go on.
  @Test func copiesTakenDuringCheckpointsOpenToACommittedState() throws {
    let directory = WatchedDirectory()
    let database = try Database(in: directory, name: "x", options: smallPages)
    try Rounds.write(1, to: database)
    let rounds = Locked(1...1)
    let isDone = Locked(false)
    let copies = Locked<[(files: MemoryDirectory, rounds: ClosedRange<Int>)]>([])
    let copier = Worker()
    copier.enqueue {
      while !isDone.withLock({ $0 }) {
        let acknowledged = rounds.withLock { $0.lowerBound }
        let files = directory.copy()
        let begun = rounds.withLock { $0.upperBound }
        copies.withLock { copies in
          // A thinned-out run of copies is as good as all of them, and sooner opened.
          if copies.count >= 80 { copies.removeAll { _ in Bool.random() } }
          copies.append((files, acknowledged...begun))
        }
      }
    }
    // On a busy machine the other thread may begin late.
    for round in 2...20_000 where round <= 60 || copies.withLock({ $0.isEmpty }) {
      rounds.withLock { $0 = round - 1...round }
      try Rounds.write(round, to: database)
      rounds.withLock { $0 = round...round }
      try database.checkpoint()
    }
    isDone.withLock { $0 = true }
    copier.stop()
    let taken = copies.withLock { $0 }
    #expect(!taken.isEmpty)
    for copy in taken { _ = try expectRound(in: copy.rounds, copy.files) }
  }
}
