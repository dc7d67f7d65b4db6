import PageFile

/// A page found intact in a slot, current or not.
///
/// Takes 32 bytes, once for each slot of the file. Together with the first keys of leaves, a
/// salvage keeps about a fiftieth of the store's size in memory.
struct SlotPage {
  let checksum: UInt64
  let lsn: LSN
  /// The page number; for a table page its place in its level.
  let number: UInt32
  let slot: SlotNumber
  let kind: PageKind
  let level: UInt8
  let tree: UInt8

  init(_ page: Bytes, _ kind: PageKind, slot: SlotNumber) {
    checksum = page.uint64(at: PageHeader.checksumOffset)
    lsn = LSN(page.uint64(at: PageHeader.lsnOffset))
    number = page.uint32(at: PageHeader.numberOffset)
    self.slot = slot
    self.kind = kind
    level = page[PageHeader.levelOffset]
    tree = page[PageHeader.treeOffset]
  }

  var check: UInt32 { UInt32(truncatingIfNeeded: checksum) }
}

/// All pages in the slots of a damaged store that their own checksums prove.
///
/// That includes every version of a page, since old versions stay in place until their slot is
/// written again.
struct SlotScan {
  let reader: SlotReader
  /// Sorted by page number, the newest version first.
  private(set) var pages: [SlotPage] = []
  /// Table pages sorted by level and place, the newest version first.
  private(set) var tables: [SlotPage] = []
  /// Slots that are not empty and hold nothing that can be proven.
  private(set) var unreadable: [SlotNumber] = []

  /// The number of slots between two calls of `progress`.
  private static let progressSlotCount = 256

  /// Reads all slots.
  init(
    _ reader: SlotReader, progress: (_ slotCount: Int, _ totalSlotCount: Int) throws -> Void
  ) throws {
    self.reader = reader
    let totalCount = reader.slotCount
    try reader.forEachSlot { slot, page in
      let readCount = Int(slot.rawValue) - 1
      if readCount % Self.progressSlotCount == 0 { try progress(readCount, totalCount) }
      guard let page else {
        unreadable.append(slot)
        return true
      }
      guard page.firstNonzero(at: 0) < page.count else { return true }
      guard let page = reader.proven(page, in: slot),
        let kind = PageKind(rawValue: page[PageHeader.kindOffset]),
        Pager.contentRuleBroken(page, kind) == nil
      else {
        unreadable.append(slot)
        return true
      }
      let found = SlotPage(page, kind, slot: slot)
      if kind == .table { tables.append(found) } else { pages.append(found) }
      return true
    }
    try progress(totalCount, totalCount)
    pages.sort { ($0.number, $1.lsn) < ($1.number, $0.lsn) }
    tables.sort { ($0.level, $0.number, $1.lsn) < ($1.level, $1.number, $0.lsn) }
  }

  /// Returns all versions of a table page, the newest first.
  func tables(level: Int, place: UInt32) -> ArraySlice<SlotPage> {
    let start = tables.firstIndex(inOrder: { (Int($0.level), $0.number) >= (level, place) })
    let end = tables.firstIndex(inOrder: { (Int($0.level), $0.number) > (level, place) })
    return tables[start..<end]
  }
}

extension Array {
  /// Returns the first index whose element meets a condition that all later elements meet too.
  func firstIndex(inOrder condition: (Element) -> Bool) -> Int {
    var low = 0
    var high = count
    while low < high {
      let middle = (low + high) / 2
      if condition(self[middle]) { high = middle } else { low = middle + 1 }
    }
    return low
  }
}
