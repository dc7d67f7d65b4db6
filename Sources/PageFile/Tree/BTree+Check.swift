/// What must hold in a tree, as a walk over all of it that reports every finding and goes on.
///
/// A page whose own rules are broken is reported and not walked into, as nothing in it can be
/// believed; so is a page reached for the second time, which bounds the walk by the number of pages
/// however they refer to each other.
///
/// The walk keeps its place by page numbers and copies of keys, and pauses behind each leaf: so it
/// takes no more memory in a large store than in a small one, but for the numbers of the pages seen.
extension BTree {
  /// Walks the tree with its overflow chains.
  ///
  /// `visit` is called once for each page reached, also for one that cannot be read. `report` is
  /// called with the page concerned and what is wrong with it. No page that was read before may be
  /// looked at afterwards, see `PageSource.pause`.
  /// - Throws: Only what keeps the walk from going on and says nothing about the pages, see
  ///   `PageFileError.endsReading`.
  package func check(
    visit: (PageNumber) -> Void, report: (PageNumber, String) -> Void
  ) throws(PageFileError) {
    let root = source.root(of: tree)
    guard root != .none else { return }
    var seen = Set<UInt32>()
    let result = withoutActuallyEscaping(visit) { visit in
      withoutActuallyEscaping(report) { report in
        let walk = TreeCheck(source: source, tree: tree, visit: visit, report: report)
        return Result { () throws(PageFileError) in
          try walk.check(root, level: nil, above: nil, below: nil, &seen)
        }
      }
    }
    try result.get()
  }
}

private struct TreeCheck {
  let source: PageSource
  let tree: TreeNumber
  let visit: (PageNumber) -> Void
  let report: (PageNumber, String) -> Void

  /// Checks a page and all below it.
  ///
  /// Calls itself no deeper than the level of the page, which the gate caps.
  func check(
    _ number: PageNumber, level: Int?, above lower: [UInt8]?, below upper: [UInt8]?,
    _ seen: inout Set<UInt32>
  ) throws(PageFileError) {
    guard reach(number, &seen) else { return report(number, "the page is reached twice") }
    do throws(PageFileError) {
      let page = try source.treePage(number, level: level)
      if let broken = TreePage.ruleBroken(page.bytes) { return report(number, broken) }
      if page.tree != tree {
        report(number, "the page says that it is of tree \(page.tree.rawValue)")
      }
      checkBounds(page, lower, upper)
      if page.isLeaf {
        let chains = (0..<page.cellCount).compactMap { page.chain($0) }
        for chain in chains { try check(chain, of: number, &seen) }
        try source.pause()
      } else {
        try checkChildren(of: number, page.level, page.cellCount, lower, upper, &seen)
      }
    } catch {
      try report(number, error)
    }
  }

  private func checkChildren(
    of number: PageNumber, _ level: Int, _ count: Int, _ lower: [UInt8]?, _ upper: [UInt8]?,
    _ seen: inout Set<UInt32>
  ) throws(PageFileError) {
    var lower = lower
    for index in 0..<count {
      // Read again each time: the walk below has paused.
      let page = try source.treePage(number, level: level)
      guard index < page.cellCount else { return }
      let next = index + 1 < count && index + 1 < page.cellCount ? page.copyOfKey(index + 1) : upper
      try check(page.child(index), level: level - 1, above: lower, below: next, &seen)
      lower = next
    }
  }

  private func reach(_ number: PageNumber, _ seen: inout Set<UInt32>) -> Bool {
    guard seen.insert(number.rawValue).inserted else { return false }
    visit(number)
    return true
  }

  private func checkBounds(_ page: TreePage, _ lower: [UInt8]?, _ upper: [UInt8]?) {
    let first = page.firstKeyIndex
    guard first < page.cellCount else { return }
    if let lower, Bytes.with(lower, { page.key(first).compare(to: CellKey($0)) }) < 0 {
      report(page.number, "keys lie below the bounds that the parent sets")
    }
    if let upper, Bytes.with(upper, { page.key(page.cellCount - 1).compare(to: CellKey($0)) }) >= 0
    {
      report(page.number, "keys lie above the bounds that the parent sets")
    }
  }

  private func check(
    _ chain: OverflowChain, of leaf: PageNumber, _ seen: inout Set<UInt32>
  ) throws(PageFileError) {
    do throws(PageFileError) {
      try chain.check(in: source) { number in reach(number, &seen) }
    } catch {
      try report(leaf, error)
    }
  }

  /// Reports what reading threw, at the page it names.
  private func report(_ number: PageNumber, _ error: PageFileError) throws(PageFileError) {
    if error.endsReading { throw error }
    if case .corruptPage(let page, let reason) = error {
      report(page, reason)
    } else {
      report(number, "the page cannot be read: \(error)")
    }
  }
}

extension TreePage {
  fileprivate func copyOfKey(_ index: Int) -> [UInt8] {
    var key = ByteBuffer(capacity: Cell.keyByteCountMax)
    self.key(index).append(dropping: 0, to: &key)
    return key.bytes.array()
  }
}
