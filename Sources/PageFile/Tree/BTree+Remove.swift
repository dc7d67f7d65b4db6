/// Removal: find the cell, take it out with its overflow chain, give back pages that are not needed.
extension BTree {
  /// Removes a key and its value.
  ///
  /// Returns whether it was there.
  ///
  /// Reads a page a level and edits one; reads two neighbours more when the leaf is left under a
  /// quarter full.
  ///
  /// - Throws: what the source throws; `corruptPage` when pages contradict each other.
  package func remove(_ key: Bytes) throws(PageFileError) -> Bool {
    BTree.checkKey(key)
    return try source.changing { () throws(PageFileError) in try takeOut(key) }
  }

  private func takeOut(_ key: Bytes) throws(PageFileError) -> Bool {
    guard let leaf = try leaf(for: key) else { return false }
    let found = leaf.search(key)
    guard found.isEqual else { return false }
    if let chain = leaf.chain(found.index) { try chain.free(in: source) }
    let editor = try edit(leaf)
    editor.remove(at: found.index)
    let page = editor.page
    if page.cellCount == 0 || page.usedByteCount < page.capacity / 4 {
      // The way down is noted only now, by going it again: few removals have to tell a parent.
      var path = TreePath()
      let root = try source.treePage(source.root(of: tree))
      let small = try path.descend(from: root, in: source, .toward(key))
      try shrink(small, up: &path)
    }
    return true
  }

  /// Frees or merges a page that has become small, then what lost one above it.
  private func shrink(_ page: TreePage, up path: inout TreePath) throws(PageFileError) {
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
        // An only child has nobody to merge with, but its parent is small too and may.
        page = parent
      }
    }
    try shrinkRoot(page)
  }

  /// Takes a child out of a branch page; what came behind a first child takes its place.
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

  /// Frees an empty root, and roots that only lead to one page.
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
