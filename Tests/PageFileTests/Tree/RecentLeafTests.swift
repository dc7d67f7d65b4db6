import PageFile
import Testing

/// The leaf that a transaction visited last is found again without a walk.
struct RecentLeafTests {
  private static let count = 600

  private static func count(_ levels: Int) -> Int { levels == 2 ? count : 4 * count }

  private static func key(_ number: Int) -> [UInt8] { bigEndian(number * 4) }

  private static func value(_ number: Int, levels: Int) -> [UInt8] {
    bigEndian(number) + [UInt8](repeating: 7, count: levels == 2 ? 0 : 900)
  }

  /// A tree of two levels, or of three with four cells in each leaf.
  private func makeTree(levels: Int = 2) throws -> ArrayTree {
    let tree = try ArrayTree(pageSize: 4096)
    for number in 0..<Self.count(levels) {
      _ = try tree.insert(Self.key(number), Self.value(number, levels: levels))
    }
    let root = try tree.source.treePage(tree.source.root(of: treeUnderTest))
    #expect(root.level == levels - 1)
    return tree
  }

  private func walkCount(_ body: () throws -> Void) rethrows -> Int {
    let counter = WalkCounter()
    try WalkCounter.current.withValue(counter) { try body() }
    let counts = counter.counts
    return (counts.read[treeUnderTest] ?? 0) + (counts.write[treeUnderTest] ?? 0)
  }

  @Test(.enabled(if: _isDebugAssertConfiguration(), "walks are counted in debug builds only"))
  func neighboursCostNoWalk() throws {
    let tree = try makeTree()
    #expect(try walkCount { _ = try tree.value(Self.key(300)) } == 1)
    #expect(try walkCount { _ = try tree.contains(Self.key(301)) } == 0)
    #expect(try walkCount { _ = try tree.insert(Self.key(299) + [1], [1]) } == 0)
    #expect(try walkCount { _ = try tree.remove(Self.key(300)) } == 0)
    #expect(try walkCount { _ = try tree.rekey(Self.key(301), to: Self.key(301) + [1], []) } == 0)
    #expect(try walkCount { _ = try tree.value(Self.key(5)) } == 1)
  }

  /// Keys before the first one of the leaf and behind the last one, up to the separators.
  @Test(.enabled(if: _isDebugAssertConfiguration(), "walks are counted in debug builds only"))
  func keysBetweenTheSeparatorsCostNoWalk() throws {
    let tree = try makeTree()
    let leaves = try tree.leaves()
    let middle = leaves[leaves.count / 2]
    let (first, last) = (try keyOfCell(0, middle), try keyOfCell(middle.cellCount - 1, middle))
    let (end, next) = (last + [0xFF], try keyOfCell(0, leaves[leaves.count / 2 + 1]))
    _ = try tree.value(first)
    #expect(try walkCount { _ = try tree.value(end) } == 0)
    #expect(try walkCount { _ = try tree.remove(end) } == 0)
    #expect(try walkCount { _ = try tree.value(next) } == 1)
    // The last leaf of a tree of two levels has no upper bound.
    _ = try tree.value(Self.key(Self.count - 1))
    #expect(try walkCount { _ = try tree.insert(Self.key(Self.count), [2]) } == 0)
  }

  /// With two levels the path is known without a descent.
  @Test(
    .enabled(if: _isDebugAssertConfiguration(), "walks are counted in debug builds only"),
    arguments: [2, 3])
  func onlyCursorsThatLeaveTheLeafCostAWalk(levels: Int) throws {
    let tree = try makeTree(levels: levels)
    _ = try tree.value(Self.key(300))
    try tree.source.enter()
    defer { tree.source.leave() }
    var cursor = Cursor(tree.source, treeUnderTest)
    let target = Self.key(300)
    let found = try walkCount {
      _ = try Bytes.with(target) { try cursor.seek($0) }
    }
    #expect(found == 0)
    let left = try walkCount { while try cursor.next() {} }
    #expect(left == levels - 2)
  }

  @Test(arguments: [2, 3]) func cursorsWalkOnFromALeafFoundAgain(levels: Int) throws {
    let tree = try makeTree(levels: levels)
    for start in stride(from: 0, to: Self.count(levels), by: levels == 2 ? 7 : 53) {
      _ = try tree.value(Self.key(start))
      try tree.source.enter()
      defer { tree.source.leave() }
      for isForward in [true, false] {
        var cursor = Cursor(tree.source, treeUnderTest)
        let target = Self.key(start)
        let isFound = try Bytes.with(target) { try cursor.seek($0) }
        #expect(isFound)
        var number = start
        while isForward ? try cursor.next() : try cursor.previous() {
          number += isForward ? 1 : -1
          let key = try cursor.cell().key
          #expect(key == Self.key(number))
        }
        #expect(number == (isForward ? Self.count(levels) - 1 : 0))
      }
    }
  }

