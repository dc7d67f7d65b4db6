import PageFile
import Testing

/// A compacted store holds the same in fewer pages, and the file becomes short.
struct CompactionTests {
  private let directory = MemoryDirectory()

  private func open(_ options: DatabaseOptions = smallPages) throws -> Database {
    try Database(in: directory, name: "x", options: options)
  }

  private var dataFileByteCount: Int { directory["x"]?.count ?? 0 }

  /// The size of a store into which the same was put in the order of the keys.
  private func freshByteCount(_ database: Database, trees: Range<Int>) throws -> Int {
    let files = MemoryDirectory()
    let fresh = try Database(in: files, name: "x", options: smallPages)
    for tree in trees {
      let cells = try database.contents(of: tree)
        .sorted { $0.key.lexicographicallyPrecedes($1.key) }
      try fresh.write { (source) throws(PageFileError) in
        for cell in cells { try source.put(cell.key, cell.value, tree: tree) }
      }
    }
    try fresh.close()
    return files["x"]?.count ?? 0
  }

  /// What keys and values look like.
  enum Shape: Sendable, CaseIterable {
    case short, random, threads, longKeys, largeValues, chains
    /// Separators so long that branch pages have few children, and the tree many levels.
    case deep

    func key(_ number: Int, _ random: inout SeededGenerator) -> [UInt8] {
      switch self {
      case .short, .largeValues, .chains: bigEndian(number)
      case .random: random.bytes(16)
      case .threads: [UInt8(number % 7)] + [1, 2, 3, 4, 5, 6] + bigEndian(number)
      case .longKeys:
        [UInt8](repeating: UInt8(number % 3), count: 100 + random.below(300)) + bigEndian(number)
      case .deep:
        bigEndian(number / 8) + [UInt8](repeating: UInt8(number / 8 % 251), count: 300)
          + bigEndian(number)
      }
    }

    func value(_ random: inout SeededGenerator) -> [UInt8] {
      switch self {
      case .largeValues, .deep: random.bytes(700 + random.below(250))
      case .chains: random.bytes(random.below(9000))
      default: random.bytes(random.below(120))
      }
    }
  }

  /// The first seed once gave a tree that lost one more page when it was compacted again.
  @Test(
    arguments: [(Shape.largeValues, 809_384_403 as UInt64)]
      + Shape.allCases.map { ($0, SeededGenerator.freshSeed()) })
  func aSparseStoreBecomesAsSmallAsAFreshOne(shape: Shape, seed: UInt64) throws {
    print("aSparseStoreBecomesAsSmallAsAFreshOne (\(shape)) seed \(seed)")
    var random = SeededGenerator(seed: seed)
    let database = try open()
    let count = shape == .chains ? 600 : shape == .deep ? 3000 : 6000
    let keys = (0..<count).map { shape.key($0, &random) }
    for batch in 0..<6 {
      try database.write { (source) throws(PageFileError) in
        for index in stride(from: batch, to: count, by: 6) {
          try source.put(keys[index], shape.value(&random), tree: batch % 2)
        }
      }
      try database.checkpoint()
    }
    let removed = [0, 30, 60, 90, 99][random.below(5)]
    try database.write { (source) throws(PageFileError) in
      for (index, key) in keys.enumerated() where random.below(100) < removed {
        try source.remove(key, tree: index % 2)
      }
    }
    let expected = try (0..<2).map { try database.contents(of: $0) }
    let before = dataFileByteCount
    try database.compact()
    #expect(dataFileByteCount <= before)
    #expect(try (0..<2).map { try database.contents(of: $0) } == expected)
    #expect(try database.findings() == [])
    let fresh = try freshByteCount(database, trees: 0..<2)
    #expect(
      dataFileByteCount * 10 <= fresh * 11, "\(dataFileByteCount) of \(fresh), \(removed) % gone")

