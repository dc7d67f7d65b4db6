import Damage
import PageFile
import Testing

/// Pages that lead to each other in ways no store ever made, with good checksums: every walk ends, with an
/// error that names a page or with an answer, and a check says what is wrong.
@Suite(.timeLimit(.minutes(30))) struct ForgedGraphTests {
  private let tree = TreeNumber(0)

  private func forge() throws -> Forge {
    var forge = Forge(try #require(try Forge.emptyMeta()))
    forge.meta.checkpointLSN = LSN(5)
    return forge
  }

  /// Does everything there is to be done with the files; only damage may be thrown.
  ///
  /// Answers whether reading failed, and what a check found.
  @discardableResult
  private func walk(_ forge: Forge) throws -> (failure: PageFileError?, findings: [CheckFinding]) {
    var options = DatabaseOptions()
    options.backgroundWork = .caller
    let files = forge.files()
    let database: Database
    do throws(PageFileError) {
      database = try Database(in: files, name: Specimen.storeName, options: options)
    } catch {
      #expect(Judge.tellsOfDamage(error), "\(error)")
      return (error, [])
    }
    var failure: PageFileError?
    func attempt(_ body: () throws(PageFileError) -> Void) {
      do throws(PageFileError) {
        try body()
      } catch {
        failure = failure ?? error
        #expect(Judge.tellsOfDamage(error) || error == .aborted, "\(error)")
      }
    }
    let findings = try database.findings()
    attempt { () throws(PageFileError) in _ = try database.state() }
    let transaction = try database.beginRead()
    try transaction.source.enter()
    for key in [0, 1, 3, 200, 255] as [UInt8] {
      attempt { () throws(PageFileError) in
        var cursor = Cursor(transaction.source, tree)
        _ = try Bytes.with([key]) { (key) throws(PageFileError) in try cursor.seek(key) }
        while try cursor.previous() {}
      }
    }
    transaction.source.leave()
    let readFailure = failure
    for key in [0, 2, 255] as [UInt8] {
      attempt { () throws(PageFileError) in
        try database.write { (source) throws(PageFileError) in
          try source.remove([key])
          try source.put([key, 1], [UInt8](repeating: 1, count: 900))
        }
      }
    }
    attempt { () throws(PageFileError) in try database.checkpoint() }
    try? database.close()
    return (readFailure, findings)
  }

  /// From one page to itself up to rings of forty, on one level or with levels that fall around the ring.
  @Test(arguments: [1, 2, 3, 7, 33, 40]) func ringsOfBranchPagesAreCorrupt(length: UInt32) throws {
    for falls in [false, true] {
      var forge = try forge()
      forge.meta.roots.pageNumberEnd = length + 1
      forge.meta.roots[tree] = PageNumber(1)
      for number in 1...length {
        let level = falls ? UInt8(31 - min(30, number - 1)) : 3
        forge.pages[number] = forge.branch(level: level, to: [number % length + 1])
      }
      let (failure, findings) = try walk(forge)
      guard case .corruptPage? = failure else {
        Issue.record("ring of \(length): \(String(describing: failure))")
        continue
      }
      #expect(!findings.isEmpty)
    }
  }

  /// A path straight down: 32 levels are a tree, more are not, however the level bytes wrap.
  @Test(arguments: [1, 31, 32, 33, 34, 255, 256, 257, 10_000])
  func pathsDeeperThanTheLimitAreCorrupt(depth: UInt32) throws {
    var forge = try forge()
    forge.meta.roots.pageNumberEnd = depth + 1
    forge.meta.roots[tree] = PageNumber(1)
    for number in 1..<depth {
      let level = UInt8(truncatingIfNeeded: depth - number)
      forge.pages[number] = forge.branch(level: level, to: [number + 1])
    }
    forge.pages[depth] = forge.leaf([([5], [6])])
    let (failure, findings) = try walk(forge)
    #expect(
      (failure == nil) == (depth <= 32) && findings.isEmpty == (depth <= 32),
      "\(findings.prefix(2))")
  }

  @Test(arguments: [1, 2, 5, 60]) func ringsOfOverflowPagesAreCorrupt(length: UInt32) throws {
    for valueByteCount in [4064 * Int(length) + 1, 33_554_432] {
      var forge = try forge()
      forge.meta.roots.pageNumberEnd = length + 2
      forge.meta.roots[tree] = PageNumber(length + 1)
      for number in 1...length { forge.pages[number] = forge.link(to: number % length + 1) }
      forge.pages[length + 1] = forge.leaf(key: [9], valueByteCount: valueByteCount, chain: 1)
      let (failure, findings) = try walk(forge)
      guard case .corruptPage? = failure else {
        Issue.record("ring of \(length): \(String(describing: failure))")
        continue
      }
      #expect(!findings.isEmpty)
    }
  }

  /// A page with two parents, a chain with two owners, a table page and a page in one slot.
  @Test func pagesReachedTwiceAreFound() throws {
    var forge = try forge()
    forge.meta.roots.pageNumberEnd = 5
    forge.meta.roots[tree] = PageNumber(1)
    forge.meta.roots[TreeNumber(1)] = PageNumber(2)
    forge.pages[1] = forge.branch(level: 1, to: [2, 2])
    forge.pages[2] = forge.leaf([([0], [1])])
    forge.pages[3] = forge.leaf([([0], [1])])
    let (failure, findings) = try walk(forge)
    #expect(failure != nil)
    #expect(findings.contains { $0.page == PageNumber(2) && $0.description.contains("twice") })
    #expect(findings.contains { $0.page == PageNumber(2) && $0.description.contains("second") })
    #expect(
      findings.contains { $0.page == PageNumber(3) && $0.description.contains("not reached") })
  }

  /// Graphs of any shape: pages of all kinds that lead anywhere, also to what is no page.
  @Test func anyGraphEndsInAnswersOrErrors() throws {
    var random = SeededGenerator()
    var failureCount = 0
    for _ in 0..<300 {
      var forge = try forge()
      let pageCount = UInt32(1 + random.below(12))
      forge.meta.roots.pageNumberEnd = pageCount + UInt32(random.below(3)) + 1
      for index in 0..<2 + random.below(3) {
        let root = random.below(Int(forge.meta.roots.pageNumberEnd))
        forge.meta.roots[TreeNumber(index)] = PageNumber(UInt32(root))
      }
      for number in 1...pageCount where random.below(12) > 0 {
        func anyPage() -> UInt32 { 1 + UInt32(random.below(Int(pageCount) + 2)) }
        switch random.below(6) {
        case 0...2:
          let children = (0..<1 + random.below(5)).map { _ in anyPage() }
          let level = random.below(8) == 0 ? random.below(256) : 1 + random.below(3)
          forge.pages[number] = forge.branch(level: UInt8(level), to: children)
        case 3:
          let key = UInt8(random.below(6))
          forge.pages[number] = forge.leaf([([key], [1]), ([key + 1], [2]), ([key + 9], [])])
        case 4:
          forge.pages[number] = forge.leaf(
            key: [UInt8(random.below(9))], valueByteCount: 1 + random.below(20_000),
            chain: anyPage())
        default:
          forge.pages[number] = forge.link(to: random.below(3) == 0 ? 0 : anyPage())
        }
      }
      let (failure, findings) = try walk(forge)
      if failure != nil { failureCount += 1 }
      let isSaid = failure == nil || !findings.isEmpty || isOfOpening(failure)
      #expect(isSaid, "a check finds nothing where reading throws \(String(describing: failure))")
    }
    #expect(failureCount > 100)
  }

  private func isOfOpening(_ failure: PageFileError?) -> Bool {
    if case .corruptMeta? = failure { true } else { false }
  }
}
