import PageFile
import Testing

/// Readers and writers do not notice that a store is compacted.
struct CompactionBesideOthersTests {
  private let directory = MemoryDirectory()
  private let database: Database

  init() throws {
    database = try Database(in: directory, name: "x", options: smallPages)
  }

  private var dataFileByteCount: Int { directory["x"]?.count ?? 0 }

  private final class Reader {
    let transaction: ReadTransaction
    let expected: [[UInt8]: [UInt8]]
    /// The step of the run in which it began.
    let begun: Int

    init(
      _ transaction: consuming ReadTransaction, _ expected: [[UInt8]: [UInt8]], begun: Int = 0
    ) {
      self.transaction = transaction
      self.expected = expected
      self.begun = begun
    }

    func hasSameView() throws -> Bool { try contents(of: transaction.source) == expected }
  }

  private static let maximumReaderAge = 15

  /// Random changes, a reader after each, and steps of a compaction between all of them.
  @Test(arguments: 0..<6) func readersSeeTheirMomentMeanwhile(round: Int) throws {
    let seed = SeededGenerator.freshSeed()
    print("readersSeeTheirMomentMeanwhile (\(round)) seed \(seed)")
    var random = SeededGenerator(seed: seed)
    var expected: [[UInt8]: [UInt8]] = [:]
    var readers: [Reader] = []
    var compaction = Compaction()
    var compactionCount = 0
    var step = 0
    while compactionCount < 5 {
      step += 1
      if random.below(3) == 0 {
        var changed = expected
        try database.write { (source) throws(PageFileError) in
          for _ in 0..<random.below(150) {
            let key = bigEndian(random.below(2500))
            let value = random.bytes(random.below(25) == 0 ? 3000 : random.below(200))
            if random.below(100) < (round % 2 == 0 ? 35 : 65) {
              try source.put(key, value)
              changed[key] = value
            } else if changed.removeValue(forKey: key) != nil {
              try source.remove(key)
            }
          }
        }
        expected = changed
      }
      if random.below(4) == 0 {
        readers.append(Reader(try database.beginRead(), expected, begun: step))
      }
      if readers.count > 6 {
        #expect(try readers.remove(at: random.below(readers.count)).hasSameView())
      }
      // One that keeps more than 1,024 slots would have to give way.
      if let oldest = readers.first, step - oldest.begun > Self.maximumReaderAge {
        #expect(try readers.removeFirst().hasSameView())
      }
      if random.below(6) == 0 { try database.checkpoint() }
      if try !database.compact(&compaction) {
        compaction = Compaction()
        compactionCount += 1
        #expect(try database.findings() == [])
        #expect(try database.contents() == expected)
      }
    }
    for reader in readers { #expect(try reader.hasSameView()) }
  }

  @Test func theSpaceComesBackWhenReadersEnd() throws {
    try database.write { (source) throws(PageFileError) in
      for number in 0..<6000 {
        try source.put(bigEndian(number), [UInt8](repeating: 1, count: 200))
      }
    }
    try database.checkpoint()
    let full = dataFileByteCount
    do {
      let reader = Reader(try database.beginRead(), try database.contents())
      // Nine of ten go, all over the store.
      try database.write { (source) throws(PageFileError) in
        for number in 0..<6000 where number % 10 != 0 { try source.remove(bigEndian(number)) }
      }
      try database.compact()
      #expect(dataFileByteCount >= full)
      #expect(try reader.hasSameView())
    }
    try database.checkpoint()
    #expect(dataFileByteCount < full / 3)
    let kept = (64 + 8) * 4096
    #expect(dataFileByteCount <= 32768 + 6000 / 10 * 230 + kept)
    #expect(try database.findings() == [])
    #expect(try database.contents().count == 600)
  }

  /// What was erased is gone also from where packing and moving have carried it.
  @Test func nothingErasedIsLeftBehind() throws {
    let secret = Array("the secret that nobody may find".utf8)
    try database.write { (source) throws(PageFileError) in
      for number in 0..<4000 {
        try source.put(bigEndian(number), [UInt8](repeating: 1, count: 150))
      }
      for number in 3000..<3100 { try source.put(bigEndian(number), secret) }
    }
    try database.checkpoint()
    try database.write { (source) throws(PageFileError) in
      for number in 0..<3000 where number % 7 != 0 { try source.remove(bigEndian(number)) }
    }
    var compaction = Compaction()
    for _ in 0..<40 { _ = try database.compact(&compaction) }
    #expect(compaction.stage == .done)
    try database.write { (source) throws(PageFileError) in
      source.isErasing = true
      for number in 3000..<3100 { try source.remove(bigEndian(number)) }
    }
    try database.compact()
    for name in ["x", "x-wal0", "x-wal1"] {
      let bytes = try #require(directory[name])
      var text = ""
      for byte in bytes where byte < 128 { text.unicodeScalars.append(Unicode.Scalar(byte)) }
      #expect(!text.contains("nobody may find"), "\(name)")
    }
    #expect(try database.findings() == [])
  }

  @Test func aThreadMayCompactWhileAnotherWrites() throws {
    let writer = Aside()
    let database = database
    let isDone = Locked(false)
    let failure = Locked<PageFileError?>(nil)
    writer.begin {
      do throws(PageFileError) {
        for round in 1...60 { try Rounds.write(round, to: database) }
      } catch {
        failure.withLock { $0 = error }
      }
      isDone.withLock { $0 = true }
    }
    var compactionCount = 0
    while !isDone.withLock({ $0 }) || compactionCount == 0 {
      try database.compact()
      _ = try Rounds.read(database)
      compactionCount += 1
    }
    #expect(writer.hasEnded(withinMilliseconds: 5000))
    #expect(failure.withLock { $0 } == nil)
    #expect(try Rounds.read(database) == 60)
    #expect(try database.findings() == [])
  }
}