    // Nothing is left to be gained, so nothing is written but the marks of an opening.
    var again = Compaction()
    while try database.compact(&again) {}
    #expect(again.savedPageCount == 0)
    #expect(again.stage == .done && again.readPageCount > 0)
    try database.close()
    let reopened = try open()
    #expect(try (0..<2).map { try reopened.contents(of: $0) } == expected)
    #expect(try reopened.findings() == [])
    // A commit does not make the file long again.
    let compacted = dataFileByteCount
    try reopened.write { (source) throws(PageFileError) in try source.put([1], [2]) }
    try reopened.checkpoint()
    #expect(dataFileByteCount <= compacted + 48 * 4096)
  }

  /// Branch pages of few children, packed in many windows of one parent in one commit: new pages
  /// begin where old ones met, and get the separator that the parent had there.
  ///
  /// The first seed once gave a tree whose separators were those of other pages.
  @Test(arguments: [213_148_811, SeededGenerator.freshSeed()])
  func branchPagesArePackedInManyWindowsOfOneCommit(seed: UInt64) throws {
    print("branchPagesArePackedInManyWindowsOfOneCommit seed \(seed)")
    var random = SeededGenerator(seed: seed)
    let count = 2500
    let keys = (0..<count).map { Shape.deep.key($0, &random) }
    for _ in 0..<4 {
      let database = try Database(in: MemoryDirectory(), name: "x", options: smallPages)
      try database.write { (source) throws(PageFileError) in
        for key in keys { try source.put(key, random.bytes(700)) }
      }
      try database.write { (source) throws(PageFileError) in
        for key in keys where random.below(10) < 6 { try source.remove(key) }
      }
      let expected = try database.contents()
      try database.write { (source) throws(PageFileError) in
        for level in 0..<5 {
          var next: [UInt8]? = []
          while let key = next {
            try source.enter()
            defer { source.leave() }
            let count = 2 + random.below(8)
            let (step, _) = try BTree(source, TreeNumber(0)).pack(
              level: level, from: key, maximumEditCount: count)
            if case .from(let key) = step { next = key } else { next = nil }
          }
        }
      }
      #expect(try database.findings() == [])
      #expect(try database.contents() == expected)
    }
  }

  /// The fill of the leaves of a tree, in percent.
  private func fill(_ database: Database, tree: Int = 0) throws -> Int {
    let transaction = try database.beginRead()
    let source = transaction.source
    try source.enter()
    defer { source.leave() }
    var (used, capacity) = (0, 0)
    try BTree(source, TreeNumber(tree)).check(
      visit: { number in
        guard let bytes = try? source.page(number),
          bytes[PageHeader.kindOffset] == PageKind.leaf.rawValue
        else { return }
        used += TreePage(bytes).usedByteCount
        capacity += TreePage(bytes).capacity
      }, report: { _, sentence in Issue.record("\(sentence)") })
    return used * 100 / max(1, capacity)
  }

  @Test func leavesEndUpFull() throws {
    var random = SeededGenerator()
    let database = try open()
    for _ in 0..<10 {
      try database.write { (source) throws(PageFileError) in
        for _ in 0..<2000 { try source.put(random.bytes(12), random.bytes(40)) }
      }
    }
    // Random keys fill leaves to 80 percent, as neighbours share before they split.
    #expect(try fill(database) < 90)
    try database.compact()
    #expect(try fill(database) >= 95)
  }

  /// What nobody has to change costs no commit.
  @Test func fullLeavesAreOnlyRead() throws {
    let database = try open()
    try database.write { (source) throws(PageFileError) in
      for number in 0..<20000 { try source.put(bigEndian(number), [1, 2, 3, 4, 5, 6, 7, 8]) }
    }
    try database.checkpoint()
    let lsn = database.statistics.lastLSN
    try database.compact()
    #expect(database.statistics.lastLSN == lsn)
  }

  @Test func anEmptyStoreStaysEmpty() throws {
    let database = try open()
    try database.compact()
    #expect(try database.contents().isEmpty)
    try database.write { (source) throws(PageFileError) in
      for number in 0..<2000 { try source.put(bigEndian(number), [1]) }
    }
    try database.checkpoint()
    try database.write { (source) throws(PageFileError) in
      for number in 0..<2000 { try source.remove(bigEndian(number)) }
    }
    try database.compact()
    #expect(dataFileByteCount <= 32768 + 66 * 4096)
    #expect(try database.findings() == [])
  }

  @Test func whoeverOnlyReadsCannot() throws {
    try open().write { (source) throws(PageFileError) in try source.put([1], [2]) }
    var options = smallPages
    options.access = .readOnly
    let database = try open(options)
    #expect(throws: PageFileError.readOnly(reason: "opened for reading only")) {
      try database.compact()
    }
  }
}
