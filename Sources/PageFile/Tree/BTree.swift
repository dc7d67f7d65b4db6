/// An ordered map from keys to values, both plain bytes.
///
/// A handle: all state is in the pages.
///
/// Branch pages hold separators, truncated to the bytes that separate; leaves hold the keys. All
/// leaves are at the same depth. Pages know neither their parent nor their neighbours, so an edit
/// touches the leaf and, if that splits or is merged, the pages above it.
///
///  1. Every key of the child of branch cell i is at or above separator i and below separator i +
///     1.
///  2. A child's level is its parent's level minus one; leaves have level 0.
///  3. An empty tree has no page; no page of a tree is empty.
///  4. A page belongs to one tree, once.
///
/// Each operation runs between the source's `enter` and `leave`. Keys and values passed in must not
/// lie in pages of a tree that is being changed, and have the slack of rule 3 of `Bytes`. After an
/// error in a mutation the transaction has to be rolled back.
package struct BTree {
  package static let maximumKeyByteCount = Cell.maximumKeyByteCount

  let source: PageSource
  let tree: TreeNumber

  package init(_ source: PageSource, _ tree: TreeNumber) {
    self.source = source
    self.tree = tree
  }

  /// Returns true if a key is present.
  ///
  /// Reads one page per level.
  package func contains(_ key: Bytes) throws(PageFileError) -> Bool {
    BTree.checkKey(key)
    return try self.place(of: key, to: .read)?.isEqual ?? false
  }

  /// Appends the value of a key.
  ///
  /// Returns false if the key is absent.
  ///
  /// Reads one page per level, and one for each link of an overflow chain.
  package func value(
    of key: Bytes, appendTo buffer: inout ByteBuffer
  ) throws(PageFileError) -> Bool {
    BTree.checkKey(key)
    guard let place = try self.place(of: key, to: .read), place.isEqual else { return false }
    try place.leaf.appendValue(place.index, from: source, to: &buffer)
    return true
  }

  /// Appends the value of a key if the key is present.
  ///
  /// Also returns true if the key is absent and no key above it has the same first bytes, as many
  /// as are given, as far as the pages read for the key show. Costs what `value(of:appendTo:)`
  /// does.
  package func value(
    of key: Bytes, appendTo buffer: inout ByteBuffer, lastOfSame byteCount: Int
  ) throws(PageFileError) -> (isThere: Bool, isLast: Bool) {
    BTree.checkKey(key)
    guard let place = try self.place(of: key, to: .read) else { return (false, true) }
    if place.isEqual {
      try place.leaf.appendValue(place.index, from: source, to: &buffer)
      return (true, false)
    }
    return (false, isLast(key.slice(0, byteCount), at: place))
  }

  /// Returns true if no key at or behind a place begins with a prefix, as far as the leaf and its
  /// parent show.
  private func isLast(_ prefix: Bytes, at place: Place) -> Bool {
    let leaf = place.leaf
    let isWithin = place.index < leaf.cellCount
    if isWithin, leaf.key(place.index).hasPrefix(prefix) { return false }
    let root = source.root(of: tree)
    if leaf.number == root { return true }
    // Keys of another leaf of a damaged tree may lie between those of this one.
    guard isProven(leaf) else { return false }
    if isWithin { return true }
    guard let (parent, index) = recentParent(of: leaf) else { return false }
    // All keys of the next leaf are at or above the separator.
    return index + 1 == parent.cellCount
      ? parent.number == root : !parent.key(index + 1).hasPrefix(prefix)
  }

  /// The place of a key in the leaf that holds it or would hold it.
  struct Place {
    let leaf: TreePage
    /// The index of the first cell whose key is not below the key.
    let index: Int
    /// True if the cell has the key.
    let isEqual: Bool

    @inline(__always)
    init(of key: Bytes, in leaf: TreePage) {
      self.leaf = leaf
      (index, isEqual) = leaf.search(key)
    }
  }

  /// Returns the place of a key; nil if the tree is empty.
  ///
  /// Unlike `TreePath.descend`, it does not record the path.
  func place(
    of key: Bytes, to purpose: WalkCounter.Purpose
  ) throws(PageFileError) -> Place? {
    if let recent = try recentPlace(of: key) { return recent }
    let root = source.root(of: tree)
    guard root != .none else { return nil }
    var page = try source.treePage(root)
    guard page.level <= 2 else { return try descend(to: key, purpose)?.place }
    WalkCounter.note(tree, purpose)
    guard !page.isLeaf else {
      source.visit(root, of: tree)
      return Place(of: key, in: page)
    }
    var (parent, index) = (page, page.childIndex(for: key))
    var turn: Int?
    page = try source.treePage(parent.child(index), level: parent.level - 1)
    if !page.isLeaf {
      turn = index
      (parent, index) = (page, page.childIndex(for: key))
      page = try source.treePage(parent.child(index), level: 0)
    }
    source.visit(page.number, of: tree, from: parent.number, index, turn: turn)
    return Place(of: key, in: page)
  }

  /// Goes down from the root; returns the place of a key and the bounds of its leaf, or nil if the
  /// tree is empty.
  ///
  /// The transaction remembers the leaf.
  func descend(
    to key: Bytes, _ purpose: WalkCounter.Purpose
  ) throws(PageFileError) -> (place: Place, bounds: Bounds)? {
    let root = source.root(of: tree)
    guard root != .none else { return nil }
    WalkCounter.note(tree, purpose)
    var page = try source.treePage(root)
    var bounds = Bounds()
    var (parent, index) = (page, 0)
    while !page.isLeaf {
      (parent, index) = (page, page.childIndex(for: key))
      bounds.narrow(to: index, of: page)
      page = try source.treePage(page.child(index), level: page.level - 1)
    }
    if page.number == root {
      source.visit(root, of: tree)
    } else {
      source.visit(page, of: tree, from: parent, index, within: bounds)
    }
    return (Place(of: key, in: page), bounds)
  }

  /// Returns the place of a key in the leaf that the transaction visited last if the key lies among
  /// its keys, or between the separators around it.
  ///
  /// Then no other leaf can hold the key, and no descent is needed. One act often goes to a leaf
  /// several times: to find a record, to change it, and to find its neighbour. If the key is not
  /// there, that costs a page and a search, mostly of the prefix alone. The first key that is there
  /// costs a look at the parent: a leaf of a damaged tree may have keys that lead from the root to
  /// another one, and is forgotten then.
  @inline(__always)
  func recentPlace(of key: Bytes) throws(PageFileError) -> Place? {
    let number = source.recentLeaf(of: tree)
    guard number != .none else { return nil }
    let leaf: TreePage
    do throws(PageFileError) {
      leaf = try source.treePage(number, level: 0)
    } catch {
      // Other leaves may be readable.
      source.visit(.none, of: tree)
      throw error
    }
    let place = Place(of: key, in: leaf)
    if number == source.root(of: tree) { return place }
    if place.isEqual || place.index > 0 && place.index < leaf.cellCount {
      return isProven(leaf) ? place : nil
    }
    let isBefore = place.index == 0
    return isWithinSeparators(key, isBefore: isBefore, of: leaf) ? place : nil
  }

  /// Returns true if all keys of the recent leaf lie between the separators around it; else forgets
  /// the leaf.
  private func isProven(_ leaf: TreePage) -> Bool {
    if source.isRecentLeafProven(of: tree) { return true }
    let way = recentParent(of: leaf)
    if source.isRecentLeafProven(of: tree) { return true }
    guard let (parent, index) = way, case let root = source.root(of: tree),
      index == 0
        ? parent.number == root : leaf.key(0).compare(to: parent.key(index)) >= 0,
      index + 1 == parent.cellCount
        ? parent.number == root
        : leaf.key(leaf.cellCount - 1).compare(to: parent.key(index + 1)) < 0
    else {
      source.visit(.none, of: tree)
      return false
    }
    source.proveRecentLeaf(of: tree)
    return true
  }

  /// Returns true if a key, which lies before all keys of the recent leaf or behind them, belongs
  /// there by the separators of its parent, and all keys of the leaf do.
  ///
  /// The parent is looked at only for a key that begins as all keys of the leaf do: keys that are
  /// used together mostly do, and any other key would cost the look for nothing.
  private func isWithinSeparators(_ key: Bytes, isBefore: Bool, of leaf: TreePage) -> Bool {
    let root = source.root(of: tree)
    guard leaf.begins(as: key), isProven(leaf), let (parent, index) = recentParent(of: leaf)
    else { return false }
    // No separator lies above a root. Those above another parent are unknown here.
    if isBefore {
      return index == 0 ? parent.number == root : parent.key(index).compare(to: CellKey(key)) <= 0
    }
    return index + 1 == parent.cellCount
      ? parent.number == root : parent.key(index + 1).compare(to: CellKey(key)) > 0
  }

  /// Returns the branch page that leads to a leaf, and the cell that does; nil unless it is the
  /// leaf visited last and they are known.
  ///
  /// If the branch page cannot be read, the leaf is forgotten: other pages may lead to the key that
  /// is looked for, and the way from the root tells.
  func recentParent(of leaf: TreePage) -> (page: TreePage, index: Int)? {
    let (number, index) = source.recentParent(of: tree)
    guard number != .none, source.recentLeaf(of: tree) == leaf.number else { return nil }
    guard let parent = try? source.treePage(number, level: 1) else {
      source.visit(.none, of: tree)
      return nil
    }
    guard index < parent.cellCount, parent.child(index) == leaf.number else { return nil }
    if let turn = source.recentTurn(of: tree), !isSound(turn, parent, index, leaf) {
      source.visit(.none, of: tree)
      return nil
    }
    return (parent, index)
  }

  /// Returns true if the root leads to the parent of the recent leaf, and the separators of the two
  /// do not contradict each other.
  ///
  /// Most leaves are not visited again, so this is found out for those that are.
  @inline(never)
  private func isSound(
    _ turn: Int, _ parent: TreePage, _ index: Int, _ leaf: TreePage
  ) -> Bool {
    guard let root = try? source.treePage(source.root(of: tree), level: 2),
      turn < root.cellCount, root.child(turn) == parent.number
    else { return false }
    var bounds = Bounds()
    bounds.narrow(to: turn, of: root)
    bounds.narrow(to: index, of: parent)
    guard bounds.contradiction == nil, !bounds.areCrossed else { return false }
    source.clearRecentTurn(of: tree)
    // A separator beside the first or the last child of a branch page lies above that page, where
    // no later look goes.
    if index == 0 || index + 1 == parent.cellCount, bounds.hold(leaf) {
      source.proveRecentLeaf(of: tree)
    }
    return true
  }

  static func checkKey(_ key: Bytes) {
    precondition(key.count >= 1 && key.count <= maximumKeyByteCount, "key: not 1 to 512 bytes long")
  }

  func edit(_ page: TreePage) throws(PageFileError) -> TreePageEditor {
    let image = try source.editImage(page.number, page.bytes)
    return TreePageEditor(image.mutableBytes, noting: image.edited)
  }

  /// Allocates a new page of this tree.
  ///
  /// The page header names the tree, so the page can be attributed even when no other page refers
  /// to it any more.
  func allocate(level: Int) throws(PageFileError) -> (PageNumber, MutableBytes) {
    let (number, page) = try source.allocate(level == 0 ? .leaf : .branch, level: level)
    page[PageHeader.treeOffset] = UInt8(tree.rawValue)
    return (number, page)
  }
}

extension TreePage {
  /// Returns the overflow chain of a leaf cell's value; nil if the value lies in the page.
  package func chain(_ index: Int) -> OverflowChain? {
    overflow(index).map { OverflowChain(byteCount: $0.byteCount, first: $0.first) }
  }

  /// Appends a leaf cell's value, whether it lies in the page or in an overflow chain.
  @usableFromInline
  package func appendValue(
    _ index: Int, from source: PageSource, to buffer: inout ByteBuffer
  ) throws(PageFileError) {
    if let value = inlineValue(index) {
      buffer.append(value)
    } else if let chain = chain(index) {
      let owner = UInt64(number.rawValue) << 32 | UInt64(index)
      try chain.append(from: source, for: owner, to: &buffer)
    }
  }
}
