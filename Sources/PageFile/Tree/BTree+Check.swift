/// What must hold in a tree, as a walk over all of it that reports every finding and goes on.
///
/// A page whose own rules are broken is reported and not walked into, as nothing in it can be
/// believed; so is a page reached for the second time, which bounds the walk by the number of pages
/// however they refer to each other.
extension BTree {
  /// Walks the tree with its overflow chains.
  ///
  /// `visit` is called once for each page reached, also for one that cannot be read. `report` is
  /// called with the page concerned and what is wrong with it.
  package func check(
    visit: (PageNumber) -> Void, report: (PageNumber, String) -> Void
  ) {
    let root = source.root(of: tree)
    guard root != .none else { return }
    var seen = Set<UInt32>()
    withoutActuallyEscaping(visit) { visit in
      withoutActuallyEscaping(report) { report in
        let walk = TreeCheck(source: source, tree: tree, visit: visit, report: report)
        walk.check(root, level: nil, above: nil, below: nil, &seen)
      }
    }
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
    _ number: PageNumber, level: Int?, above lower: CellKey?, below upper: CellKey?,
    _ seen: inout Set<UInt32>
  ) {
    guard reach(number, &seen) else { return report(number, "the page is reached twice") }
    do throws(PageFileError) {
      let page = try source.treePage(number, level: level)
      if let broken = TreePage.ruleBroken(page.bytes) { return report(number, broken) }
      if page.tree != tree {
        report(number, "the page says that it is of tree \(page.tree.rawValue)")
      }
      checkBounds(page, lower, upper)
      for index in 0..<page.cellCount {
        if page.isLeaf {
          checkChain(page, index, &seen)
        } else {
          check(
            page.child(index), level: page.level - 1,
            above: index == 0 ? lower : page.key(index),
            below: index + 1 < page.cellCount ? page.key(index + 1) : upper, &seen)
        }
      }
    } catch {
      report(number, error)
    }
  }

  private func reach(_ number: PageNumber, _ seen: inout Set<UInt32>) -> Bool {
    guard seen.insert(number.rawValue).inserted else { return false }
    visit(number)
    return true
  }

  private func checkBounds(_ page: TreePage, _ lower: CellKey?, _ upper: CellKey?) {
    let first = page.firstKeyIndex
    guard first < page.cellCount else { return }
    if let lower, page.key(first).compare(to: lower) < 0 {
      report(page.number, "keys lie below the bounds that the parent sets")
    }
    if let upper, page.key(page.cellCount - 1).compare(to: upper) >= 0 {
      report(page.number, "keys lie above the bounds that the parent sets")
    }
  }

  private func checkChain(_ page: TreePage, _ index: Int, _ seen: inout Set<UInt32>) {
    guard let chain = page.chain(index) else { return }
    do throws(PageFileError) {
      try chain.check(in: source) { number in reach(number, &seen) }
    } catch {
      report(page.number, error)
    }
  }

  /// Reports what reading threw, at the page it names.
  private func report(_ number: PageNumber, _ error: PageFileError) {
    if case .corruptPage(let page, let reason) = error {
      report(page, reason)
    } else {
      report(number, "the page cannot be read: \(error)")
    }
  }
}
