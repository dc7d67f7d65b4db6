/// Shrinking the data file: pages in high slots move to lower free slots, so that the end of the
/// file can be given back.
///
/// A page's place is recorded only in its page table entry, so a move is a copy and a new version
/// of the table. Only slots change: neither the pages nor the checkpoint LSN do.
extension Checkpointer {
  /// The file is short enough if less than one slot in this many is free: a checkpoint needs some
  /// free slots anyway.
  private static let freeShareMin = 8
  /// The limit of pages that one step moves, which bounds its writes.
  private static let maximumMoveCount = 2048
  /// The limit of page bytes that one of many steps moves.
  static let maximumMovedByteCount = 2 << 20
  /// Retired slots are ignored up to this count.
  private static let retiredCountMin = 512

  /// Writes the moves of one step, for the caller to publish; the caller also ensures that no
  /// checkpoint runs.
  ///
  /// Returns nil if the file is short enough, or if open snapshots keep it from shrinking now.
  ///
  /// - Parameters:
  ///   - isThorough: If true, continues as long as a slot can be saved, and a page that cannot be
  ///     read is an error. Otherwise such a page stays in place.
  ///   - place: The page number at which to begin the search, updated for the next step. So all
  ///     steps together walk the table once or twice, instead of once each.
  func compact(
    isThorough: Bool = false, from place: inout PageNumber
  ) throws(PageFileError) -> Written? {
    let meta = meta
    let (slotCount, freeCount, retiredCount) = slots.withLock { slots in
      slots.releaseRetired(oldestVersion: pager.registry.oldestTableVersion())
      return (
        slots.slotCount, slots.freeCount - slots.reservedCount - Self.spareSlotCount,
        slots.retiredCount
      )
    }
    guard freeCount > (isThorough ? 0 : slotCount / Self.freeShareMin) else { return nil }
    // At twice this count a checkpoint would expire the snapshots that still need these slots.
    if isThorough && retiredCount > max(Self.retiredCountMin, slotCount / 8) { return nil }
    let maximumMoveCount =
      isThorough ? Self.maximumMovedByteCount / pager.pageByteCount : Self.maximumMoveCount
    var found: (moves: [Move], next: PageNumber)
    do throws(PageFileError) {
      found = try pages(
        of: meta.table, behind: slotCount - freeCount, from: place, maximumMoveCount)
      if found.moves.isEmpty && place != .none {
        found = try pages(
          of: meta.table, behind: slotCount - freeCount, from: .none, maximumMoveCount)
      }
    } catch {
      if isThorough { throw error }
      return nil
    }
    if found.moves.isEmpty { return nil }
    place = found.next
    return try write(
      found.moves, onto: meta.table, pageNumberEnd: meta.roots.pageNumberEnd, isThorough: isThorough
    )
  }

  /// Returns the pages in slots after a given one, and the page number at which to continue the
  /// search.
  ///
  /// For each table page in such a slot the result has one entry below it; rewriting that entry
  /// unchanged makes the table page move. After the end, the search continues at the beginning.
  private func pages(
    of table: PageTableRoot, behind maximumSlotCount: Int, from first: PageNumber,
    _ maximumMoveCount: Int
  ) throws(PageFileError) -> (moves: [Move], next: PageNumber) {
    var moves: [Move] = []
    var next = PageNumber.none
    var isTableHigh = false
    try pager.walkTable(table, from: first, for: nil) { _, _, entry in
      if Int(entry.slot.rawValue) > maximumSlotCount { isTableHigh = true }
    } visitEntry: { number, entry in
      let isHigh = Int(entry.slot.rawValue) > maximumSlotCount
      if isHigh || isTableHigh {
        moves.append(Move(number: number, entry: entry, isPageMoved: isHigh))
        isTableHigh = false
      }
      if moves.count < maximumMoveCount { return true }
      next = number
      return false
    }
    return (moves, next)
  }

  /// A page whose table entry is rewritten, with or without the page itself.
  private struct Move {
    let number: PageNumber
    let entry: TableEntry
    let isPageMoved: Bool
  }

  private func write(
    _ moves: [Move], onto table: PageTableRoot, pageNumberEnd: UInt32, isThorough: Bool
  ) throws(PageFileError) -> Written {
    try writing(onto: table, pageNumberEnd: pageNumberEnd, lsn: meta.checkpointLSN) {
      (writer, changes, allocate) throws(PageFileError) in
      let bracket = Bracket(pager.cache)
      for move in moves {
        var entry = move.entry
        bracket.enter()
        defer { bracket.leave() }
        // A page that cannot be read stays in place; its readers get the error.
        if move.isPageMoved, let image = try image(of: move, bracket, isNeeded: isThorough) {
          let slot = try allocate()
          _ = try writer.write(image.bytes, to: slot, keeping: entry.check)
          entry = TableEntry(slot: slot, check: entry.check)
        }
        changes.append(TableUpdate.Change(index: Int(move.number.rawValue), entry: entry))
      }
    }
  }

  private func image(
    of move: Move, _ bracket: Bracket, isNeeded: Bool
  ) throws(PageFileError) -> PageImage? {
    do throws(PageFileError) {
      return try pager.image(of: move.entry, number: move.number.rawValue, level: nil, bracket)
    } catch {
      if isNeeded { throw error }
      return nil
    }
  }
}
