/// Packing: the cells of neighbouring pages put together, so that fewer pages hold them.
///
/// Deletions and insertions in the middle leave pages that are between a quarter and wholly full. Packing
/// goes through the pages of one level in the order of their keys, one parent at a time: a page that is
/// changed is a child of the same branch page before and after, so nothing above that has to know. A
/// branch page that is left with few children is packed itself when its own level comes.
extension BTree {
  /// A page saved pays for writing this many: leaves end up at least 95 % full on the average.
  private static let pagesPaidMax = 20
  /// How many pages are put together at once: they are all copied.
  private static let windowCountMax = 64

  /// How packing goes on.
  package enum PackStep: Sendable, Hashable {
    /// From this key on.
    case from([UInt8])
    /// Nothing of this level is left.
    case end
    /// The tree has no such level with anything above it.
    case noLevel
  }

  /// Looks for the first place from a key on where packing saves a page, reading at least one branch
  /// page and, give or take one, so many pages.
  ///
  /// One page read for each page of the level, and one for each branch page above. Changes nothing.
  ///
  /// - Parameters:
  ///   - level: The level of the pages to be packed; 0 for leaves.
  ///   - key: Where to begin; empty for the beginning.
  /// - Returns: Where packing may begin or the search go on, and which of the two.
  /// - Throws: What the source throws; `corruptPage` when pages contradict each other.
  package func firstToPack(
    level: Int, from key: [UInt8], readCountMax: Int
  ) throws(PageFileError) -> (step: PackStep, isFound: Bool) {
    var key = key
    var readCount = 0
    while true {
      // Nothing but the key is kept from one parent to the next.
      try source.pause()
      guard let parent = try parent(ofLevel: level, at: key) else { return (.noLevel, false) }
      let window = try nextWindow(
        of: parent.page, from: parent.index, countMax: Self.windowCountMax, &readCount)
      if let window {
        let found = window.children.lowerBound
        return (.from(found == parent.index ? key : Self.key(found, of: parent.page)), true)
      }
      guard let next = parent.next else { return (.end, false) }
      key = next
      if readCount >= readCountMax { return (.from(key), false) }
    }
  }

  /// Packs pages from a key on, until so many are written, give or take a branch page for each that
  /// are put together at once, or four times as many read in vain.
  ///
  /// Costs as `firstToPack`; each page that changes is edited, and each saved is freed. Overflow chains
  /// stay as they are.
  ///
  /// - Returns: Where to go on, and how many pages were saved.
  /// - Throws: What the source throws; `corruptPage` when pages contradict each other.
  package func pack(
    level: Int, from key: [UInt8], editCountMax: Int
  ) throws(PageFileError) -> (step: PackStep, savedCount: Int) {
    try source.changing { () throws(PageFileError) in
      var savedCount = 0
      let step = try packLevel(level, from: key, editCountMax, &savedCount)
      let root = source.root(of: tree)
      if savedCount > 0 { try shrinkRoot(source.treePage(root)) }
      return (step, savedCount)
    }
  }

  private func packLevel(
    _ level: Int, from key: [UInt8], _ editCountMax: Int, _ savedCount: inout Int
  ) throws(PageFileError) -> PackStep {
    let windowCountMax = min(Self.windowCountMax, editCountMax)
    var key = key
    var editCount = 0
    var readCount = 0
    while true {
      try source.pause(evenIfWriting: true)
      guard let parent = try parent(ofLevel: level, at: key) else { return .noLevel }
      var (page, index) = (parent.page, parent.index)
      while let window = try nextWindow(
        of: page, from: index, countMax: windowCountMax, &readCount)
      {
        let isFirst = window.children.lowerBound == parent.index
        let start = isFirst ? key : Self.key(window.children.lowerBound, of: page)
        if editCount > 0, editCount + window.children.count > editCountMax { return .from(start) }
        page = try apply(window, to: page)
        editCount += window.children.count + 1
        savedCount += window.savedCount
        // What follows may go on filling the last of these pages.
        index = window.children.upperBound - window.savedCount - 1
      }
      guard let next = parent.next else { return .end }
      key = next
      if editCount >= editCountMax || readCount >= 4 * editCountMax { return .from(key) }
    }
  }

