import Damage
import PageFile
import PageFileSalvage
import Testing

/// Cells of which many name the same overflow pages: whoever reads everything reads each page for one of
/// them.
@Suite(.timeLimit(.minutes(30))) struct SharedChainTests {
  private let tree = TreeNumber(0)
  private static let linkByteCount = 4064

  /// A store whose one leaf has cells with these values: how many links each has, and which is its first
  /// of all, numbered from 1.
  private func forge(
    _ values: [(linkCount: Int, first: UInt32)], linkCount: UInt32, isRing: Bool = false
  ) throws -> Forge {
    var forge = Forge(try #require(try Forge.emptyMeta()))
    forge.meta.checkpointLSN = LSN(5)
    forge.meta.roots.pageNumberEnd = linkCount + 2
    forge.meta.roots[tree] = PageNumber(linkCount + 1)
    for number in 1...linkCount {
      forge.pages[number] = forge.link(to: number < linkCount ? number + 1 : isRing ? 1 : 0)
    }
    let cells = values.enumerated().map { index, value in
      (
        key: [UInt8(index >> 8), UInt8(index & 255)],
        valueByteCount: value.linkCount * Self.linkByteCount, chain: value.first
      )
    }
    forge.pages[linkCount + 1] = forge.leaf(cells)
    return forge
  }

  /// Reads all values, and goes on after errors.
  private func walk(
    _ forge: Forge, refusesShared: Bool
  ) throws -> (readCount: Int, byteCount: Int, errors: [PageFileError]) {
    var options = DatabaseOptions()
    options.backgroundWork = .caller
    options.access = .readOnly
    let database = try Database(in: forge.files(), name: Specimen.storeName, options: options)
    let transaction = try database.beginRead()
    if refusesShared { transaction.source.refuseSharedChains() }
    try transaction.source.enter()
    defer { transaction.source.leave() }
    var cursor = Cursor(transaction.source, tree)
    var (readCount, byteCount, errors) = (0, 0, [PageFileError]())
    var isThere = try cursor.first()
    while isThere {
      var value = ByteBuffer()
      do throws(PageFileError) {
        // A value may be read again.
        for _ in 0..<2 {
          value.removeAll()
          try cursor.appendValue(to: &value)
        }
        readCount += 1
      } catch {
        errors.append(error)
      }
      byteCount += value.count
      isThere = try cursor.next()
    }
    return (readCount, byteCount, errors)
  }

  private func salvage(_ forge: Forge) throws -> (readCount: Int, byteCount: Int, lost: [String]) {
    let salvage = try PageSalvage(in: forge.files(), name: Specimen.storeName)
    let cursor = salvage.cursor(0)
    var (readCount, byteCount, lost) = (0, 0, [String]())
    while cursor.next() {
      byteCount += cursor.value.count
      if let reason = cursor.lostReason { lost.append(reason) } else { readCount += 1 }
    }
    return (readCount, byteCount, lost)
  }

  @Test func oneChainOfManyCellsIsReadOnce() throws {
    let forge = try forge(Array(repeating: (20, 1), count: 200), linkCount: 20)
    #expect(try walk(forge, refusesShared: false).readCount == 200)
    let (readCount, byteCount, errors) = try walk(forge, refusesShared: true)
    #expect(readCount == 1 && byteCount == 20 * Self.linkByteCount)
    let error = PageFileError.corruptPage(PageNumber(1), reason: "page shared by two values")
    #expect(errors == Array(repeating: error, count: 199))

    let saved = try salvage(forge)
    #expect(saved.readCount == 1 && saved.byteCount == 20 * Self.linkByteCount)
    #expect(saved.lost == Array(repeating: "page 1 is part of another value", count: 199))
  }

  /// Each begins at another link, and all lengths are right.
  @Test func chainsThatRunIntoOneAnotherAreReadOnce() throws {
    let values = (0..<200).map { (linkCount: 200 - $0, first: UInt32($0 + 1)) }
    let forge = try forge(values.reversed(), linkCount: 200)
    #expect(try walk(forge, refusesShared: false).readCount == 200)
    // The first has the last link.
    let (readCount, byteCount, errors) = try walk(forge, refusesShared: true)
    #expect(readCount == 1 && errors.count == 199 && byteCount <= 200 * Self.linkByteCount)
    let saved = try salvage(forge)
    #expect(saved.readCount == 1 && saved.byteCount == Self.linkByteCount)
  }

  /// A ring is gone along once, up to the length that the cell names.
  @Test func aRingOfManyCellsIsGoneAlongOnce() throws {
    let forge = try forge(Array(repeating: (8256, 1), count: 250), linkCount: 2, isRing: true)
    let (readCount, byteCount, errors) = try walk(forge, refusesShared: true)
    #expect(readCount == 0 && errors.count == 250 && byteCount <= 8256 * Self.linkByteCount)
    #expect(try salvage(forge).byteCount <= 8256 * Self.linkByteCount)
  }

  /// Values that share nothing are as they were.
  @Test func chainsOfTheirOwnAreRead() throws {
    let files = MemoryDirectory()
    var options = DatabaseOptions()
    options.backgroundWork = .caller
    let database = try Database(in: files, name: Specimen.storeName, options: options)
    try database.write { (source) throws(PageFileError) in
      for key in 0..<UInt8(60) {
        try source.put([key], [UInt8](repeating: key, count: 2000 + 300 * Int(key)))
      }
    }
    try database.checkpoint()
    let transaction = try database.beginRead()
    transaction.source.refuseSharedChains()
    try transaction.source.enter()
    defer { transaction.source.leave() }
    for _ in 0..<2 {
      var cursor = Cursor(transaction.source, tree)
      var isThere = try cursor.first()
      var count = 0
      while isThere {
        var value = ByteBuffer()
        try cursor.appendValue(to: &value)
        #expect(value.count == 2000 + 300 * count)
        count += 1
        isThere = try cursor.next()
      }
      #expect(count == 60)
    }
  }
}
