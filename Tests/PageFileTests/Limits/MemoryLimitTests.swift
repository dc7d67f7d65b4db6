import Damage
import PageFile
import Testing

/// Pages in memory stay within the budget, a quarter of it for those that wait for readers, and a few
/// more, whatever is read and however long somebody stays inside.
struct MemoryLimitTests {
  private static let budget = 64
  /// Budget, those that wait for readers, what one page read holds, and what a checkpoint has in hand.
  private static let maximumCount = budget + 64 + 40

  /// Files that note how many pages are in memory at each read.
  private final class Watch: Sendable {
    let database = Locked<Database?>(nil)
    let peak = Locked(0)

    func reset() { peak.withLock { $0 = 0 } }

    var hook: HookedDirectory.Hook {
      { [self] (call, _) throws(PageFileError) in
        guard call.kind == .read, let database = database.withLock({ $0 }) else { return }
        let count = database.livingPageCount
        peak.withLock { $0 = max($0, count) }
      }
    }
  }

  private let watch: Watch
  private let database: Database
  private static let keyCount = 6000

  /// A closed store of some 1,600 pages, with a value of a thousand more.
  private static let files = Result {
    let files = MemoryDirectory()
    var options = DatabaseOptions()
    options.backgroundWork = .caller
    let database = try Database(in: files, name: "x", options: options)
    for start in stride(from: 0, to: keyCount, by: 1000) {
      try database.write { (source) throws(PageFileError) in
        for index in start..<start + 1000 {
          try source.put(key(index), [UInt8](repeating: UInt8(index % 251), count: 900))
        }
      }
    }
    try database.write { (source) throws(PageFileError) in
      try source.put([255], [UInt8](repeating: 7, count: 4 << 20), tree: 1)
    }
    try database.close()
    return files
  }

  init() throws {
    var options = DatabaseOptions()
    options.backgroundWork = .caller
    options.cacheByteCount = Self.budget * 4096
    watch = Watch()
    let files = try Self.files.get().copy()
    database = try Database(
      in: HookedDirectory(files, before: watch.hook), name: "x", options: options)
    let opened = database
    watch.database.withLock { $0 = opened }
  }

  private static func key(_ index: Int) -> [UInt8] {
    (0..<4).map { UInt8(truncatingIfNeeded: index >> (24 - 8 * $0)) }
  }

  /// The first byte of a value, read in an operation of its own.
  private func read(_ index: Int, _ source: PageSource) throws -> UInt8? {
    try source.enter()
    defer { source.leave() }
    var value = ByteBuffer()
    let isFound = try Bytes.with(Self.key(index)) { (key) throws(PageFileError) in
      try BTree(source, TreeNumber(0)).value(of: key, appendTo: &value)
    }
    return isFound ? value.bytes[0] : nil
  }

  private func readAll(_ source: PageSource) throws {
    for index in stride(from: 0, to: Self.keyCount, by: 3) {
      #expect(try read(index, source) == UInt8(index % 251))
    }
  }

  @Test func aCheckKeepsNoMorePagesThanTheBudget() throws {
    #expect(try database.findings() == [])
    print("check: at most \(watch.peak.withLock { $0 }) pages in memory, budget \(Self.budget)")
    #expect((Self.budget...Self.maximumCount).contains(watch.peak.withLock { $0 }))
  }

  @Test func compactionKeepsNoMorePagesThanTheBudgetAndACommit() throws {
    try database.write { (source) throws(PageFileError) in
      for index in stride(from: 0, to: Self.keyCount, by: 2) {
        if index % 500 < 60 { try source.remove(Self.key(index)) }
      }
    }
    try database.checkpoint()
    watch.reset()
    try database.compact()
    print("compaction: at most \(watch.peak.withLock { $0 }) pages in memory")
    // A commit of packing changes 1 MiB of pages, give or take the children of a branch page, while
    // those of the commit before are in the log.
    #expect(watch.peak.withLock { $0 } < Self.maximumCount + 4 * 256)
  }

  @Test func aValueLongerThanTheBudgetIsReadWithinIt() throws {
    let transaction = try database.beginRead()
    let source = transaction.source
    try source.enter()
    var cursor = Cursor(source, TreeNumber(1))
    #expect(try cursor.first())
    var value = ByteBuffer()
    try cursor.appendValue(to: &value)
    #expect(value.count == 4 << 20 && value.bytes[value.count - 1] == 7)
    source.leave()
    #expect(watch.peak.withLock { $0 } < Self.maximumCount)
  }

  /// What one operation has read stays readable to its end, and goes then.
  @Test func anOperationKeepsWhatItReads() throws {
    let transaction = try database.beginRead()
    let source = transaction.source
    try source.enter()
    var cursor = Cursor(source, TreeNumber(0))
    var values: [Bytes] = []
    var isAtCell = try cursor.first()
    while isAtCell {
      if let value = cursor.inlineValue { values.append(value) }
      isAtCell = try cursor.next()
    }
    #expect(values.count == Self.keyCount)
    for (index, value) in values.enumerated() {
      #expect(value[0] == UInt8(index % 251) && value[899] == value[0])
    }
    #expect(database.livingPageCount > 1000)
    source.leave()
    #expect(database.livingPageCount < Self.maximumCount)
  }

