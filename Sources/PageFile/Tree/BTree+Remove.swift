/// Removal: find the cell, remove it with its overflow chain, and free pages that became
/// superfluous.
extension BTree {
  /// Removes a key and its value.
  ///
  /// Returns true if the key was present.
  ///
  /// Reads one page per level and edits one; reads two neighbours more if the leaf becomes less
  /// than a quarter full, and again whenever half of the rest has gone.
  ///
  /// - Throws: Any error of the source; `corruptPage` when pages contradict each other.
  package func remove(_ key: Bytes) throws(PageFileError) -> Bool {
    BTree.checkKey(key)
    return try source.changing { () throws(PageFileError) in try takeOut(key) }
  }

  private func takeOut(_ key: Bytes) throws(PageFileError) -> Bool {
    guard let place = try self.place(of: key, to: .write), place.isEqual else { return false }
    _ = try takeOut(key, at: place.index, of: place.leaf)
    return true
  }

  /// Removes the cell of a key from its leaf.
  ///
  /// Returns the leaf as it is then; nil if pages were merged or freed.
  func takeOut(
    _ key: Bytes, at index: Int, of leaf: TreePage
  ) throws(PageFileError) -> TreePage? {
    if let chain = leaf.chain(index) { try chain.free(in: source) }
    let usedBefore = leaf.usedByteCount
    let editor = try edit(leaf)
    editor.remove(at: index)
    let page = editor.page
    if !page.isToMerge(after: usedBefore) { return page }
    // The path is recorded only now, by a second descent: few removals need to update a parent.
    var path = TreePath()
    try descend(toward: key, to: page, &path)
    try shrink(page, up: &path)
    return nil
  }

  /// Descends to a leaf that holds a key or would hold it, recording the path.
  ///
  /// - Throws: Also `corruptPage` if the key leads to another leaf.
  func descend(
    toward key: Bytes, to leaf: TreePage, _ path: inout TreePath
  ) throws(PageFileError) {
    WalkCounter.note(tree, .write)
    let root = try source.treePage(source.root(of: tree))
    guard try path.descend(from: root, in: source, .toward(key)).number == leaf.number else {
      throw .corruptPage(leaf.number, reason: "the page holds keys outside its parent's bounds")
    }
  }

  /// Frees or merges a page that has become small, then does the same for each ancestor that lost a
  /// child.
  func shrink(_ page: TreePage, up path: inout TreePath) throws(PageFileError) {
    var page = page
    while let level = path.pop() {
      let parent = level.page
      if page.cellCount == 0 {
        try source.free(page.number)
        page = try removeChild(at: level.index, of: parent)
      } else if page.usedByteCount >= page.capacity / 4 {
        return
      } else if let right = try merge(page, at: level.index, of: parent) {
        page = try removeChild(at: right, of: parent)
      } else if parent.cellCount > 1 {
        return
      } else {
        // An only child has no neighbour to merge with, but its parent is small too and may have
        // one.
        page = parent
      }
    }
    try shrinkRoot(page)
  }

  /// Removes a child from a branch page.
  ///
  /// If it was the first child, the second one takes its place.
  private func removeChild(
    at index: Int, of parent: TreePage
  ) throws(PageFileError) -> TreePage {
    let editor = try edit(parent)
    let page = editor.page
    if index == 0 && page.cellCount > 1 {
      editor.setChild(at: 0, to: page.child(1))
      editor.remove(at: 1)
    } else {
      editor.remove(at: index)
    }
    return editor.page
  }

  /// Frees a root that is empty, or that leads to one page only.
  func shrinkRoot(_ root: TreePage) throws(PageFileError) {
    if root.cellCount == 0 {
      try source.free(root.number)
      return source.setRoot(of: tree, to: .none)
    }
    var root = root
    while !root.isLeaf && root.cellCount == 1 {
      let child = try source.treePage(root.child(0), level: root.level - 1)
      try source.free(root.number)
      source.setRoot(of: tree, to: child.number)
      root = child
    }
  }
}

extension TreePage {
  /// True if a leaf from which cells were removed is to be merged with a neighbour, or freed: it is
  /// empty, or less than a quarter full.
  ///
  /// A leaf that has found no room in its neighbours tries again when half of the rest has gone,
  /// not with each cell: a leaf at the end of a tree begins small, and each try costs a descent.
  func isToMerge(after usedBefore: Int) -> Bool {
    if cellCount == 0 { return true }
    let (used, limit) = (usedByteCount, capacity / 4)
    guard used < limit else { return false }
    return usedBefore >= limit || used.leadingZeroBitCount > usedBefore.leadingZeroBitCount
  }
}
