import PageFile
import Testing

/// A check names each thing that is wrong, and goes on to the next.
struct TreeCheckTests {
  private let tree: ArrayTree
  private let root: TreePage

  init() throws {
    tree = try ArrayTree(pageSize: 4096)
    for number in 0..<300 {
      _ = try tree.insert(bigEndian(number), [UInt8](repeating: 1, count: 100))
    }
    _ = try tree.insert(bigEndian(1000), [UInt8](repeating: 2, count: 10_000))
    root = try tree.source.treePage(tree.source.root(of: treeUnderTest))
    #expect(root.cellCount > 5 && root.level == 1)
  }

  private func editor(_ number: PageNumber) throws -> TreePageEditor {
    TreePageEditor(try rawPage(number, of: tree.source))
  }

  /// What is reported, in the order of page numbers; of a page that is not there the pager says why.
  private func expect(_ findings: [(PageNumber, String)]) throws {
    var reported: [String] = []
    try tree.tree.check(visit: { _ in }) { number, what in
      reported.append("\(number): \(number == missing ? "" : what)")
    }
    #expect(reported.sorted() == findings.map { "\($0.0): \($0.1)" }.sorted())
  }

  private let missing = PageNumber(9999)

  @Test func findsNothingInOrder() throws { try expect([]) }

  @Test func findsChildrenInTheWrongPlace() throws {
    let (one, two) = (root.child(1), root.child(2))
    try editor(root.number).setChild(at: 1, to: two)
    try editor(root.number).setChild(at: 2, to: one)
    try expect([
      (one, "keys are below the parent's lower bound"),
      (two, "keys are not below the parent's upper bound"),
    ])
  }

  @Test func findsAPageReachedTwice() throws {
    let one = root.child(1)
    try editor(root.number).setChild(at: 2, to: one)
    try expect([(one, "the page is reached twice")])
    try tree.source.enter()
    defer { tree.source.leave() }
    var cursor = Cursor(tree.source, treeUnderTest)
    #expect(try cursor.first())
    #expect(throws: PageFileError.corruptPage(one, reason: "keys do not ascend from leaf to leaf"))
    {
      while try cursor.next() {}
    }
    let isAtCell = cursor.isAtCell
    #expect(!isAtCell)
  }

  @Test func findsSeveralThings() throws {
    let (one, two, three) = (root.child(1), root.child(2), root.child(3))
    try rawPage(one, of: tree.source)[PageHeader.levelOffset] = 1
    try editor(root.number).setChild(at: 4, to: missing)
    try rawPage(two, of: tree.source)[31] = 1
    let page = try rawPage(three, of: tree.source)
    let swapped = page.readOnly.uint16(at: 32)
    page.store(page.readOnly.uint16(at: 34), at: 32)
    page.store(swapped, at: 34)
    try expect([
      (one, "level 1, expected 0"),
      (two, "reserved header bytes are not zero"),
      (three, "keys are not in ascending order"),
      (missing, ""),
    ])
  }

  @Test func findsAPageOfAnotherTree() throws {
    try rawPage(root.child(2), of: tree.source)[PageHeader.treeOffset] = 3
    try expect([(root.child(2), "page header names tree 3")])
    try rawPage(root.child(2), of: tree.source)[PageHeader.treeOffset] = 15
    try expect([(root.child(2), "page header names tree 15")])
    try rawPage(root.child(2), of: tree.source)[PageHeader.treeOffset] = 16
    try expect([(root.child(2), "tree number out of range")])
  }

  private func chain() throws -> [PageNumber] {
    let leaf = try #require(try tree.leaves().last)
    var numbers = [try #require(leaf.overflow(leaf.cellCount - 1)).first]
    while let last = numbers.last {
      let next = OverflowPage(try tree.source.page(last)).next
      if next == .none { break }
      numbers.append(next)
    }
    #expect(numbers.count == 3)
    return numbers
  }

  @Test func findsAChainThatIsTooShort() throws {
    let links = try chain()
    OverflowPage.setNext(.none, of: try rawPage(links[1], of: tree.source))
    let reason = "an overflow chain is too short for its value"
    try expect([(links[0], reason)])
    #expect(throws: PageFileError.corruptPage(links[0], reason: reason)) {
      _ = try tree.value(bigEndian(1000))
    }
  }

  @Test func findsAChainThatRunsInACircle() throws {
    let links = try chain()
    OverflowPage.setNext(links[0], of: try rawPage(links[1], of: tree.source))
    try expect([(links[0], "the page is reached twice")])
    #expect(throws: PageFileError.self) { _ = try tree.remove(bigEndian(1000)) }
  }

  @Test func findsAChainThatIsNoChain() throws {
    let links = try chain()
    OverflowPage.setNext(root.number, of: try rawPage(links[1], of: tree.source))
    try expect([(root.number, "the page is reached twice")])
    let reason = "an overflow chain leads to a page of another kind"
    #expect(throws: PageFileError.corruptPage(root.number, reason: reason)) {
      _ = try tree.value(bigEndian(1000))
    }
  }
}
