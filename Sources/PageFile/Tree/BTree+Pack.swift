/// Packing: moves the cells of neighbouring pages together so that fewer pages hold them.
///
/// Deletions and insertions in the middle leave pages anywhere between a quarter full and full.
/// Packing goes through the pages of one level in key order, one parent at a time. A changed page
/// is a child of the same branch page before and after, so no page above that branch needs an
/// update. A branch page left with few children is packed in turn when its own level comes.
extension BTree {
  /// The number of page writes that saving one page is worth.
  ///
  /// With this value, leaves end up at least 95 % full on average.
  private static let maximumPagesPaid = 20
  /// The largest number of pages packed in one step; all of them are copied.
  private static let maximumWindowCount = 64

  /// The point where packing continues.
  package enum PackStep: Sendable, Equatable {
    /// Continue from this key.
    case from([UInt8])
    /// The level is finished.
    case end
    /// The tree has no such level, or nothing above it.
    case noLevel
  }

  /// Finds the first place at or after a key where packing saves a page.
  ///
  /// Reads at least one branch page, and gives up after about `maximumReadCount` pages. The cost is
  /// one page read for each page of the level plus one for each branch page above. Changes nothing.
  ///
  /// - Parameters:
  ///   - level: The level of the pages to be packed; 0 for leaves.
  ///   - key: The key to begin at; empty for the beginning.
  /// - Returns: The key at which packing can begin, or from which the search continues, and which
  ///   of the two it is.
  /// - Throws: Any error of the source; `corruptPage` when pages contradict each other.
  package func firstToPack(
    level: Int, from key: [UInt8], maximumReadCount: Int
  ) throws(PageFileError) -> (step: PackStep, isFound: Bool) {
    var key = key
    var readCount = 0
    while true {
      // Only the key is carried over from one parent to the next.
      try source.pause()
      guard let parent = try parent(ofLevel: level, at: key) else { return (.noLevel, false) }
      let window = try nextWindow(
        of: parent.page, from: parent.index, maximumCount: Self.maximumWindowCount, &readCount)
      if let window {
        let found = window.children.lowerBound
        return (.from(found == parent.index ? key : Self.key(found, of: parent.page)), true)
      }
      guard let next = parent.next else { return (.end, false) }
      key = next
      if readCount >= maximumReadCount { return (.from(key), false) }
    }
  }

  /// Packs pages from a key on, until about `maximumEditCount` pages are written or four times as
  /// many have been read in vain.
  ///
  /// The written count may be off by one branch page for each group that is packed together.
  ///
  /// Costs the same reads as `firstToPack`; in addition, each changed page is edited and each saved
  /// page is freed. Overflow chains stay as they are.
  ///
  /// - Returns: The point to continue from, and the number of pages saved.
  /// - Throws: Any error of the source; `corruptPage` when pages contradict each other.
  package func pack(
    level: Int, from key: [UInt8], maximumEditCount: Int
  ) throws(PageFileError) -> (step: PackStep, savedCount: Int) {
    try source.changing { () throws(PageFileError) in
      var savedCount = 0
      let step = try packLevel(level, from: key, maximumEditCount, &savedCount)
      let root = source.root(of: tree)
      if savedCount > 0 { try shrinkRoot(source.treePage(root)) }
      return (step, savedCount)
    }
  }

  private func packLevel(
    _ level: Int, from key: [UInt8], _ maximumEditCount: Int, _ savedCount: inout Int
  ) throws(PageFileError) -> PackStep {
    let maximumWindowCount = min(Self.maximumWindowCount, maximumEditCount)
    var key = key
    var editCount = 0
    var readCount = 0
    while true {
      try source.pause(evenIfWriting: true)
      guard let parent = try parent(ofLevel: level, at: key) else { return .noLevel }
      var (page, index) = (parent.page, parent.index)
      while let window = try nextWindow(
        of: page, from: index, maximumCount: maximumWindowCount, &readCount)
      {
        let isFirst = window.children.lowerBound == parent.index
        let start = isFirst ? key : Self.key(window.children.lowerBound, of: page)
        if editCount > 0, editCount + window.children.count > maximumEditCount {
          return .from(start)
        }
        page = try apply(window, to: page)
        editCount += window.children.count + 1
        savedCount += window.savedCount
        // The next window may continue filling the last of these pages.
        index = window.children.upperBound - window.savedCount - 1
      }
      guard let next = parent.next else { return .end }
      key = next
      if editCount >= maximumEditCount || readCount >= 4 * maximumEditCount { return .from(key) }
    }
  }

  /// Returns the branch page above the given level on the way to a key, the index of the child that
  /// the key leads to, and the first key of the branch page's right neighbour.
  ///
  /// Returns nil if the tree has no branch page there.
  private func parent(
    ofLevel level: Int, at key: [UInt8]
  ) throws(PageFileError) -> (page: TreePage, index: Int, next: [UInt8]?)? {
    let root = source.root(of: tree)
    guard root != .none else { return nil }
    var page = try source.treePage(root)
    guard page.level > level else { return nil }
    var next: [UInt8]?
    while true {
      let index =
        key.isEmpty ? 0 : Bytes.with(key) { [page] (key) in page.childIndex(for: key) }
      if page.level == level + 1 { return (page, index, next) }
      if index + 1 < page.cellCount { next = Self.key(index + 1, of: page) }
      page = try source.treePage(page.child(index), level: page.level - 1)
    }
  }

