/// A place in a tree: at a cell, before the first or behind the last.
///
/// It remembers the page and the cell of each level, so a step within a leaf is one comparison, and a
/// step to the next leaf climbs only as far as it must. Backwards costs what forwards does. The pages'
/// addresses are kept, therefore:
///
///  1. A cursor is valid within one `enter` … `leave` of its source, while nobody changes the tree.
///  2. Off a cell `cellCount` is 0 and so is `index`, so a step takes the slow way and finds out
///     where the cursor stands.
///  3. After a step that failed every step fails, until the cursor is sent to a place anew: whoever goes
///     on after an error must not take the place where it stopped for the end.
///  4. Keys ascend across leaves too: a step to a leaf that does not go on from the last one throws,
///     so even pages that contradict each other never make an endless walk.
@usableFromInline
package struct Cursor: ~Copyable {
  @usableFromInline let source: PageSource
  let tree: TreeNumber
  var path = TreePath()
  @usableFromInline var leaf = TreePage(.empty)
  @usableFromInline var index = 0
  @usableFromInline var cellCount = 0
  /// Off a cell: behind the last one, not before the first.
  private var isAtEnd = false
  /// Why the last step failed.
  private var failure: PageFileError?

  /// A cursor before the first cell.
  ///
  /// Reads nothing.
  package init(_ source: PageSource, _ tree: TreeNumber) {
    self.source = source
    self.tree = tree
  }

  // MARK: Moving

  /// Goes to the first cell whose key is not below `key`, or behind the last cell.
  ///
  /// Returns whether the cell's key is equal. One page read a level, rarely more.
  package mutating func seek(_ key: Bytes) throws(PageFileError) -> Bool {
    BTree.checkKey(key)
    guard try descend(.toward(key)) else { return false }
    let found = leaf.search(key)
    index = found.index
    if index == cellCount {
      index -= 1
      _ = try stepToNextLeaf()
    }
    return found.isEqual
  }

  /// Goes to the last cell whose key is not above `key`, or before the first cell.
  ///
  /// Returns whether the cell's key is equal. One page read a level, rarely more.
  package mutating func seekBack(_ key: Bytes) throws(PageFileError) -> Bool {
    BTree.checkKey(key)
    guard try descend(.toward(key)) else { return false }
    let found = leaf.search(key)
    if found.isEqual {
      index = found.index
    } else if found.index > 0 {
      index = found.index - 1
    } else {
      _ = try stepToPreviousLeaf()
    }
    return found.isEqual
  }

  /// Goes to the first cell.
  ///
  /// False: the tree is empty.
  package mutating func first() throws(PageFileError) -> Bool { try descend(.first) }

  /// Goes to the last cell.
  ///
  /// False: the tree is empty.
  package mutating func last() throws(PageFileError) -> Bool {
    guard try descend(.last) else { return false }
    index = cellCount - 1
    return true
  }

  /// Goes to the next cell.
  ///
  /// False: there is none, and the cursor is behind the last.
  @inlinable
  package mutating func next() throws(PageFileError) -> Bool {
    if index + 1 < cellCount {
      index += 1
      return true
    }
    return try stepToNextLeaf()
  }

  /// Goes to the cell before.
  ///
  /// False: there is none, and the cursor is before the first.
  @inlinable
  package mutating func previous() throws(PageFileError) -> Bool {
    if index > 0 {
      index -= 1
      return true
    }
    return try stepToPreviousLeaf()
  }

  /// Lets go of all pages that were read in the operation so far, see `PageSource.pause`, and stands at
  /// the same cell again.
  ///
  /// For walks over many leaves. One page read a level.
  package mutating func pause() throws(PageFileError) {
    guard isAtCell else { return }
    var key = ByteBuffer(capacity: keyByteCount)
    appendKey(to: &key)
    stand(atEnd: true)
    do throws(PageFileError) {
      try source.pause()
      _ = try seek(key.bytes)
    } catch {
      failure = error
      throw error
    }
  }

  @usableFromInline @inline(never)
  mutating func stepToNextLeaf() throws(PageFileError) -> Bool {
    if let failure { throw failure }
    guard isAtCell else { return isAtEnd ? false : try first() }
    while var level = path.pop() {
      level.index += 1
      guard level.index < level.page.cellCount else { continue }
      try enter(level, .first)
      return true
    }
    stand(atEnd: true)
    return false
  }

  @usableFromInline @inline(never)
  mutating func stepToPreviousLeaf() throws(PageFileError) -> Bool {
    if let failure { throw failure }
    guard isAtCell else { return isAtEnd ? try last() : false }
    while var level = path.pop() {
      level.index -= 1
      guard level.index >= 0 else { continue }
      try enter(level, .last)
      index = cellCount - 1
      return true
    }
    stand(atEnd: false)
    return false
  }

  /// Goes down from the root, to the first cell of a leaf.
  ///
  /// False: the tree is empty.
  private mutating func descend(_ turn: TreePath.Turn) throws(PageFileError) -> Bool {
    stand(atEnd: true)
    failure = nil
    let root = source.root(of: tree)
    guard root != .none else { return false }
    do throws(PageFileError) {
      stand(in: try path.descend(from: try source.treePage(root), in: source, turn))
    } catch {
      failure = error
      throw error
    }
    return true
  }

  /// Goes from a branch page on the path down to the leaf that lies beside the present one on the
  /// side where `turn` comes from.
  ///
  /// The cursor is off a cell if that fails.
  private mutating func enter(
    _ level: TreePath.Level, _ turn: TreePath.Turn
  ) throws(PageFileError) {
    let before = leaf
    leaveCell(atEnd: true)
    path.push(level.page, level.index)
    do throws(PageFileError) {
      let child = try source.treePage(
        level.page.child(level.index), level: level.page.level - 1)
      let leaf = try path.descend(from: child, in: source, turn)
      let (lower, upper) = if case .first = turn { (before, leaf) } else { (leaf, before) }
      guard lower.key(lower.cellCount - 1).compare(to: upper.key(0)) < 0 else {
        throw .corruptPage(leaf.number, reason: "keys do not ascend from leaf to leaf")
      }
      stand(in: leaf)
    } catch {
      failure = error
      throw error
    }
  }

  private mutating func stand(in leaf: TreePage) {
    self.leaf = leaf
    index = 0
    cellCount = leaf.cellCount
  }

  private mutating func stand(atEnd: Bool) {
    path.removeAll()
    leaveCell(atEnd: atEnd)
  }

  private mutating func leaveCell(atEnd: Bool) {
    leaf = TreePage(.empty)
    index = 0
    cellCount = 0
    isAtEnd = atEnd
  }

  // MARK: The cell

  // All of these are inlined: called, each would be handed a copy of the cursor with its whole stack.

  /// Whether there is a cell to ask about.
  ///
  /// Asking off a cell traps.
  @inlinable @inline(__always)
  package var isAtCell: Bool { cellCount > 0 }

  /// The leaf, for whoever looks at many of its cells.
  ///
  /// Lives as long as any page that the source gives.
  @inlinable @inline(__always)
  package var page: TreePage { leaf }

  /// Which of the leaf's cells it is.
  @inlinable @inline(__always)
  package var cellIndex: Int { index }

  /// Goes to another cell of the leaf.
  ///
  /// False, and nothing changed, when the leaf has none of that index.
  @inlinable
  package mutating func go(to cellIndex: Int) -> Bool {
    guard cellIndex >= 0, cellIndex < cellCount else { return false }
    index = cellIndex
    return true
  }

  /// The cell as it lies in its page, for as long as the page lives.
  @inlinable @inline(__always)
  package var cell: LeafCell { leaf.leafCell(index) }

  @inlinable @inline(__always)
  package var keyByteCount: Int { leaf.keyByteCount(index) }

  /// The first part of the key, shared by all keys of the leaf.
  ///
  /// Lives as long as the page.
  @inlinable @inline(__always)
  package var keyPrefix: Bytes { leaf.prefix }

  /// The key as it lies in its leaf, for as long as the page lives.
  @inlinable @inline(__always)
  package var key: CellKey { leaf.key(index) }

  /// Appends the key without its first `dropped` bytes.
  @inlinable @inline(__always)
  package func appendKey(to buffer: inout ByteBuffer, dropping dropped: Int = 0) {
    leaf.key(index).append(dropping: dropped, to: &buffer)
  }

  /// Whether the key begins with `prefix`.
  @inlinable @inline(__always)
  package func keyHasPrefix(_ prefix: Bytes) -> Bool { leaf.key(index).hasPrefix(prefix) }

  /// Order of the cell's key and another: below 0, 0 or above 0.
  @inlinable @inline(__always)
  package func compareKey(to key: Bytes) -> Int { leaf.key(index).compare(to: CellKey(key)) }

  /// The value, nil when it lies in an overflow chain.
  ///
  /// Lives as long as the page.
  @inlinable @inline(__always)
  package var inlineValue: Bytes? { leaf.inlineValue(index) }

  @inlinable @inline(__always)
  package var valueByteCount: Int { leaf.valueRange(index).byteCount }

  /// Appends the value, wherever it lies.
  ///
  /// One page read for each link of an overflow chain.
  @inlinable @inline(__always)
  package func appendValue(to buffer: inout ByteBuffer) throws(PageFileError) {
    try leaf.appendValue(index, from: source, to: &buffer)
  }
}
