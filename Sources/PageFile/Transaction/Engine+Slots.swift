/// The use of slots and page numbers according to the page tables, collected once before the first
/// write.
extension Engine {
  /// Returns the slots that any readable meta slot's table refers to, and those among them that the
  /// newest table does not.
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
        // The other slot's table is kept whole only as a courtesy; the newest one must be.
        if index == 0 { throw error }
      }
    }
    return (slots, outdated)
  }

  /// The file size, in slots, up to which every slot is tracked: 4 MiB of bits.
  private static let trackedSlotCountMin = 1 << 24
  /// The number of free slots tracked behind the last used one in a longer file.
  private static let spareSlotCount = 1 << 20
  /// The number of slots that a longer file may have, up to its last used one, per used slot.
  private static let maximumSlotsPerPage = 1024

  /// Returns the number of slots of the data file to track.
  ///
  /// Slots far behind the last used one are not tracked: a file may claim a great length without
  /// taking room on the device.
  ///
  /// - Throws: `limitExceeded` for a long file that uses hardly any slot but one far behind.
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
    let limit = Self.trackedSlotCountMin + usedCount * Self.maximumSlotsPerPage
    guard end <= limit else {
      throw .limitExceeded(
        what: "slots in a data file of \(usedCount) pages", value: end, limit: limit)
    }
    return min(slotCount, end + Self.spareSlotCount)
  }

  /// Checks that every page in the table or the log is below the end of the page numbers.
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

  /// Returns the page numbers below the end that have no entry in the table.
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