  private static func key(_ index: Int, of page: TreePage) -> [UInt8] {
    var key = ByteBuffer(capacity: Cell.maximumKeyByteCount)
    page.key(index).append(dropping: 0, to: &key)
    return key.bytes.array()
  }
}

// MARK: Windows

extension BTree {
  /// A run of neighbouring children of one page whose cells fit into fewer pages.
  private struct Window: ~Copyable {
    let children: Range<Int>
    let pages: [PageNumber]
    let cells: CellList
    /// The range of cells that goes to each page.
    let parts: [Range<Int>]
    /// The new contents of the parent.
    ///
    /// Its separators lie in `cells`, and those of `cells` in the copy that this one made.
    let parent: CellList

    var savedCount: Int { pages.count - parts.count }
  }

  /// Returns the first window among the children of a page, starting at `index`.
  private func nextWindow(
    of parent: TreePage, from index: Int, maximumCount: Int, _ readCount: inout Int
  ) throws(PageFileError) -> Window? {
    var index = index
    while index < parent.cellCount {
      let range = try source.reading { () throws(PageFileError) in
        try promising(parent, from: index, maximumCount: maximumCount, &readCount)
      }
      index = range.upperBound
      guard range.count > 1 else { continue }
      if let window = try measured(range, of: parent) { return window }
    }
    return nil
  }

  /// Returns the run of children, starting at `index`, with the largest gain: spare room beyond the
  /// cost of writing them.
  ///
  /// Returns only the first child if the run has less than one page of spare room.
  private func promising(
    _ parent: TreePage, from index: Int, maximumCount: Int, _ readCount: inout Int
  ) throws(PageFileError) -> Range<Int> {
    let end = min(parent.cellCount, index + maximumCount)
    let capacity = parent.capacity
    var (spare, gain, maximumGain) = (0, 0, 0)
    var best = (end: index + 1, spare: 0)
    for child in index..<end {
      let page = try source.treePage(parent.child(child), level: parent.level - 1)
      readCount += 1
      spare += capacity - page.usedByteCount
      gain += (capacity - page.usedByteCount) * Self.maximumPagesPaid - capacity
      if gain < 0 { break }
      if gain > maximumGain { (maximumGain, best) = (gain, (child + 1, spare)) }
    }
    return index..<(best.spare >= capacity ? best.end : index + 1)
  }

  /// Lays out the cells of a run of children anew, dropping pages at both ends that would not
  /// change.
  ///
  /// Returns nil if no page is saved.
  private func measured(
    _ range: Range<Int>, of parent: TreePage
  ) throws(PageFileError) -> Window? {
    var pages: [TreePage] = []
    for child in range {
      pages.append(try source.treePage(parent.child(child), level: parent.level - 1))
    }
    // The separators are taken from a copy: on branch pages they become keys of the new pages and
    // of the parent, which is overwritten with them.
    var list = CellList(copying: parent)
    let separators = range.map { list.key($0) }
    let cells = CellList(copying: pages) { separators[$0] }
    try checkOrder(of: pages, cells)
    var parts = cells.filledPages()[...]
    guard parts.count < pages.count else { return nil }
    var rest = pages[...]
    while let part = parts.first, let page = rest.first, part.count == page.cellCount {
      (parts, rest) = (parts.dropFirst(), rest.dropFirst())
    }
    while let part = parts.last, let page = rest.last, part.count == page.cellCount {
      (parts, rest) = (parts.dropLast(), rest.dropLast())
    }
    let start = range.lowerBound + rest.startIndex
    let children = start..<start + rest.count
    var leading: [Cell] = []
    for (part, page) in zip(parts, rest) {
      let key =
        leading.isEmpty
        ? list.key(start) : separator(before: part.lowerBound, in: cells, isLeaf: page.isLeaf)
      leading.append(Cell(key, .child(page.number)))
    }
    list.replace(children, with: leading)
    // A separator may have become longer than before.
    guard list.fits(0..<list.count) else { return nil }
    return Window(
      children: children, pages: rest.map(\.number), cells: cells, parts: Array(parts),
      parent: list)
  }

  /// Checks that the children are distinct pages and that their keys ascend from page to page.
  ///
  /// So far only the parent has promised that.
  private func checkOrder(
    of pages: [TreePage], _ cells: borrowing CellList
  ) throws(PageFileError) {
    var seam = 0
    var numbers: Set<PageNumber> = []
    for page in pages {
      guard numbers.insert(page.number).inserted else {
        throw .corruptPage(page.number, reason: "the page is reached twice")
      }
      guard seam == 0 || cells.isAscending(at: seam) else {
        throw .corruptPage(page.number, reason: "the page holds keys outside its parent's bounds")
      }
      seam += page.cellCount
    }
  }

  /// Returns the same separator as the one for a `Split`, without copying it.
  private func separator(
    before index: Int, in cells: borrowing CellList, isLeaf: Bool
  ) -> CellKey {
    let above = cells.key(index)
    return isLeaf ? above.first(above.sharedByteCount(with: cells.key(index - 1)) + 1) : above
  }

  /// Writes a window and returns the updated parent.
  private func apply(
    _ window: borrowing Window, to parent: TreePage
  ) throws(PageFileError) -> TreePage {
    for (number, part) in zip(window.pages, window.parts) {
      window.cells.write(part, to: try edit(try source.treePage(number)))
    }
    for number in window.pages.dropFirst(window.parts.count) { try source.free(number) }
    let editor = try edit(parent)
    window.parent.write(0..<window.parent.count, to: editor)
    return editor.page
  }
}
