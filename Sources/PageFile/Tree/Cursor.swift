/// A position in a tree: at a cell, before the first cell, or behind the last one.
///
/// A cursor remembers the page and the cell of each level, so a step within a leaf is one
/// comparison, and a step to the next leaf climbs only as far as it must. Moving backward costs the
/// same as moving forward. Because the cursor keeps addresses of pages:
///
///  1. A cursor is valid within one `enter` … `leave` of its source, while the tree does not
///     change.
///  2. Off a cell, `cellCount` and `index` are 0, so a step takes the slow path and finds out where
///     the cursor stands.
///  3. After a failed step every further step fails, until the cursor is repositioned: a caller
///     that goes on after an error must not mistake the place where it stopped for the end.
///  4. The path is unknown while the cursor stands in a leaf that was found without a descent. It
///     is found when the cursor leaves that leaf.
///  5. Keys ascend across leaves too. A step to a leaf that does not continue from the last one
///     throws, so a walk ends even if pages contradict each other.
@usableFromInline
package struct Cursor: ~Copyable {
  @usableFromInline let source: PageSource
  let tree: TreeNumber
  private let isScattered: Bool
  var path = TreePath()
  /// False if the path to the leaf is not known, see rule 4.
  private var isPathKnown = true
  @usableFromInline var leaf = TreePage(.empty)
  @usableFromInline var index = 0
  @usableFromInline var cellCount = 0
  /// True if the cursor, off a cell, is behind the last one; false if it is before the first.
  private var isAtEnd = false
  /// The error of the last step, if it failed.
  private var failure: PageFileError?

  /// Creates a cursor before the first cell.
  ///
  /// Reads nothing.
  ///
  /// - Parameter isScattered: True if the keys to be sought rarely lie in one leaf. Then the leaf
  ///   visited last is neither looked at nor remembered.
  package init(_ source: PageSource, _ tree: TreeNumber, isScattered: Bool = false) {
    self.source = source
    self.tree = tree
    self.isScattered = isScattered
  }

  // MARK: Moving

  /// Moves to the first cell whose key is not below `key`, or behind the last cell.
  ///
  /// Returns true if the cell's key is equal. Reads one page per level, rarely more.
  package mutating func seek(_ key: Bytes) throws(PageFileError) -> Bool {
    BTree.checkKey(key)
    guard let found = try go(toward: key) else { return false }
    index = found.index
    if index == cellCount {
      index -= 1
      _ = try stepToNextLeaf()
    }
    return found.isEqual
  }

  /// Moves to the last cell whose key is not above `key`, or before the first cell.
  ///
  /// Returns true if the cell's key is equal. Reads one page per level, rarely more.
  package mutating func seekBack(_ key: Bytes) throws(PageFileError) -> Bool {
    BTree.checkKey(key)
    guard let found = try go(toward: key) else { return false }
    if found.isEqual {
      index = found.index
    } else if found.index > 0 {
      index = found.index - 1
    } else {
      _ = try stepToPreviousLeaf()
    }
    return found.isEqual
  }

  /// Moves to the first cell.
  ///
  /// Returns false if the tree is empty.
  package mutating func first() throws(PageFileError) -> Bool { try descend(.first) }

  /// Moves to the last cell.
  ///
  /// Returns false if the tree is empty.
  package mutating func last() throws(PageFileError) -> Bool {
    guard try descend(.last) else { return false }
    index = cellCount - 1
    return true
  }

  /// Moves to the next cell.
  ///
  /// Returns false if the cursor is now behind the last cell.
  @inlinable
  package mutating func next() throws(PageFileError) -> Bool {
    if index + 1 < cellCount {
      index += 1
      return true
    }
    return try stepToNextLeaf()
  }

  /// Moves to the previous cell.
  ///
  /// Returns false if the cursor is now before the first cell.
  @inlinable
  package mutating func previous() throws(PageFileError) -> Bool {
    if index > 0 {
      index -= 1
      return true
    }
    return try stepToPreviousLeaf()
  }

  /// Releases all pages that the operation has read so far (see `PageSource.pause`), then returns
  /// to the same cell.
  ///
  /// Meant for walks over many leaves. Reads one page per level.
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
    if !isPathKnown { try findPath() }
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
    if !isPathKnown { try findPath() }
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

  /// Goes to the first cell of the leaf that holds a key or would hold it, and returns the place of
  /// the key; nil if the tree is empty.
  private mutating func go(toward key: Bytes) throws(PageFileError) -> BTree.Place? {
    let recent: BTree.Place?
    do throws(PageFileError) {
      recent = isScattered ? nil : try BTree(source, tree).recentPlace(of: key)
    } catch {
      stand(atEnd: true)
      failure = error
      throw error
    }
    guard let recent else {
      return try descend(.toward(key)) ? BTree.Place(of: key, in: leaf) : nil
    }
    path.removeAll()
    failure = nil
    isPathKnown = false
    stand(in: recent.leaf)
    return recent
  }

  /// Finds the path to the leaf: by one descent, unless the tree has at most two levels and the
  /// leaf is the one visited last.
  private mutating func findPath() throws(PageFileError) {
    let root = source.root(of: tree)
    if leaf.number == root {
      isPathKnown = true
      return
    }
    do throws(PageFileError) {
      if let (parent, index) = BTree(source, tree).recentParent(of: leaf),
        parent.number == root
      {
        path.push(parent, index)
        isPathKnown = true
        return
      }
      var key = ByteBuffer(capacity: keyByteCount)
      appendKey(to: &key)
      let (leaf, index) = (leaf, index)
      guard try descend(.toward(key.bytes)), self.leaf.number == leaf.number else {
        throw .corruptPage(
          leaf.number, reason: "the page holds keys outside its parent's bounds")
      }
      self.index = index
    } catch {
      stand(atEnd: true)
      failure = error
      throw error
    }
  }

  /// Descends from the root to the first cell of a leaf.
  ///
  /// Returns false if the tree is empty.
  private mutating func descend(_ turn: TreePath.Turn) throws(PageFileError) -> Bool {
    stand(atEnd: true)
    failure = nil
    let root = source.root(of: tree)
    guard root != .none else { return false }
    WalkCounter.note(tree, .read)
    do throws(PageFileError) {
      stand(in: try path.descend(from: try source.treePage(root), in: source, turn))
      visitLeaf()
    } catch {
      failure = error
      throw error
    }
    return true
  }

  /// Descends from a branch page on the path to the adjacent leaf, on the side that `turn` comes
  /// from.
  ///
  /// If that fails, the cursor is off a cell.
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
      visitLeaf()
    } catch {
      failure = error
      throw error
    }
  }

  /// Notes the leaf, to which the path leads, as the one visited last, see `BTree.descend`.
  // Mutating, so that it runs in place; else the cursor would be copied for it.
  @inline(__always)
  private mutating func visitLeaf() {
    if isScattered { return }
    if path.depth <= 2 { return path.visit(leaf.number, of: tree, in: source) }
    visitDeepLeaf()
  }

  @inline(never)
  private mutating func visitDeepLeaf() {
    guard let (last, bounds) = path.lastIfSound else { return source.visit(.none, of: tree) }
    source.visit(leaf, of: tree, from: last.page, last.index, within: bounds)
  }

  private mutating func stand(in leaf: TreePage) {
    self.leaf = leaf
    index = 0
    cellCount = leaf.cellCount
  }

  private mutating func stand(atEnd: Bool) {
    path.removeAll()
    isPathKnown = true
    leaveCell(atEnd: atEnd)
  }

  private mutating func leaveCell(atEnd: Bool) {
    leaf = TreePage(.empty)
    index = 0
    cellCount = 0
    isAtEnd = atEnd
  }

  // MARK: The cell

  // All of these are inlined. As calls, each would get a copy of the cursor with its whole stack.

  /// True if the cursor is at a cell.
  ///
  /// Accessing the cell otherwise traps.
  @inlinable @inline(__always)
  package var isAtCell: Bool { cellCount > 0 }

  /// The current leaf, for callers that look at many of its cells.
  ///
  /// Lives as long as any page from the source.
  @inlinable @inline(__always)
  package var page: TreePage { leaf }

  /// The index of the current cell in its leaf.
  @inlinable @inline(__always)
  package var cellIndex: Int { index }

  /// Moves to another cell of the leaf.
  ///
  /// Returns false, and changes nothing, if the leaf has no cell at that index.
  @inlinable
  package mutating func go(to cellIndex: Int) -> Bool {
    guard cellIndex >= 0, cellIndex < cellCount else { return false }
    index = cellIndex
    return true
  }

  /// The cell in place, valid as long as its page lives.
  @inlinable @inline(__always)
  package var cell: LeafCell { leaf.leafCell(index) }

  @inlinable @inline(__always)
  package var keyByteCount: Int { leaf.keyByteCount(index) }

  /// The prefix that all keys of the leaf share.
  ///
  /// Lives as long as the page.
  @inlinable @inline(__always)
  package var keyPrefix: Bytes { leaf.prefix }

  /// The key in place, valid as long as its page lives.
  @inlinable @inline(__always)
  package var key: CellKey { leaf.key(index) }

  /// Appends the key without its first `dropped` bytes.
  @inlinable @inline(__always)
  package func appendKey(to buffer: inout ByteBuffer, dropping dropped: Int = 0) {
    leaf.key(index).append(dropping: dropped, to: &buffer)
  }

  /// Returns true if the key begins with `prefix`.
  @inlinable @inline(__always)
  package func keyHasPrefix(_ prefix: Bytes) -> Bool { leaf.key(index).hasPrefix(prefix) }

  /// Compares the cell's key with another one: below 0, 0, or above 0.
  @inlinable @inline(__always)
  package func compareKey(to key: Bytes) -> Int { leaf.key(index).compare(to: CellKey(key)) }

  /// The value; nil if it lies in an overflow chain.
  ///
  /// Lives as long as the page.
  @inlinable @inline(__always)
  package var inlineValue: Bytes? { leaf.inlineValue(index) }

  @inlinable @inline(__always)
  package var valueByteCount: Int { leaf.valueRange(index).byteCount }

  /// Appends the value, whether it lies in the page or in an overflow chain.
  ///
  /// Reads one page for each link of an overflow chain.
  @inlinable @inline(__always)
  package func appendValue(to buffer: inout ByteBuffer) throws(PageFileError) {
    try leaf.appendValue(index, from: source, to: &buffer)
  }
}
