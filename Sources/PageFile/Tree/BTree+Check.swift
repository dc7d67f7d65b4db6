/// Checks a whole tree, reporting every finding and continuing past it.
///
/// A page that breaks its own rules is reported but not descended into, because nothing in it can
/// be trusted. The same goes for a page reached a second time, which bounds the walk by the number
/// of pages no matter how they refer to each other.
///
/// The walk keeps its place as page numbers and copies of keys, and pauses after each leaf. Apart
/// from the set of page numbers seen, a large store takes no more memory than a small one.
extension BTree {
  /// Walks the tree and its overflow chains.
  ///
  /// Calls `visit` once for each page reached, including pages that cannot be read, and `report`
  /// with a page and what is wrong with it. Pages read before this call must not be used
  /// afterwards; see `PageSource.pause`.
  ///
  /// - Throws: Only errors that stop the walk and say nothing about the pages; see
  ///   `PageFileError.endsReading`.
  @inline(never)
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

  /// Checks a page and everything below it.
  ///
  /// Recurses no deeper than the level of the page, which the gate caps.
  @inline(never)
  func check(
    _ number: PageNumber, level: Int?, above lower: [UInt8]?, below upper: [UInt8]?,
    _ seen: inout Set<UInt32>
  ) throws(PageFileError) {
    guard reach(number, &seen) else { return report(number, "the page is reached twice") }
    do throws(PageFileError) {
      let page = try source.treePage(number, level: level)
      if let broken = TreePage.ruleBroken(page.bytes) { return report(number, broken) }
      if page.tree != tree {
        report(number, "page header names tree \(page.tree.rawValue)")
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

  @inline(never)
  private func checkChildren(
    of number: PageNumber, _ level: Int, _ count: Int, _ lower: [UInt8]?, _ upper: [UInt8]?,
    _ seen: inout Set<UInt32>
  ) throws(PageFileError) {
    var lower = lower
    for index in 0..<count {
      // Read the page again each time, because the recursive walk below has paused.
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
      report(page.number, "keys are below the parent's lower bound")
    }
    if let upper, Bytes.with(upper, { page.key(page.cellCount - 1).compare(to: CellKey($0)) }) >= 0
    {
      report(page.number, "keys are not below the parent's upper bound")
    }
  }

  @inline(never)
  private func check(
    _ chain: OverflowChain, of leaf: PageNumber, _ seen: inout Set<UInt32>
  ) throws(PageFileError) {
    do throws(PageFileError) {
      try chain.check(in: source) { number in reach(number, &seen) }
    } catch {
      try report(leaf, error)
    }
  }

  /// Reports an error thrown while reading, against the page that the error names.
  @inline(never)
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
  @inline(never)
  fileprivate func copyOfKey(_ index: Int) -> [UInt8] {
    var key = ByteBuffer(capacity: Cell.maximumKeyByteCount)
    self.key(index).append(dropping: 0, to: &key)
    return key.bytes.array()
  }
}
