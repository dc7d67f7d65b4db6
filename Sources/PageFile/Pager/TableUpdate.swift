/// A copy-on-write update that makes the next version of the page table, from the lowest level up.
///
/// See docs/page-file-format.md, T-6.
///
/// Only the table pages above changed entries are rewritten. The slots of the old table pages, and
/// of the pages whose entries changed, are collected in `replaced`. The old version stays whole
/// until those slots are reused.
struct TableUpdate: ~Copyable {
  private let pager: Pager
  private let bracket: Bracket
  private let allocate: () throws(PageFileError) -> SlotNumber
  /// The slots to which the old table refers and the new one does not.
  private(set) var replaced: [SlotNumber] = []
  /// The new table pages, to be cached once they are published.
  private(set) var images: [PageImage] = []

  init(_ pager: Pager, allocate: @escaping () throws(PageFileError) -> SlotNumber) {
    self.pager = pager
    bracket = Bracket(pager.cache)
    self.allocate = allocate
  }

  deinit {
    for image in images { image.release() }
  }

  /// A change on one level: the new entry at an index, counted over the whole level.
  struct Change {
    let index: Int
    let entry: TableEntry
  }

  /// Writes the changed table pages of all levels and returns the new root.
  /// - Parameter changes: The changes of level 0, in the order of page numbers.
  mutating func apply(
    _ changes: [Change], to table: PageTableRoot, pageNumberEnd: UInt32, lsn: LSN,
    writer: inout SlotWriter
  ) throws(PageFileError) -> PageTableRoot {
    if changes.isEmpty { return table }
    for change in changes {
      let old = try bracket.within { () throws(PageFileError) in
        try pager.tableEntry(at: change.index, level: 0, in: table, bracket)
      }
      if !old.isNone && old != change.entry { replaced.append(old.slot) }
    }
    var height = max(1, table.height)
    while TablePage.reach(height: height, entryCount: pager.entryCount) < UInt64(pageNumberEnd) {
      height += 1
    }
    var changes = changes
    var checksum: UInt64 = 0
    for level in 0..<height {
      (changes, checksum) = try applyLevel(
        level, changes, table, lsn: lsn, writer: &writer)
      let isOldRoot = level == table.height - 1
      // A table that grows keeps its old root as the first page of its level.
      if isOldRoot && level < height - 1 && changes.first?.index != 0 {
        changes.insert(Change(index: 0, entry: table.entry), at: 0)
      }
    }
    guard let root = changes.first, !root.entry.isNone else { return .empty }
    return PageTableRoot(entry: root.entry, checksum: checksum, height: height)
  }

  /// Writes the changed table pages of one level.
  ///
  /// Returns the changes for the level above and the checksum of the last page written.
  private mutating func applyLevel(
    _ level: Int, _ changes: [Change], _ table: PageTableRoot, lsn: LSN,
    writer: inout SlotWriter
  ) throws(PageFileError) -> ([Change], UInt64) {
    var above: [Change] = []
    var checksum: UInt64 = 0
    var start = 0
    while start < changes.count {
      let place = changes[start].index / pager.entryCount
      var end = start
      while end < changes.count && changes[end].index / pager.entryCount == place { end += 1 }
      let image = try tablePage(level: level, place: place, table)
      images.append(image)
      let page = image.mutableBytes
      for change in changes[start..<end] {
        page.store(
          change.entry.rawValue,
          at: TablePage.entryOffset(change.index - place * pager.entryCount))
      }
      var entry = TableEntry.none
      if page.readOnly.firstNonzero(at: PageHeader.byteCount) < page.count {
        page.store(lsn.rawValue, at: PageHeader.lsnOffset)
        let slot = try allocate()
        checksum = try writer.write(page.readOnly, to: slot)
        entry = TableEntry(slot: slot, check: UInt32(truncatingIfNeeded: checksum))
      }
      image.place = entry
      above.append(Change(index: place, entry: entry))
      start = end
    }
    return (above, checksum)
  }

  /// Returns a copy of the old table page, or a new one.
  private mutating func tablePage(
    level: Int, place: Int, _ table: PageTableRoot
  ) throws(PageFileError) -> PageImage {
    bracket.enter()
    defer { bracket.leave() }
    let old =
      level == table.height - 1
      ? (place == 0 ? table.entry : .none)
      : try pager.tableEntry(at: place, level: level + 1, in: table, bracket)
    let image = PageImage(pageByteCount: pager.contentByteCount, account: pager.account)
    let page = image.mutableBytes
    guard !old.isNone else {
      page.zero(0, page.count)
      page.store(UInt32(place), at: PageHeader.numberOffset)
      page[PageHeader.kindOffset] = PageKind.table.rawValue
      page[PageHeader.levelOffset] = UInt8(level)
      return image
    }
    do throws(PageFileError) {
      page.copy(
        try pager.image(of: old, number: UInt32(place), level: level, bracket).bytes, to: 0)
    } catch {
      image.release()
      throw error
    }
    replaced.append(old.slot)
    return image
  }
}