  @Test(arguments: [2, 3]) func aFreedLeafIsForgotten(levels: Int) throws {
    let tree = try makeTree(levels: levels)
    for start in stride(from: 0, to: Self.count(levels), by: 50) {
      for number in start..<start + 50 {
        #expect(try tree.value(Self.key(number)) == Self.value(number, levels: levels))
        #expect(try tree.remove(Self.key(number)))
        #expect(try tree.value(Self.key(number)) == nil)
      }
      _ = try tree.insert(Self.key(start), [1])
      #expect(try tree.value(Self.key(start)) == [1])
      // Looks at each byte of all leaves.
      if start % 600 == 0 { #expect(tree.findings() == []) }
    }
    for start in stride(from: 0, to: Self.count(levels), by: 50) {
      _ = try tree.remove(Self.key(start))
    }
    #expect(try tree.value(Self.key(0)) == nil)
    #expect(tree.source.root(of: treeUnderTest) == .none)
  }

  /// A leaf with a key that its parent gives to another one: a change that needs the parent is
  /// refused.
  @Test func aLeafOutOfItsBoundsIsNotChangedWithItsParent() throws {
    let tree = try makeTree()
    let root = try tree.source.treePage(tree.source.root(of: treeUnderTest))
    let leaf = try tree.source.treePage(root.child(2))
    let number = leaf.number
    let (first, last) = (try keyOfCell(0, leaf), try keyOfCell(leaf.cellCount - 1, leaf))
    _ = try tree.value(first)
    // The parent leads to other leaves for all keys of this one.
    let editor = TreePageEditor(try rawPage(root.number, of: tree.source))
    editor.setChild(at: 2, to: root.child(1))
    #expect(try tree.value(last) != nil, "found in the leaf that was visited last")
    #expect(
      throws: PageFileError.corruptPage(
        number, reason: "the page holds keys outside its parent's bounds")
    ) {
      for tail in 0..<500 { _ = try tree.insert(first + bigEndian(tail), bigEndian(tail)) }
    }
  }

  /// Two leaves in each other's places: each key keeps the leaf to which the root leads, whatever
  /// was visited before.
  @Test func aLeafOutOfItsBoundsAnswersForNoForeignKey() throws {
    let tree = try makeTree()
    let root = try tree.source.treePage(tree.source.root(of: treeUnderTest))
    let (one, two) = (root.child(1), root.child(2))
    let ofOne = try keyOfCell(3, try tree.source.treePage(one))
    let ofTwo = try keyOfCell(3, try tree.source.treePage(two))
    let first = Self.key(0)
    let editor = TreePageEditor(try rawPage(root.number, of: tree.source))
    editor.setChild(at: 1, to: two)
    editor.setChild(at: 2, to: one)
    // Leads to the leaf that has the other key.
    #expect(try tree.value(ofOne) == nil)
    #expect(try tree.value(ofTwo) == nil)
    #expect(try tree.value(ofOne) == nil)
    #expect(try !tree.insert(ofTwo, [1]))
    #expect(try tree.value(first) != nil)
    #expect(try tree.value(ofTwo) == [1])
    try tree.source.enter()
    defer { tree.source.leave() }
    var cursor = Cursor(tree.source, treeUnderTest)
    let isFound = try Bytes.with(ofOne) { try cursor.seekBack($0) }
    #expect(!isFound)
    let isInserted = try Bytes.with(ofTwo) { try cursor.seek($0) }
    #expect(isInserted)
  }

  /// A leaf in the place of the next one takes no key behind its last one.
  @Test func aLeafOutOfItsBoundsTakesNoForeignKey() throws {
    let tree = try makeTree()
    let root = try tree.source.treePage(tree.source.root(of: treeUnderTest))
    let (one, two) = (root.child(1), root.child(2))
    let leaf = try tree.source.treePage(one)
    let ofTwo = try keyOfCell(3, try tree.source.treePage(two))
    let new = try keyOfCell(leaf.cellCount - 1, leaf) + [0xFF]
    // Room for the new key.
    let middle = try keyOfCell(leaf.cellCount / 2, leaf)
    #expect(try tree.remove(middle))
    let editor = TreePageEditor(try rawPage(root.number, of: tree.source))
    editor.setChild(at: 1, to: two)
    editor.setChild(at: 2, to: one)
    // Leads to the leaf below whose place the new key belongs.
    #expect(try tree.value(ofTwo) == nil)
    #expect(try !tree.insert(new, [1]))
    #expect(try tree.value(Self.key(0)) != nil)
    #expect(try tree.value(new) == [1])
  }

