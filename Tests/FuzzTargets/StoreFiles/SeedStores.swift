import PageFile
package import Simulation

/// Stores of several shapes and page sizes, from which the edits of an input start.
///
/// They are made by the engine itself, so they follow the format wherever it goes; what is random
/// in them is replaced, so that an input always meets the same bytes.
package enum SeedStores {
  static let all: [StoreImage] = shapes.compactMap { shape in
    do throws(PageFileError) {
      var image = try shape.make()
      image.replaceWhatIsRandom()
      return image
    } catch {
      return nil
    }
  }

  /// How they are laid out, for a test of whether they are worth starting from.
  package static var layouts: [(pageByteCount: Int, disk: SimulatedDisk)] {
    all.map { ($0.pageByteCount, $0.disk) }
  }

  package static var shapeCount: Int { shapes.count }

  /// How one of them is made.
  struct Shape: Sendable {
    let pageByteCount: Int
    let build: @Sendable (SeedBuilder) throws(PageFileError) -> Void

    func make() throws(PageFileError) -> StoreImage {
      let builder = try SeedBuilder(pageByteCount: pageByteCount)
      try build(builder)
      return StoreImage(builder.directory.disk, pageByteCount: pageByteCount)
    }
  }

  static let shapes = [
    Shape(pageByteCount: 4096, build: smallAndClosed),
    Shape(pageByteCount: 4096, build: withLog),
    Shape(pageByteCount: 4096, build: withTwoLogs),
    Shape(pageByteCount: 4096, build: deep),
    Shape(pageByteCount: 4096, build: sparse),
    Shape(pageByteCount: 4096, build: untouched),
    Shape(pageByteCount: 8192, build: withLog),
    Shape(pageByteCount: 16384, build: withTwoLogs),
    Shape(pageByteCount: 32768, build: smallAndClosed),
  ]

  private static func untouched(_ store: SeedBuilder) throws(PageFileError) {}

  private static func smallAndClosed(_ store: SeedBuilder) throws(PageFileError) {
    try store.put(0..<12, valueByteCount: 30)
    try store.put(12..<13, valueByteCount: 3 * store.pageByteCount)
    try store.database.close()
  }

  /// A leaf, a branch, chains, free numbers, and four commits since the checkpoint.
  private static func withLog(_ store: SeedBuilder) throws(PageFileError) {
    try store.put(0..<60, valueByteCount: store.pageByteCount / 20)
    try store.put(100..<103, valueByteCount: 2 * store.pageByteCount, tree: 1)
    try store.database.checkpoint()
    try store.put(30..<33, valueByteCount: 200)
    try store.remove(100..<102, tree: 1)
    try store.put(60..<64, valueByteCount: store.pageByteCount, tree: 2)
    try store.put(64..<65, valueByteCount: 10)
  }

  /// A checkpoint that could not write its pages has left both WAL files in use.
  private static func withTwoLogs(_ store: SeedBuilder) throws(PageFileError) {
    try store.put(0..<40, valueByteCount: store.pageByteCount / 10)
    try store.database.checkpoint()
    try store.put(10..<14, valueByteCount: 100)
    // The header of the other file can be written, the first page cannot.
    let callCount = store.directory.callCounts[Fault.Call.write.rawValue]
    store.directory.set(.fault(Fault(.write, first: callCount + 2, .full)))
    try? store.database.checkpoint()
    store.directory.set(nil)
    try store.put(20..<21, valueByteCount: 3 * store.pageByteCount, tree: 3)
    try store.remove(0..<30)
  }

  /// Three levels, since few long separators have room on a page.
  private static func deep(_ store: SeedBuilder) throws(PageFileError) {
    for start in stride(from: 0, to: 150, by: 30) {
      try store.put(start..<start + 30, valueByteCount: 500, keyByteCount: 480)
    }
    try store.database.checkpoint()
    try store.put(7..<8, valueByteCount: 9, keyByteCount: 480)
  }

  /// Few pages, and a page table of two levels for all the numbers that were once in use.
  private static func sparse(_ store: SeedBuilder) throws(PageFileError) {
    try store.put(0..<2, valueByteCount: 10)
    try store.put(2..<3, valueByteCount: 520 * store.pageByteCount)
    try store.put(3..<5, valueByteCount: 2 * store.pageByteCount)
    try store.remove(2..<3)
    for _ in 0..<3 { try store.database.checkpoint() }
    try store.put(5..<6, valueByteCount: 10)
  }
}

