import PageFile
import Testing

/// No bytes may trap: not in the gate, not behind it, and not where pages are each in order but
/// contradict each other.
struct TreeCorruptionTests {
  /// A tree with branch pages, long values and shared prefixes.
  private func makeTree(_ random: inout SeededGenerator, keyCount: Int = 500) throws -> ArrayTree {
    let tree = try ArrayTree(pageSize: 4096)
    for _ in 0..<keyCount {
      let key = [1, 1, 1, UInt8(random.below(3))] + random.bytes(1 + random.below(200))
      let length = random.below(20) == 0 ? 3000 + random.below(9000) : random.below(200)
      _ = try tree.insert(key, random.bytes(length))
    }
    return tree
  }

  /// Changes a few bytes where it hurts most: header, pointers and cells.
  private func damage(_ page: MutableBytes, _ random: inout SeededGenerator) {
    for _ in 0...random.below(3) {
      let offset =
        switch random.below(4) {
        case 0: 20 + random.below(12)
        case 1: 32 + random.below(64)
        case 2: page.count - 1 - random.below(600)
        default: random.below(page.count)
        }
      switch random.below(3) {
      case 0: page[offset] ^= 1 << UInt8(random.below(8))
      case 1: page[offset] = UInt8(random.below(256))
      default: page[offset] = page[offset] &+ UInt8(random.below(3)) &- 1
      }
    }
  }

  private func readEverything(_ page: TreePage) throws {
    var count = 0
    for index in 0..<page.cellCount {
      count += page.key(index).byteCount + page.payload(index).count + page.cellByteCount(index)
      if page.isLeaf {
        count += page.inlineValue(index)?.count ?? 0
      } else {
        count += Int(page.child(index).rawValue & 1)
      }
      guard index >= page.firstKeyIndex else { continue }
      var key = ByteBuffer()
      page.key(index).append(first: page.key(index).byteCount, to: &key)
      let found = page.search(key.bytes)
      #expect(found.isEqual && found.index == index)
    }
    #expect(count > 0)
  }

  @Test func theGateHoldsAgainstRandomDamage() throws {
    var random = SeededGenerator()
    let tree = try makeTree(&random)
    var (passedCount, refusedCount) = (0, 0)
    for number in pageNumbers(of: tree.source) {
      let page = try rawPage(number, of: tree.source)
      let original = page.readOnly.array()
      let isOverflow = original[PageHeader.kindOffset] == PageKind.overflow.rawValue
      for _ in 0..<200 {
        damage(page, &random)
        _ = OverflowPage.ruleBroken(page.readOnly)
        if TreePage.ruleBroken(page.readOnly) == nil {
          passedCount += 1
          try readEverything(TreePage(page.readOnly))
        } else if !isOverflow {
          refusedCount += 1
        }
        Bytes.with(original) { page.copy($0, to: 0) }
      }
    }
    #expect(refusedCount > 1000 && passedCount > 100)
  }

  @Test func theGateHoldsAgainstRandomBytes() {
    var random = SeededGenerator()
    for round in 0..<3000 {
      let count = round % 2 == 0 ? 4096 : random.below(5000)
      var bytes = random.bytes(count)
      if bytes.count > 32 {
        bytes[20] = UInt8(1 + round % 3)
        bytes[21] = UInt8(round % 3 == 1 ? 1 : 0)
        bytes[22] = UInt8(random.below(20))
        bytes[23] = 0
        bytes[30] = 0
        bytes[31] = 0
      }
      Bytes.with(bytes) {
        _ = TreePage.ruleBroken($0)
        _ = OverflowPage.ruleBroken($0)
      }
    }
  }

  /// Two cells of which one lies within the other's value, with a freed byte count that makes up for
  /// it: only the claim on each byte finds this.
  @Test func theGateRefusesCellsThatOverlap() throws {
    let tree = try ArrayTree(pageSize: 4096)
    let inner: [UInt8] = [1, 9, 2 << 1, 7, 7]
    _ = try tree.insert([1], [0, 0, 0] + inner + [0, 0])
    _ = try tree.insert([9], [7, 7])
    let page = try rawPage(tree.source.root(of: treeUnderTest), of: tree.source)
    #expect(TreePage.ruleBroken(page.readOnly) == nil)
    let view = TreePage(page.readOnly)
    let outer = view.cellOffset(0)
    let insideOuter = view.valueRange(0).offset + 3
    page.store(UInt16(insideOuter), at: PageHeader.byteCount + Cell.pointerByteCount)
    page.store(UInt16(outer), at: PageHeader.cellAreaStartOffset)
    #expect(TreePage.ruleBroken(page.readOnly) == "cells overlap")
  }

  /// A tree of two levels, the keys of children 1 and 2 outside their bounds.
  private func makeTreeWithSwappedChildren() throws -> (ArrayTree, TreePage) {
    let tree = try ArrayTree(pageSize: 4096)
    for number in 0..<2000 {
      _ = try tree.insert(bigEndian(number << 8), [1, 2, 3] + bigEndian(7))
    }
    let root = try tree.source.treePage(tree.source.root(of: treeUnderTest))
    let (one, two) = (root.child(1), root.child(2))
    let editor = TreePageEditor(try rawPage(root.number, of: tree.source))
    editor.setChild(at: 1, to: two)
    editor.setChild(at: 2, to: one)
    return (tree, editor.page)
  }

