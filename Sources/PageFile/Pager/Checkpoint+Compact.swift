/// Making the data file short: pages in high slots move to free ones further down, so that the end of
/// the file can be given back.
///
/// A page's place is an entry in the page table and nothing else, so a move is a copy and a new
/// version of the table. Nothing but slots changes: not a page, not the checkpoint's LSN.
extension Checkpointer {
  /// Below this share of free slots the file is short enough: a checkpoint needs some anyway.
  private static let freeShareMin = 8
  /// How many pages one step moves: it writes no more than that.
  private static let moveCountMax = 2048

  /// Writes one step's moves, to be published by the caller, who sees to it that no checkpoint runs;
  /// nil when the file is short enough.
  func compact() throws(PageFileError) -> Written? {
    let meta = meta
    let (slotCount, freeCount) = slots.withLock { slots in
      slots.releaseRetired(oldestVersion: pager.registry.oldestTableVersion())
      return (slots.slotCount, slots.freeCount - slots.reservedCount - Self.spareSlotCount)
    }
    guard freeCount > slotCount / Self.freeShareMin else { return nil }
    guard let moves = try? pages(of: meta.table, behind: slotCount - freeCount) else { return nil }
    if moves.isEmpty { return nil }
    return try write(moves, onto: meta.table, pageNumberEnd: meta.roots.pageNumberEnd)
  }

  /// The pages in slots behind a given one; and for table pages there, one entry of each, whose
  /// change to itself makes the table page move.
  private func pages(
    of table: PageTableRoot, behind slotCountMax: Int
  ) throws(PageFileError) -> [Move] {
    var moves: [Move] = []
    var isTablePageHigh = false
    try pager.walkTable(table) { level, _, entry in
      if level == 0 { isTablePageHigh = Int(entry.slot.rawValue) > slotCountMax }
    } visitEntry: { number, entry in
      guard moves.count < Self.moveCountMax else { return }
      let isHigh = Int(entry.slot.rawValue) > slotCountMax
      if isHigh || isTablePageHigh {
        moves.append(Move(number: number, entry: entry, isPageMoved: isHigh))
        isTablePageHigh = false
      }
    }
    return moves
  }

  /// A page whose table entry is written anew, with or without the page itself.
  private struct Move {
    let number: PageNumber
    let entry: TableEntry
    let isPageMoved: Bool
  }

  private func write(
    _ moves: [Move], onto table: PageTableRoot, pageNumberEnd: UInt32
  ) throws(PageFileError) -> Written {
    try writing(onto: table, pageNumberEnd: pageNumberEnd, lsn: meta.checkpointLSN) {
      (writer, changes, allocate) throws(PageFileError) in
      let ticket = pager.cache.enter()
      defer { pager.cache.leave(ticket) }
      for move in moves {
        var entry = move.entry
        // A page that cannot be read stays where it is: whoever reads it is told.
        if move.isPageMoved,
          let image = try? pager.image(
            of: entry, number: move.number.rawValue, level: nil, for: nil)
        {
          let slot = try allocate()
          _ = try writer.write(image.bytes, to: slot)
          entry = TableEntry(slot: slot, check: entry.check)
        }
        changes.append(TableUpdate.Change(index: Int(move.number.rawValue), entry: entry))
      }
    }
  }
}
