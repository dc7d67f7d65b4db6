/// The separators on the way from the root to a leaf that are nearest to its keys.
///
/// In a sound tree each page sets narrower bounds than the page above it. Pages of a damaged tree
/// may contradict each other. A tree of two levels costs no comparison.
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
}