  private let outOfBounds = "the page holds keys outside its parent's bounds"

  @Test func splittingAPageOutOfItsBoundsIsRefused() throws {
    let (tree, root) = try makeTreeWithSwappedChildren()
    let first = root.key(1)
    var key = ByteBuffer()
    first.append(dropping: 0, to: &key)
    let lowest = key.bytes.array()
    #expect(throws: PageFileError.corruptPage(root.child(1), reason: outOfBounds)) {
      for tail in 0..<500 {
        _ = try tree.insert(lowest + bigEndian(tail), [UInt8](repeating: 1, count: 50))
      }
    }
  }

  @Test func mergingPagesOutOfTheirBoundsIsRefused() throws {
    let (tree, root) = try makeTreeWithSwappedChildren()
    for child in [1, 2] {
      let page = try rawPage(root.child(child), of: tree.source)
      let editor = TreePageEditor(page)
      while editor.page.usedByteCount * 4 > editor.page.capacity { editor.remove(at: 0) }
    }
    // What is put below the separator of child 1 lands there, whatever else that page holds.
    var key = ByteBuffer()
    root.key(1).append(dropping: 0, to: &key)
    let lowest = key.bytes.array() + [0]
    _ = try tree.insert(lowest, [])
    #expect(throws: PageFileError.self) { _ = try tree.remove(lowest) }
  }

  /// Damage that the gate does not see, then every operation there is.
  ///
  /// An error is fine.
  @Test func operationsOnDamagedTreesNeverTrap() throws {
    var random = SeededGenerator()
    var errorCount = 0
    var refusedCount = 0
    for _ in 0..<60 {
      let tree = try makeTree(&random, keyCount: 200)
      let numbers = pageNumbers(of: tree.source).sorted()
      for _ in 0..<3 {
        let page = try rawPage(numbers[random.below(numbers.count)], of: tree.source)
        let original = page.readOnly.array()
        damage(page, &random)
        // What the gate refuses no operation ever sees: also a page that says it is another.
        let isRenamed =
          page.readOnly.uint32(at: PageHeader.numberOffset)
          != Bytes.with(original) { $0.uint32(at: PageHeader.numberOffset) }
        if isRenamed || ruleBroken(page.readOnly) != nil {
          refusedCount += 1
          Bytes.with(original) { page.copy($0, to: 0) }
        }
      }
      try redirectAChild(of: tree, numbers, &random)
      try tree.tree.check(visit: { _ in }, report: { _, _ in errorCount += 1 })
      for _ in 0..<300 {
        do throws(PageFileError) { try operate(on: tree, &random) } catch { errorCount += 1 }
      }
    }
    #expect(errorCount > 0 && refusedCount > 0)
  }

  /// Makes a cell lead to any page: a cycle, a page reached twice, another kind.
  private func redirectAChild(
    of tree: ArrayTree, _ numbers: [PageNumber], _ random: inout SeededGenerator
  ) throws {
    let number = numbers[random.below(numbers.count)]
    let page = try rawPage(number, of: tree.source)
    let target = numbers[random.below(numbers.count)]
    guard TreePage.ruleBroken(page.readOnly) == nil, target != number else { return }
    let view = TreePage(page.readOnly)
    let index = random.below(view.cellCount)
    if view.isLeaf {
      let value = view.valueRange(index)
      if value.isOverflow { page.store(target.rawValue, at: value.offset) }
    } else {
      TreePageEditor(page).setChild(at: index, to: target)
    }
  }

  private func operate(
    on tree: ArrayTree, _ random: inout SeededGenerator
  ) throws(PageFileError) {
    try tree.source.enter()
    defer { tree.source.leave() }
    let key = [1, 1, 1, UInt8(random.below(3))] + random.bytes(1 + random.below(200))
    var cursor = Cursor(tree.source, treeUnderTest)
    _ = try Bytes.with(key) { (key) throws(PageFileError) in try cursor.seek(key) }
    switch random.below(6) {
    case 0:
      _ = try tree.insert(key, random.bytes(random.below(random.below(2) == 0 ? 100 : 9000)))
    case 1:
      guard cursor.isAtCell else { return }
      var present = ByteBuffer()
      cursor.appendKey(to: &present)
      _ = try tree.remove(present.bytes.array())
    case 2:
      guard cursor.isAtCell else { return }
      var present = ByteBuffer()
      cursor.appendKey(to: &present)
      _ = try tree.insert(present.bytes.array(), random.bytes(random.below(800)))
    case 3:
      _ = try tree.value(key)
    case 4:
      while try cursor.next() {}
    default:
      _ = try cursor.last()
      var value = ByteBuffer()
      while try cursor.previous() {
        value.removeAll()
        try cursor.appendValue(to: &value)
      }
    }
  }
}
