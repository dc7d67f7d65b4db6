import PageFile
import Testing

/// How long the bytes of a page may be read: a debug build traps as soon as somebody reads on, and not
/// only when another thread has evicted the page.
struct BracketTests {
  #if DEBUG
    @Test func aPageThatIsReadOutsideOfABracketTraps() async throws {
      await #expect(processExitsWith: .failure) {
        let database = try Database(in: MemoryDirectory(), name: "x")
        try database.write { (source) throws(PageFileError) in try source.put([1], [2]) }
        let transaction = try database.beginRead()
        _ = try Bytes.with([1]) { (key) throws(PageFileError) in
          var value = ByteBuffer()
          return try BTree(transaction.source, TreeNumber(0)).value(of: key, appendTo: &value)
        }
      }
    }

    @Test func bytesThatAreReadAfterTheirBracketTrap() async throws {
      await #expect(processExitsWith: .failure) {
        let database = try Database(in: MemoryDirectory(), name: "x")
        try database.write { (source) throws(PageFileError) in try source.put([1], [2]) }
        let transaction = try database.beginRead()
        let source = transaction.source
        try source.enter()
        let page = try source.page(source.root(of: TreeNumber(0)))
        precondition(page.slice(0, 8).count == 8)
        source.leave()
        _ = page[0]
      }
    }

    @Test func aPageOfTheWriterIsNotReadAfterItsBracketEither() async throws {
      await #expect(processExitsWith: .failure) {
        let database = try Database(in: MemoryDirectory(), name: "x")
        let transaction = try database.beginWrite()
        let source = transaction.source
        try source.put([1], [2])
        try source.enter()
        let part = try source.page(source.root(of: TreeNumber(0))).dropFirst(8)
        source.leave()
        _ = part.uint32(at: 0)
      }
    }
  #endif

  /// Brackets nest: what was handed out is good until the outermost ends.
  @Test func bytesStayGoodWhileAnyBracketAroundThemIsOpen() throws {
    let database = try Database(in: MemoryDirectory(), name: "x")
    try database.write { (source) throws(PageFileError) in try source.put([1], [2]) }
    let transaction = try database.beginRead()
    let source = transaction.source
    try source.enter()
    try source.enter()
    let page = try source.page(source.root(of: TreeNumber(0)))
    source.leave()
    #expect(page[PageHeader.kindOffset] == PageKind.leaf.rawValue)
    source.leave()
  }
}
