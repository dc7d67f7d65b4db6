/// The branch pages that lead from a root to a leaf, and the cell taken on each.
///
/// The stack lies inline, so a cursor and a mutation allocate nothing to find their way; but for a
/// tree that is higher than any that a store needs: room for all levels that the gate lets through
/// would be made, and moved about, for each lookup.
package struct TreePath: ~Copyable {
  package struct Level {
    package let page: TreePage
    package var index: Int
  }

  private static let inlineCount = 6
  private var levels = InlineArray<6, Level>(repeating: Level(page: TreePage(.empty), index: 0))
  /// Those below.
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

  /// Which of a branch page's children a descent takes.
  package enum Turn {
    case first
    case last
    case toward(Bytes)
  }

  /// Goes down from `page` and notes each branch page on the way.
  ///
  /// Returns the leaf.
  ///
  /// Costs one page read a level.
  ///
  /// - Throws: what reading a page throws; `corruptPage` when a child is not what its parent's level
  ///   promises.
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
  /// A page of a tree.
  ///
  /// - Throws: `corruptPage` when it is a page of another kind or, given a level, of another level.
  package func treePage(
    _ number: PageNumber, level: Int? = nil
  ) throws(PageFileError) -> TreePage {
    let page = TreePage(try page(number))
    let kind = page.bytes[PageHeader.kindOffset]
    guard kind == PageKind.leaf.rawValue || kind == PageKind.branch.rawValue else {
      throw .corruptPage(number, reason: "a tree leads to a page of another kind")
    }
    if let level, page.level != level {
      throw .corruptPage(number, reason: "level \(page.level) where \(level) belongs")
    }
    return page
  }
}
