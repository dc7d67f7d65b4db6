/// The separators on the way from the root to a leaf that are nearest to its keys.
///
/// In a sound tree each page sets narrower bounds than the page above it. Pages of a damaged tree
/// may contradict each other. A tree of two levels costs no comparison to find out.
struct Bounds {
  typealias Separator = (page: TreePage, index: Int)

  /// The separator that no key of the leaf lies below; nil for the first leaf.
  private(set) var lower: Separator?
  /// The separator that all keys of the leaf lie below; nil for the last leaf.
  private(set) var upper: Separator?
  /// The branch page whose separators contradict those of a page above it.
  private(set) var contradiction: PageNumber?

  /// Narrows the bounds to those of a child.
  mutating func narrow(to index: Int, of page: TreePage) {
    if index > 0 {
      let key = page.key(index)
      if let lower, key.compare(to: lower.page.key(lower.index)) < 0 { contradiction = page.number }
      lower = (page, index)
    }
    if index + 1 < page.cellCount {
      let key = page.key(index + 1)
      if let upper, key.compare(to: upper.page.key(upper.index)) >= 0 {
        contradiction = page.number
      }
      upper = (page, index + 1)
    }
  }

  /// True if no key can lie between the bounds.
  ///
  /// On the way to a key that cannot be; on the way of a cursor it can.
  var areCrossed: Bool {
    guard let lower, let upper, lower.page.number != upper.page.number else { return false }
    return lower.page.key(lower.index).compare(to: upper.page.key(upper.index)) >= 0
  }

  /// Returns true if all keys of the leaf lie between the bounds.
  func hold(_ leaf: TreePage) -> Bool {
    guard leaf.cellCount > 0 else { return false }
    if let lower, leaf.key(0).compare(to: lower.page.key(lower.index)) < 0 { return false }
    guard let upper else { return true }
    return leaf.key(leaf.cellCount - 1).compare(to: upper.page.key(upper.index)) < 0
  }
}

extension PageSource {
  /// Notes a leaf as the one visited last, see `BTree.recentPlace`; or none, if pages on the way to
  /// it contradict each other.
  func visit(
    _ leaf: TreePage, of tree: TreeNumber, from parent: TreePage, _ index: Int,
    within bounds: Bounds
  ) {
    guard bounds.contradiction == nil else { return visit(.none, of: tree) }
    visit(leaf.number, of: tree, from: parent.number, index)
    // A separator beside the first or the last child of a branch page lies above that page, where
    // no later look goes.
    let isOuter = index == 0 || index + 1 == parent.cellCount
    if isOuter, parent.number != root(of: tree), bounds.hold(leaf) { proveRecentLeaf(of: tree) }
  }
}