/// Writes a seed store.
final class SeedBuilder {
  let directory = SimulatedDirectory()
  let database: Database
  let pageByteCount: Int

  init(pageByteCount: Int) throws(PageFileError) {
    self.pageByteCount = pageByteCount
    var options = DatabaseOptions()
    options.pageByteCount = pageByteCount
    options.backgroundWork = .caller
    // What is erased leaves no remains behind, and those are worth meeting.
    options.secureDelete = false
    database = try Database(in: directory, name: StoreImage.names[0], options: options)
  }

  /// Stores values under numbered keys, in one commit.
  func put(
    _ numbers: Range<Int>, valueByteCount: Int, keyByteCount: Int = 6, tree: Int = 0
  ) throws(PageFileError) {
    try write { (source) throws(PageFileError) in
      for number in numbers {
        let value = (0..<valueByteCount).map { UInt8(truncatingIfNeeded: $0 * number) | 1 }
        try source.put(Self.key(number, keyByteCount), value, tree: tree)
      }
    }
  }

  func remove(_ numbers: Range<Int>, tree: Int = 0) throws(PageFileError) {
    try write { (source) throws(PageFileError) in
      for number in numbers { _ = try source.remove(Self.key(number, 6), tree: tree) }
    }
  }

  private func write(
    _ body: (PageSource) throws(PageFileError) -> Void
  ) throws(PageFileError) {
    let transaction = try database.beginWrite()
    try body(transaction.source)
    _ = try transaction.commit(.full)
  }

  /// Keys that differ early and late, so that separators are short and long.
  private static func key(_ number: Int, _ byteCount: Int) -> [UInt8] {
    let digits = Array("k\(1000 + number)".utf8)
    return digits.prefix(4) + [UInt8](repeating: 0x2E, count: byteCount - 5) + digits.suffix(1)
  }
}

extension StoreImage {
  /// Gives store id, generations and chain values numbers that do not differ from run to run.
  mutating func replaceWhatIsRandom() {
    let id = Array("the fuzzed store".utf8)
    for slot in 0..<2 {
      let meta = MetaSlot.offset(of: slot)
      data.store(id, at: meta + 40)
      data.store(Self.chain(after: data.uint(8, at: meta + 64)), 8, at: meta + 72)
      data.store(Self.random(of: data.uint(8, at: meta + 80)), 8, at: meta + 88)
    }
    for log in logs.indices where logs[log].count >= WALHeader.byteCount {
      logs[log].store(id, at: 16)
      logs[log].store(Self.random(of: logs[log].uint(8, at: 32)), 8, at: 40)
      logs[log].store(Self.chain(after: logs[log].uint(8, at: 48) &- 1), 8, at: 56)
      let sectors = stride(
        from: WALHeader.commitsOffset, to: logs[log].count, by: WALHeader.sectorByteCount)
      for offset in sectors {
        let generation = isCommit(log, at: offset) ? offset + 24 : offset + 16
        guard isCommit(log, at: offset) || logs[log].uint(4, at: offset) == 0x4B52_4D57 else {
          continue
        }
        logs[log].store(Self.random(of: logs[log].uint(8, at: generation)), 8, at: generation + 8)
      }
    }
    repair()
  }

  private static func random(of counter: UInt64) -> UInt64 { counter &* 0x9E37_79B9_7F4A_7C15 }
  private static func chain(after lsn: UInt64) -> UInt64 { lsn &* 0xC2B2_AE3D_27D4_EB4F &+ 1 }
}
