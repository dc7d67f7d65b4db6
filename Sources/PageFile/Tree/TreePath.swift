/// The branch pages that lead from a root to a leaf, and the cell taken on each.
///
/// The stack is inline, so cursors and mutations descend without allocating. Only trees deeper than
/// any store needs spill into an array: room for every level that the gate permits would have to be
/// made, and moved about, for each lookup.
package struct TreePath: ~Copyable {
  package struct Level {
    package let page: TreePage
    package var index: Int
  }

  private static let inlineCount = 6
  private var levels = InlineArray<6, Level>(repeating: Level(page: TreePage(.empty), index: 0))
  /// The levels that do not fit inline.
  private var lower: [Level] = []
  private(set) var depth = 0

  package init() {}

  package mutating func removeAll() {
    if depth > Self.inlineCount { lower.removeAll() }
    depth = 0
  }

  package mutating func push(_ page: TreePage, _ index: Int) {
    let level = Level(page: page, index: index)
    if depth < Self.inlineCount { levels[depth] = level } else { lower.append(level) }
    depth += 1
  }

  package mutating func pop() -> Level? {
    guard depth > 0 else { return nil }
    depth -= 1
    return depth < Self.inlineCount ? levels[depth] : lower.popLast()
  }

  /// The child of a branch page that a descent takes.
  package enum Turn {
    case first
    case last
    case toward(Bytes)
  }

  /// Descends from `page`, recording each branch page on the way.
  ///
  /// Returns the leaf.
  ///
  /// Reads one page per level.
  ///
  /// - Throws: Any error of reading a page; `corruptPage` if a child contradicts its parent's
  ///   level.
  package mutating func descend(
    from page: TreePage, in source: PageSource, _ turn: Turn
  ) throws(PageFileError) -> TreePage {
    var page = page
    while !page.isLeaf {
      let index =
        switch turn {
        case .first: 0
        case .last: page.cellCount - 1
        case .toward(let key): page.childIndex(for: key)
        }
      push(page, index)
      page = try source.treePage(page.child(index), level: page.level - 1)
    }
    return page
  }
}

extension PageSource {
  /// Reads a page of a tree.
  ///
  /// - Throws: `corruptPage` if the page is of another kind or, when `level` is given, of another
  ///   level.
  package func treePage(
    _ number: PageNumber, level: Int? = nil
  ) throws(PageFileError) -> TreePage {
    let page = TreePage(try page(number))
    let kind = page.bytes[PageHeader.kindOffset]
    guard kind == PageKind.leaf.rawValue || kind == PageKind.branch.rawValue else {
      throw .corruptPage(number, reason: "a tree leads to a page of another kind")
    }
    if let level, page.level != level {
      throw .corruptPage(number, reason: "level \(page.level), expected \(level)")
    }
    return page
  }
}
