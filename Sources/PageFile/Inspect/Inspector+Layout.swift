/// One walk over all pages that tells the use of every slot.
extension Inspector {
  /// Returns the use of every slot, and calls `visitLeaf` with each readable leaf page.
  ///
  /// Reads each page once, from the roots down, so the leaf pages of a tree come in the order of
  /// their keys. A page that cannot be read is no failure but has a state of its own. Takes some 30
  /// bytes of memory for each page in use. The page that `visitLeaf` gets is valid during the call
  /// only.
  ///
  /// - Throws: `snapshotExpired` if the owner has overwritten the moment; other errors that say
  ///   nothing about pages.
  package func layout(
    visitLeaf: (Int, TreePage) -> Void = { _, _ in }
  ) throws(PageFileError) -> SlotLayout {
    let source = beginRead()
    var walk = LayoutWalk(source)
    try walk.readTable()
    for index in 0..<Roots.maximumCount where source.root(of: TreeNumber(index)) != .none {
      try walk.readTree(index, visitLeaf)
    }
    try walk.readUnreached()
    if source.snapshot.isExpired { throw .snapshotExpired }
    var file = try facts(source)
    file.pageCount = walk.pages.count { $0.state.use != .freed }
    file.trees = walk.trees.map(\.report)
    file.freeSlotCount = max(0, file.slotCount - walk.usedSlotCount)
    file.pagesByKind = walk.pagesByKind
    let states = (walk.table + walk.pages.map(\.state)).inOrder { UInt64($0.slot) }
    let loggedCount = states.firstIndex { $0.slot > 0 } ?? states.count
    return SlotLayout(
      file: file, slots: Array(states[loggedCount...]), logged: Array(states[..<loggedCount]),
      trees: walk.trees, unreadableTableCount: walk.unreadableTableCount)
  }
}

/// The walk, from the page table and the log down to the pages that nothing reaches.
private struct LayoutWalk {
  /// A page in use, or one that the log has freed.
  struct Page {
    let number: UInt32
    var state: SlotState
  }

  /// The pages in the order of their numbers.
  private(set) var pages: [Page] = []
  /// The pages of the page table.
  private(set) var table: [SlotState] = []
  private(set) var trees: [TreeLayout] = []
  private(set) var unreadableTableCount = 0
  private let source: PageSource

  init(_ source: PageSource) { self.source = source }

  /// The number of slots that the page table takes or names.
  var usedSlotCount: Int { table.count + pages.count { $0.state.slot > 0 } }

  var pagesByKind: [(kind: String, count: Int)] {
    var counts: [String: Int] = [:]
    for state in table + pages.map(\.state) where state.use != .freed {
      counts["\(state.use)", default: 0] += 1
    }
    return counts.keys.sorted().map { (kind: $0, count: counts[$0] ?? 0) }
  }

  // MARK: The page table and the log

  /// Finds all pages: those that the table names and those that only the log has.
  mutating func readTable() throws(PageFileError) {
    let snapshot = source.snapshot
    let bracket = Bracket(source.pager.cache, snapshot.registration)
    try readTable(snapshot.table.entry, level: snapshot.table.height - 1, place: 0, bracket)
    let namedCount = pages.count
    let newer = snapshot.map(snapshot.newest)
    for (map, isNewer) in [(snapshot.map(1 - snapshot.newest), false), (newer, true)] {
      map.forEach { number, image in
        guard image != nil, index(of: number, below: namedCount) == nil else { return }
        if !isNewer {
          // The newer map tells the last state of the page.
          guard case .absent = newer[number] else { return }
        }
        pages.append(
          Page(number: number.rawValue, state: SlotState(slot: 0, use: .unreached)))
      }
    }
    if pages.count > namedCount { pages = pages.inOrder { UInt64($0.number) } }
  }