  /// The branch page above the pages of a level on the way to a key; which of its children the key leads
  /// to; and the key that its right neighbour begins with.
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
    var key = ByteBuffer(capacity: Cell.keyByteCountMax)
    page.key(index).append(dropping: 0, to: &key)
    return key.bytes.array()
  }
}

// MARK: Windows

extension BTree {
  /// Neighbouring children of one page whose cells fit into fewer pages.
  private struct Window: ~Copyable {
    let children: Range<Int>
    let pages: [PageNumber]
    let cells: CellList
    /// Which cells go to which page.
    let parts: [Range<Int>]
    /// What the parent holds then; its separators lie in `cells`.
    let parent: CellList

    var savedCount: Int { pages.count - parts.count }
  }

  /// The first window among the children of a page from one on.
  private func nextWindow(
    of parent: TreePage, from index: Int, countMax: Int, _ readCount: inout Int
  ) throws(PageFileError) -> Window? {
    var index = index
    while index < parent.cellCount {
      let range = try source.reading { () throws(PageFileError) in
        try promising(parent, from: index, countMax: countMax, &readCount)
      }
      index = range.upperBound
      guard range.count > 1 else { continue }
      if let window = try measured(range, of: parent) { return window }
    }
    return nil
  }

  /// The children from one on that have the most room to spare beyond what writing them costs; only
  /// the first when these do not have a page's room together.
  private func promising(
    _ parent: TreePage, from index: Int, countMax: Int, _ readCount: inout Int
  ) throws(PageFileError) -> Range<Int> {
    let end = min(parent.cellCount, index + countMax)
    let capacity = parent.capacity
    var (spare, gain, gainMax) = (0, 0, 0)
    var best = (end: index + 1, spare: 0)
    for child in index..<end {
      let page = try source.treePage(parent.child(child), level: parent.level - 1)
      readCount += 1
      spare += capacity - page.usedByteCount
      gain += (capacity - page.usedByteCount) * Self.pagesPaidMax - capacity
      if gain < 0 { break }
      if gain > gainMax { (gainMax, best) = (gain, (child + 1, spare)) }
    }
    return index..<(best.spare >= capacity ? best.end : index + 1)
  }

  /// Lays the cells of children out anew, and leaves out pages at both ends that stay as they are; nil
  /// when no page is saved.
  private func measured(
    _ range: Range<Int>, of parent: TreePage
  ) throws(PageFileError) -> Window? {
    var pages: [TreePage] = []
    for child in range {
      pages.append(try source.treePage(parent.child(child), level: parent.level - 1))
    }
    let cells = CellList(copying: pages) { parent.key(range.lowerBound + $0) }
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
    var list = CellList(copying: parent)
    var leading: [Cell] = []
    for (part, page) in zip(parts, rest) {
      let key =
        leading.isEmpty
        ? list.key(start) : separator(before: part.lowerBound, in: cells, isLeaf: page.isLeaf)
      leading.append(Cell(key, .child(page.number)))
    }
    list.replace(children, with: leading)
    // A separator may become longer than it was.
    guard list.fits(0..<list.count) else { return nil }
    return Window(
      children: children, pages: rest.map(\.number), cells: cells, parts: Array(parts),
      parent: list)
  }

  /// The parent alone has promised that its children are others and that their keys go on from each
  /// other's.
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

  /// As `Split.separator`, without a copy.
  private func separator(
    before index: Int, in cells: borrowing CellList, isLeaf: Bool
  ) -> CellKey {
    let above = cells.key(index)
    return isLeaf ? above.first(above.sharedByteCount(with: cells.key(index - 1)) + 1) : above
  }

  /// Writes a window; returns the parent as it is then.
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
