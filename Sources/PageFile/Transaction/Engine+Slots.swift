/// What the page tables say of slots and page numbers: asked once, before the first write.
extension Engine {
  /// The slots that a readable meta slot's table refers to, and those of them that the newest one
  /// does not.
  func usedSlots(
    _ tables: [PageTableRoot]
  ) throws(PageFileError) -> (used: Slots, outdated: [SlotNumber]) {
    let byteCount = try pager.dataFile.byteCount()
    let slotCount = max(0, byteCount - Pager.slotsOffset) / pager.pageByteCount
    guard slotCount < Int(UInt32.max) else {
      throw .limitExceeded(
        what: "slots in a data file", value: slotCount, limit: Int(UInt32.max) - 1)
    }
    var slots = Slots(slotCount: try trackedSlotCount(of: slotCount, tables), ofFile: slotCount)
    var outdated: [SlotNumber] = []
    for (index, table) in tables.enumerated() {
      if index > 0 && Defect.olderTableIgnored.isPlanted { continue }
      let mark = { (entry: TableEntry) in
        if slots.markUsed(entry.slot) && index > 0 { outdated.append(entry.slot) }
      }
      do throws(PageFileError) {
        try pager.walkTable(table) { _, _, entry in
          mark(entry)
        } visitEntry: { _, entry in
          mark(entry)
        }
      } catch {
        // The other slot's table is only kept whole as a courtesy; the newest has to be.
        if index == 0 { throw error }
      }
    }
    return (slots, outdated)
  }

  /// Slots of a file up to which all are kept track of: 4 MiB of bits.
  private static let trackedSlotCountMin = 1 << 24
  /// Free slots behind the last one in use that are kept track of in a longer file.
  private static let spareSlotCount = 1 << 20
  /// How many slots a longer file may have up to the last one in use for each that is.
  private static let slotsPerPageMax = 1024

  /// How many slots of the data file to keep track of: not those far behind the last one in use, as a
  /// file may be said to be long that takes no room on the device.
  /// - Throws: `limitExceeded` for a long file in which hardly a slot is used, but one far behind.
  private func trackedSlotCount(
    of slotCount: Int, _ tables: [PageTableRoot]
  ) throws(PageFileError) -> Int {
    guard slotCount > Self.trackedSlotCountMin, let newest = tables.first else { return slotCount }
    var (end, usedCount) = (0, 0)
    let note = { (entry: TableEntry) in
      end = max(end, Int(entry.slot.rawValue))
      usedCount += 1
    }
    for table in tables {
      do throws(PageFileError) {
        try pager.walkTable(table) { _, _, entry in
          note(entry)
        } visitEntry: { _, entry in
          note(entry)
        }
      } catch {
        if table == newest { throw error }
      }
    }
    let limit = Self.trackedSlotCountMin + usedCount * Self.slotsPerPageMax
    guard end <= limit else {
      throw .limitExceeded(
        what: "slots in a data file of \(usedCount) pages", value: end, limit: limit)
    }
    return min(slotCount, end + Self.spareSlotCount)
  }

  /// Makes sure that every page in the table or the log lies below the end of the page numbers.
  func checkNumbers() throws(PageFileError) {
    let snapshot = published.current
    let check = { (number: PageNumber) throws(PageFileError) in
      guard number.rawValue < snapshot.roots.pageNumberEnd else {
        throw .corruptPage(number, reason: "not below the end of the page numbers")
      }
    }
    try pager.walkTable(snapshot.table) { _, _, _ in
    } visitEntry: { (number, _) throws(PageFileError) in
      try check(number)
    }
    for map in [snapshot.map(0), snapshot.map(1)] {
      try map.forEach { (number, _) throws(PageFileError) in try check(number) }
    }
  }

  /// The page numbers below the end that the table has no entry for.
  func freeNumbers() throws(PageFileError) -> [Range<UInt32>] {
    let snapshot = published.current
    var free: [Range<UInt32>] = []
    var next: UInt32 = 1
    try pager.walkTable(snapshot.table) { _, _, _ in
    } visitEntry: { number, _ in
      if next < number.rawValue { free.append(next..<number.rawValue) }
      next = number.rawValue + 1
    }
    if next < snapshot.roots.pageNumberEnd { free.append(next..<snapshot.roots.pageNumberEnd) }
    return free
  }
}
