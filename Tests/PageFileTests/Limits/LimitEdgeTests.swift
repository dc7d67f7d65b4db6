import Damage
import PageFile
import Testing

/// Each limit met exactly, and passed by one: what fits is kept, what does not is refused before anything is
/// written.
struct LimitEdgeTests {
  private let limit = 64 << 20
  private let maximumValueByteCount = 33_554_432

  private func database(
    _ pageByteCount: Int
  ) throws(PageFileError) -> (Database, MemoryDirectory) {
    var options = DatabaseOptions()
    options.pageByteCount = pageByteCount
    let directory = MemoryDirectory()
    return (try Database(in: directory, name: "x", options: options), directory)
  }

  @Test func keysOfAllLengthsAreKeptAndFound() throws {
    for pageByteCount in PageSize.allowed {
      let (database, _) = try database(pageByteCount)
      var expected: [[UInt8]: [UInt8]] = [:]
      for count in [1, 2, 127, 128, 129, 255, 256, 510, 511, 512] {
        for last in [0, 1, 254, 255] as [UInt8] {
          expected[[UInt8](repeating: 255, count: count - 1) + [last]] = [last, UInt8(count % 256)]
        }
      }
      try database.write { (source) throws(PageFileError) in
        for (key, value) in expected { try source.put(key, value) }
      }
      try database.checkpoint()
      let isRight = try database.contents() == expected
      #expect(isRight)
      #expect(try database.findings() == [])
    }
  }

  /// Values around the length at which they leave their page, and around full links.
  @Test func valuesAroundEveryEdgeAreKept() throws {
    for pageByteCount in PageSize.allowed {
      let (database, _) = try database(pageByteCount)
      let quarter = (pageByteCount - 32) / 4
      let link = pageByteCount - 32
      var expected: [[UInt8]: [UInt8]] = [:]
      for edge in [0, 63, 64, 127, 8191, 8192, quarter, link, 2 * link] {
        for count in max(0, edge - 8)...edge + 2 {
          for key in [[1], [UInt8](repeating: 2, count: 512)] as [[UInt8]] {
            let name = (key + [UInt8(count >> 8 & 255), UInt8(count & 255)]).suffix(512)
            expected[Array(name)] = [UInt8](repeating: UInt8(count % 255), count: count)
          }
        }
      }
      try database.write { (source) throws(PageFileError) in
        for (key, value) in expected { try source.put(key, value) }
      }
      try database.checkpoint()
      let isRight = try database.contents() == expected
      #expect(isRight)
      #expect(try database.findings() == [])
    }
  }

  @Test func theLongestValueIsKeptAndALongerOneRefused() throws {
    let (database, directory) = try database(32768)
    let before = ["x", "x-wal0", "x-wal1"].map { directory[$0]?.count }
    let tooLong = [UInt8](repeating: 5, count: maximumValueByteCount + 1)
    let error = PageFileError.limitExceeded(
      what: "value byte count", value: maximumValueByteCount + 1, limit: maximumValueByteCount)
    try database.write(.full) { (source) throws(PageFileError) in
      #expect(throws: error) { try source.put([1], tooLong) }
    }
    // That transaction goes on, and has nothing to write.
    #expect(["x", "x-wal0", "x-wal1"].map { directory[$0]?.count }.first == before.first)
    #expect(try database.contents() == [:])
    try database.write(.full) { (source) throws(PageFileError) in
      try source.put([1], Array(tooLong.dropLast()))
    }
    let reopened = try Database(in: directory.copy(), name: "x")
    let isRight = try reopened.contents() == [[1]: Array(tooLong.dropLast())]
    #expect(isRight)
    #expect(try reopened.findings() == [])
  }

  /// 2,048 pages of 32 KiB are 64 MiB; one more is one too many, in the log as in memory.
  @Test func theLargestTransactionIsKeptAndALargerOneRefused() throws {
    let link = 32768 - 32
    let pageCount = limit / 32768
    let halves = [pageCount / 2, pageCount / 2 - 1].map { [UInt8](repeating: 1, count: $0 * link) }
    let (database, directory) = try database(32768)
    let tooLarge = try database.beginWrite()
    try tooLarge.source.put([1], halves[0])
    try tooLarge.source.put([2], halves[1])
    let error = PageFileError.limitExceeded(
      what: "bytes of pages changed in one transaction", value: limit + 32768, limit: limit)
    #expect(throws: error) { try tooLarge.source.put([3], [UInt8](repeating: 2, count: link)) }
    tooLarge.rollback()
    #expect(try database.contents() == [:])
    // With the leaf these are as many pages as there may be.
    try database.write(.full) { (source) throws(PageFileError) in
      try source.put([1], halves[0])
      try source.put([2], halves[1])
    }
    let copy = try Database(in: directory.copy(), name: "x")
    let isRight = try copy.contents() == [[1]: halves[0], [2]: halves[1]]
    #expect(isRight)
    #expect(try copy.findings() == [])
    try database.checkpoint()
    #expect(try database.findings() == [])
  }
}
