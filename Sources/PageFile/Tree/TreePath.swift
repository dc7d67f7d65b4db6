/// The branch pages that lead from a root to a leaf, and the cell taken on each.
///
/// The stack is inline, so cursors and mutations descend without allocating. Only trees deeper than
/// any store needs spill into an array: room for every level that the gate permits would have to be
/// made, and moved about, for each lookup.
package struct TreePath: ~Copyable {
  package struct Level {
    package let page: TreePage
    package internal(set) var index: Int
  }

  private var levels = UpperLevels()
  /// The levels that do not fit inline.
  private var lower: [Level] = []
  private(set) var depth = 0

  package init() {}

  package mutating func removeAll() {
    if depth > UpperLevels.count { lower.removeAll() }
    depth = 0
  }

  package mutating func push(_ page: TreePage, _ index: Int) {
    let level = Level(page: page, index: index)
    if depth < UpperLevels.count { levels[depth] = level } else { lower.append(level) }
    depth += 1
  }

  /// The lowest level, and the bounds of the page that it leads to, empty for a path of one level.
  ///
  /// nil for an empty path, and if pages on the path contradict each other.
  var lastIfSound: (level: Level, bounds: Bounds)? {
    var bounds = Bounds()
    var last: Level?
    for place in 0..<depth {
      let level = place < UpperLevels.count ? levels[place] : lower[place - UpperLevels.count]
      if depth > 1 { bounds.narrow(to: level.index, of: level.page) }
      last = level
    }
    guard let last, bounds.contradiction == nil, !bounds.areCrossed else { return nil }
    return (last, bounds)
  }

  /// Notes the leaf to which a path of at most two levels leads as the one visited last.
  // Inlined: a call would copy the stack.
  @inline(__always)
  func visit(_ leaf: PageNumber, of tree: TreeNumber, in source: PageSource) {
    let (first, second) = (levels.level0, levels.level1)
    switch depth {
    case 0: source.visit(leaf, of: tree)
    case 1: source.visit(leaf, of: tree, from: first.page.number, first.index)
    default: source.visit(leaf, of: tree, from: second.page.number, second.index, turn: first.index)
    }
  }

  package mutating func pop() -> Level? {
    guard depth > 0 else { return nil }
    depth -= 1
    return depth < UpperLevels.count ? levels[depth] : lower.popLast()
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

/// Six levels in place, named one by one: `InlineArray` exists only on Apple's systems of 2025.
private struct UpperLevels {
  static let count = 6

  fileprivate var level0 = none
  fileprivate var level1 = none
  fileprivate var level2 = none
  fileprivate var level3 = none
  fileprivate var level4 = none
  fileprivate var level5 = none

  private static var none: TreePath.Level { TreePath.Level(page: TreePage(.empty), index: 0) }

  subscript(depth: Int) -> TreePath.Level {
    get {
      switch depth {
      case 0: level0
      case 1: level1
      case 2: level2
      case 3: level3
      case 4: level4
      case 5: level5
      default: preconditionFailure("level: out of bounds")
      }
    }
    set {
      switch depth {
      case 0: level0 = newValue
      case 1: level1 = newValue
      case 2: level2 = newValue
      case 3: level3 = newValue
      case 4: level4 = newValue
      case 5: level5 = newValue
      default: preconditionFailure("level: out of bounds")
      }
    }
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
