/// Insertion: find the leaf, insert the cell, and propagate splits upward.
extension BTree {
  /// Stores a value under a key, replacing any previous value.
  ///
  /// Returns true if the key was present.
  ///
  /// Reads one page per level and edits one. A full leaf shares its cells with a neighbour or is
  /// split, and each split edits one more page and adds one. Storing a short value that is already
  /// there edits nothing, so a transaction that stores only what is present changes nothing.
  ///
  /// - Throws: `limitExceeded` for a value above `Cell.maximumValueByteCount`, before anything is
  ///   changed; any error of the source; `corruptPage` when pages contradict each other.
  package func insert(_ key: Bytes, _ value: Bytes) throws(PageFileError) -> Bool {
    BTree.checkKey(key)
    try BTree.checkValue(value)
    return try source.changing { () throws(PageFileError) in try put(key, value) }
  }

  static func checkValue(_ value: Bytes) throws(PageFileError) {
    guard value.count <= Cell.maximumValueByteCount else {
      throw .limitExceeded(
        what: "value byte count", value: value.count, limit: Cell.maximumValueByteCount)
    }
  }

  private func put(_ key: Bytes, _ value: Bytes) throws(PageFileError) -> Bool {
    try put(key, value, at: try place(of: key, to: .write))
  }

  /// Stores a value under a key at its place; nil if the tree is empty.
  func put(
    _ key: Bytes, _ value: Bytes, at place: Place?
  ) throws(PageFileError) -> Bool {
    guard let found = place else {
      try plant(Cell(CellKey(key), payload(for: key, value)))
      return false
    }
    let leaf = found.leaf
    if found.isEqual, let stored = leaf.inlineValue(found.index), stored.compare(to: value) == 0 {
      return true
    }
    if found.isEqual, let chain = leaf.chain(found.index) { try chain.free(in: source) }
    let payload = try payload(for: key, value)
    let editor = try edit(leaf)
    if found.isEqual {
      if editor.replacePayload(at: found.index, with: payload) { return true }
      editor.remove(at: found.index)
    }
    let cell = Cell(CellKey(key), payload)
    if editor.page.isFull(behind: cell, at: found.index) || !editor.insert(cell, at: found.index) {
      // The path is recorded only now, by a second descent: few insertions need to update a parent.
      var path = TreePath()
      try descend(toward: key, to: leaf, &path)
      if try share(editor, adding: cell, at: found.index, up: &path) { return found.isEqual }
      try carry(try split(editor, adding: cell, at: found.index), up: &path)
    }
    return found.isEqual
  }

  /// Returns the payload of a leaf cell for a value, writing a long value to an overflow chain.
  private func payload(for key: Bytes, _ value: Bytes) throws(PageFileError) -> CellPayload {
    let fits = Cell.fitsInline(
      keyByteCount: key.count, valueByteCount: value.count, pageSize: source.pageSize)
    if fits { return .value(value) }
    let chain = try OverflowChain.write(value, to: source)
    return .overflow(byteCount: chain.byteCount, first: chain.first)
  }

  /// Creates the first leaf of an empty tree.
  ///
  /// Its prefix is empty, because it is not known yet what its keys will share.
  private func plant(_ cell: Cell) throws(PageFileError) {
    let (number, page) = try allocate(level: 0)
    TreePageEditor(formatting: page, prefix: .none, prefixByteCount: 0).put(cell, at: 0)
    source.setRoot(of: tree, to: number)
  }

  /// Inserts a cell into a page, splitting the page if it has no room.
  func insert(
    _ cell: Cell, at index: Int, _ editor: TreePageEditor
  ) throws(PageFileError) -> Split? {
    editor.insert(cell, at: index) ? nil : try split(editor, adding: cell, at: index)
  }

  /// Updates the parents of a split page, up to the first one that need not split itself.
  func carry(_ split: consuming Split?, up path: inout TreePath) throws(PageFileError) {
    var pending = split
    while let split = pending.take() {
      guard let level = path.pop() else { return try growRoot(split) }
      let editor = try edit(level.page)
      let index = level.index + 1
      let separator = CellKey(split.separator.bytes)
      try checkOrder(of: separator, at: index, in: editor.page)
      editor.setChild(at: level.index, to: split.left)
      pending = try insert(Cell(separator, .child(split.right)), at: index, editor)
    }
  }

  /// Checks that a separator fits between its neighbours in the parent.
  ///
  /// The separator comes from the child. If the child holds keys outside its own bounds, the
  /// separator may not belong there, and the parent would no longer be ordered.
  func checkOrder(
    of separator: CellKey, at index: Int, in page: TreePage
  ) throws(PageFileError) {
    let isAbove =
      index - 1 < page.firstKeyIndex || page.key(index - 1).compare(to: separator) < 0
    let isBelow = index >= page.cellCount || separator.compare(to: page.key(index)) < 0
    guard isAbove && isBelow else {
      throw .corruptPage(
        page.child(index - 1), reason: "the page holds keys outside its parent's bounds")
    }
  }

  /// Puts a new root above a root that was split.
  private func growRoot(_ split: borrowing Split) throws(PageFileError) {
    let level = try source.treePage(split.left).level + 1
    guard level < TreePage.maximumDepth else {
      throw .corruptPage(
        split.left, reason: "the tree is deeper than \(TreePage.maximumDepth) levels")
    }
    let (number, page) = try allocate(level: level)
    let separator = CellKey(split.separator.bytes)
    let editor = TreePageEditor(formatting: page, prefix: .none, prefixByteCount: 0)
    editor.put(Cell(.none, .child(split.left)), at: 0)
    editor.put(Cell(separator, .child(split.right)), at: 1)
    source.setRoot(of: tree, to: number)
  }
}