  /// A leaf with two keys of the next one: what belongs between them is stored where the root leads.
  @Test func aLeafWithForeignKeysTakesNoneBetweenThemByRekeying() throws {
    let tree = try makeTree()
    let root = try tree.source.treePage(tree.source.root(of: treeUnderTest))
    let (one, two) = (root.child(1), root.child(2))
    let leaf = try tree.source.treePage(one)
    let last = leaf.cellCount - 1
    let (moved, first) = (try keyOfCell(0, leaf), try keyOfCell(5, try tree.source.treePage(two)))
    for index in [last, last - 1, last - 2] {
      let key = try keyOfCell(index, leaf)
      #expect(try tree.remove(key))
    }
    let editor = TreePageEditor(try rawPage(one, of: tree.source))
    for tail in [1, 3] as [UInt8] {
      let isInserted = Bytes.with(first + [tail]) { key in
        editor.insert(Cell(CellKey(key), .value(key)), at: editor.page.cellCount)
      }
      #expect(isInserted)
    }
    let new = first + [2]
    // The leaf visited last is another one, so the key is found from the root.
    #expect(try tree.value(Self.key(0)) != nil)
    #expect(try tree.rekey(moved, to: new, [1]))
    #expect(try tree.value(Self.key(0)) != nil)
    #expect(try tree.value(new) == [1])
  }

  /// The separator beside the first and the last leaf of a branch page may be in a page above it.
  @Test(.enabled(if: _isDebugAssertConfiguration(), "walks are counted in debug builds only"))
  func theOuterLeavesOfABranchAreFoundAgain() throws {
    let tree = try makeTree(levels: 3)
    let root = try tree.source.treePage(tree.source.root(of: treeUnderTest))
    for place in [0, 1, root.cellCount - 1] {
      let branch = try tree.source.treePage(root.child(place))
      for index in [0, 1, branch.cellCount - 1] {
        let key = try keyOfCell(1, try tree.source.treePage(branch.child(index)))
        #expect(try walkCount { _ = try tree.value(key) } == 1)
        #expect(try walkCount { _ = try tree.value(key) } == 0, "\(place), \(index)")
      }
    }
  }

  /// Two branch pages in each other's places: a cursor gets to leaves that the root does not lead to.
  @Test func aCursorLeavesNoLeafBehindThatIsOutOfItsBounds() throws {
    let tree = try makeTree(levels: 3)
    for number in Self.count(3)..<3 * Self.count(3) {
      _ = try tree.insert(Self.key(number), Self.value(number, levels: 3))
    }
    let root = try tree.source.treePage(tree.source.root(of: treeUnderTest))
    try #require(root.level == 2 && root.cellCount > 3)
    let (one, two) = (root.child(1), root.child(2))
    let branch = try tree.source.treePage(two)
    let leaf = try tree.source.treePage(branch.child(branch.cellCount - 1))
    let (first, second) = (try keyOfCell(0, leaf), try keyOfCell(1, leaf))
    #expect(try tree.remove(first))
    let editor = TreePageEditor(try rawPage(root.number, of: tree.source))
    editor.setChild(at: 1, to: two)
    editor.setChild(at: 2, to: one)
    do {
      try tree.source.enter()
      defer { tree.source.leave() }
      var cursor = Cursor(tree.source, treeUnderTest)
      var isThere = try cursor.first()
      while isThere, try cursor.cell().key != second { isThere = try cursor.next() }
      #expect(isThere)
    }
    #expect(try !tree.insert(first, [1]))
    #expect(try tree.value(Self.key(0)) != nil)
    #expect(try tree.value(first) == [1])
  }

  /// A cursor that cannot find the path to its leaf has not come to the end.
  @Test(arguments: [false, true]) func aPathThatCannotBeReadIsNoEnd(isForward: Bool) throws {
    let tree = try makeTree()
    _ = try tree.value(Self.key(300))
    try tree.source.enter()
    defer { tree.source.leave() }
    var cursor = Cursor(tree.source, treeUnderTest)
    let target = Self.key(300)
    let isFound = try Bytes.with(target) { try cursor.seek($0) }
    #expect(isFound)
    let root = try rawPage(tree.source.root(of: treeUnderTest), of: tree.source)
    root[PageHeader.levelOffset] = 2
    var errorCount = 0
    for _ in 0..<Self.count where errorCount < 2 {
      do throws(PageFileError) {
        guard isForward ? try cursor.next() : try cursor.previous() else { break }
      } catch {
        errorCount += 1
      }
    }
    #expect(errorCount == 2)
  }

  private func keyOfCell(_ index: Int, _ page: TreePage) throws -> [UInt8] {
    var key = ByteBuffer()
    page.key(index).append(dropping: 0, to: &key)
    return key.bytes.array()
  }
}