  /// Reads a page of the table and those below it; goes on past one that cannot be read.
  private mutating func readTable(
    _ entry: TableEntry, level: Int, place: Int, _ bracket: Bracket
  ) throws(PageFileError) {
    guard level >= 0, !entry.isNone, let number = UInt32(exactly: place) else { return }
    let pager = source.pager
    var entries: [TableEntry] = []
    do throws(PageFileError) {
      try bracket.within { () throws(PageFileError) in
        let bytes = try pager.image(of: entry, number: number, level: level, bracket).bytes
        entries = (0..<pager.entryCount).map {
          TableEntry(rawValue: bytes.uint64(at: TablePage.entryOffset($0)))
        }
      }
    } catch {
      if error.endsReading { throw error }
      unreadableTableCount += 1
      table.append(SlotState(slot: entry.slot.rawValue, use: .unreadable))
      return
    }
    let usedCount = entries.count { !$0.isNone }
    table.append(
      SlotState(
        slot: entry.slot.rawValue, use: .table,
        fill: Double(usedCount) / Double(max(1, entries.count))))
    for (index, child) in entries.enumerated() where !child.isNone {
      let childPlace = place * pager.entryCount + index
      if level > 0 {
        try readTable(child, level: level - 1, place: childPlace, bracket)
      } else if let number = UInt32(exactly: childPlace) {
        let isFreed =
          if case .freed = source.snapshot.entry(of: PageNumber(number)) { true } else { false }
        pages.append(
          Page(
            number: number,
            state: SlotState(slot: child.slot.rawValue, use: isFreed ? .freed : .unreached)))
      }
    }
  }

  /// Returns the index of a page among the first pages, which are in order.
  private func index(of number: PageNumber, below end: Int) -> Int? {
    var low = 0
    var high = end
    while low < high {
      let middle = (low + high) >> 1
      if pages[middle].number < number.rawValue { low = middle + 1 } else { high = middle }
    }
    return low < end && pages[low].number == number.rawValue ? low : nil
  }

  // MARK: The pages

  /// Visits the pages of a tree, also those that cannot be read.
  mutating func readTree(
    _ index: Int, _ visitLeaf: (Int, TreePage) -> Void
  ) throws(PageFileError) {
    let root = source.root(of: TreeNumber(index))
    var tree = TreeLayout(report: TreeReport(number: index, root: root))
    try source.enter()
    defer { source.leave() }
    try BTree(source, TreeNumber(index)).check(
      visit: { number in
        // An error that ends the reading meets the check, too, which throws it.
        let bytes = try? source.page(number)
        let use = bytes.map(Self.use(of:)) ?? .unreadable
        let report = bytes.map { PageReport(number: number, slot: 0, tree: index, $0) }
        tree.add(use, fill: report?.fill ?? 0)
        if use == .leaf { tree.report.cellCount += report?.cellCount ?? 0 }
        if number == root { tree.report.depth = report.map { $0.level + 1 } ?? 0 }
        if let place = self.index(of: number, below: pages.count) {
          pages[place].state.use = use
          pages[place].state.tree = index
          pages[place].state.fill = report?.fill ?? 0
        }
        if use == .leaf, let bytes { visitLeaf(index, TreePage(bytes)) }
      }, report: { _, _ in })
    trees.append(tree)
  }

  /// Reads the pages in use that no tree has led to; a sound store has no such page.
  mutating func readUnreached() throws(PageFileError) {
    for place in pages.indices where pages[place].state.use == .unreached {
      try source.enter()
      defer { source.leave() }
      do throws(PageFileError) {
        let number = PageNumber(pages[place].number)
        let bytes = try source.page(number)
        let report = PageReport(number: number, slot: 0, tree: nil, bytes)
        pages[place].state.fill = report.fill
        if Self.use(of: bytes) == .leaf || Self.use(of: bytes) == .branch {
          pages[place].state.tree = TreePage(bytes).tree.rawValue
        }
      } catch {
        if error.endsReading { throw error }
        pages[place].state.use = .unreadable
      }
    }
  }

  private static func use(of page: Bytes) -> SlotState.Use {
    switch PageKind(rawValue: page[PageHeader.kindOffset]) {
    case .leaf: .leaf
    case .branch: .branch
    case .overflow: .overflow
    case .table, nil: .unreadable
    }
  }
}