  @Test func aWalkThatPausesKeepsNoMorePagesThanTheBudget() throws {
    let transaction = try database.beginRead()
    let source = transaction.source
    try source.enter()
    defer { source.leave() }
    var cursor = Cursor(source, TreeNumber(0))
    var count = 0
    var isAtCell = try cursor.first()
    while isAtCell {
      if count % 50 == 0 { try cursor.pause() }
      #expect(cursor.inlineValue?[0] == UInt8(count % 251))
      count += 1
      isAtCell = try cursor.next()
    }
    #expect(count == Self.keyCount)
    print("a walk: at most \(watch.peak.withLock { $0 }) pages in memory")
    #expect(watch.peak.withLock { $0 } < Self.maximumCount)
  }

  /// One thread stands inside; others read all there is.
  @Test func whoStaysInsideDoesNotMakeOthersTakeMore() throws {
    let standing = try database.beginRead()
    let inside = standing.source
    try inside.enter()
    var cursor = Cursor(inside, TreeNumber(0))
    #expect(try cursor.first())
    let other = try database.beginRead()
    for _ in 0..<2 { try readAll(other.source) }
    #expect(watch.peak.withLock { $0 } < Self.maximumCount)
    #expect(cursor.inlineValue?[0] == 0)
    inside.leave()
    watch.reset()
    try readAll(other.source)
    #expect(watch.peak.withLock { $0 } < Self.maximumCount)
  }

  /// There are places for 64 readers at first.
  @Test func aCrowdInsideDoesNotEndFreeing() throws {
    let crowd = try (0..<200).map { _ in
      PageSourceHolder(try database.beginRead())
    }
    for reader in crowd { try reader.transaction.source.enter() }
    let other = try database.beginRead()
    try readAll(other.source)
    #expect(watch.peak.withLock { $0 } < Self.maximumCount)
    // All but those beyond the first places leave: images of before that are free to go.
    for reader in crowd[..<100] { reader.transaction.source.leave() }
    for reader in crowd[100...] {
      reader.transaction.source.leave()
      try reader.transaction.source.enter()
    }
    watch.reset()
    try readAll(other.source)
    #expect(watch.peak.withLock { $0 } < Self.maximumCount)
    for reader in crowd[100...] { reader.transaction.source.leave() }
  }

  private final class PageSourceHolder {
    let transaction: ReadTransaction
    init(_ transaction: consuming ReadTransaction) { self.transaction = transaction }
  }

  // MARK: Who expires

  private func isExpired(_ transaction: borrowing ReadTransaction) -> Bool {
    do {
      _ = try read(5, transaction.source)
      return false
    } catch {
      return true
    }
  }

  private func change(_ index: Int, _ value: UInt8) throws {
    try database.write { (source) throws(PageFileError) in
      try source.put(Self.key(index), [UInt8](repeating: value, count: 900))
    }
  }

  /// What an expired reader keeps until it ends cannot be given back by expiring others.
  @Test func anExpiredReaderThatDoesNotEndExpiresNoOther() throws {
    try database.write { (source) throws(PageFileError) in
      for index in stride(from: 0, to: 2000, by: 3) {
        try source.put(Self.key(index), [UInt8](repeating: 9, count: 900))
      }
    }
    let stuck = try database.beginRead()
    try database.checkpoint()
    for index in 0..<3 { try change(index, 2) }
    let isGone1 = isExpired(stuck)
    #expect(isGone1)
    var expiredCount = 0
    for index in 0..<50 {
      let reader = try database.beginRead()
      try change(index, 3)
      try change(index + 1, 4)
      if isExpired(reader) { expiredCount += 1 }
    }
    #expect(expiredCount == 0)
    #expect(throws: PageFileError.snapshotExpired) { try stuck.source.enter() }
  }

  /// The pages that an open transaction has changed are not kept by snapshots.
  @Test func anOpenTransactionExpiresNoReader() throws {
    let reader = try database.beginRead()
    try change(1, 2)
    try change(1, 3)
    let transaction = try database.beginWrite()
    for index in stride(from: 0, to: 2400, by: 3) {
      try transaction.source.put(Self.key(index), [UInt8](repeating: 9, count: 900))
    }
    database.keepWithinBudget()
    let isGone2 = isExpired(reader)
    #expect(!isGone2)
    transaction.rollback()
  }

  /// One that keeps more than the budget by itself still has to go.
  @Test func aReaderThatKeepsTooMuchExpires() throws {
    let reader = try database.beginRead()
    for round in 0..<40 {
      try database.write { (source) throws(PageFileError) in
        for index in stride(from: 0, to: 80, by: 4) {
          try source.put(Self.key(index), [UInt8](repeating: UInt8(round), count: 900))
        }
      }
      _ = try database.beginRead()
    }
    // Only the first version of each page is the old reader's.
    let isGone3 = isExpired(reader)
    #expect(!isGone3)
    try database.write { (source) throws(PageFileError) in
      for index in stride(from: 0, to: 2000, by: 3) {
        try source.put(Self.key(index), [UInt8](repeating: 9, count: 900))
      }
    }
    let later = try database.beginRead()
    for index in 0..<700 { try change(index * 3, 1) }
    let isGone4 = isExpired(later)
    #expect(isGone4)
  }
}
