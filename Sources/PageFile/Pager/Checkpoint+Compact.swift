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
  /// How many bytes of pages a step moves that is one of many.
  static let movedByteCountMax = 2 << 20
  /// From how many slots on that wait for snapshots to end their number counts.
  private static let retiredCountMin = 512

  /// Writes one step's moves, to be published by the caller, who sees to it that no checkpoint runs;
  /// nil when the file is short enough, or cannot be made shorter now because of open snapshots.
  ///
  /// - Parameters:
  ///   - isThorough: Whether to go on for as long as a slot can be saved. Then a page that cannot be read
  ///     is an error, and else it stays where it is.
  ///   - place: The page number from which on pages are looked for, and that for the next step: so all
  ///     steps together walk the table once or twice, and not once each.
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
    // Half as many again, and a checkpoint would expire the snapshots that still need these.
    if isThorough && retiredCount > max(Self.retiredCountMin, slotCount / 8) { return nil }
    let moveCountMax =
      isThorough ? Self.movedByteCountMax / pager.pageByteCount : Self.moveCountMax
    var found: (moves: [Move], next: PageNumber)
    do throws(PageFileError) {
      found = try pages(of: meta.table, behind: slotCount - freeCount, from: place, moveCountMax)
      if found.moves.isEmpty && place != .none {
        found = try pages(of: meta.table, behind: slotCount - freeCount, from: .none, moveCountMax)
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

  /// The pages in slots behind a given one; and for table pages there, one entry below each, whose
  /// change to itself makes the table page move.
  ///
  /// And where to go on looking: at the beginning again when the end was reached.
  private func pages(
    of table: PageTableRoot, behind slotCountMax: Int, from first: PageNumber, _ moveCountMax: Int
  ) throws(PageFileError) -> (moves: [Move], next: PageNumber) {
    var moves: [Move] = []
    var next = PageNumber.none
    var isTableHigh = false
    try pager.walkTable(table, from: first, for: nil) { _, _, entry in
      if Int(entry.slot.rawValue) > slotCountMax { isTableHigh = true }
    } visitEntry: { number, entry in
      let isHigh = Int(entry.slot.rawValue) > slotCountMax
      if isHigh || isTableHigh {
        moves.append(Move(number: number, entry: entry, isPageMoved: isHigh))
        isTableHigh = false
      }
      if moves.count < moveCountMax { return true }
      next = number
      return false
    }
    return (moves, next)
  }

  /// A page whose table entry is written anew, with or without the page itself.
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
        // A page that cannot be read stays where it is: whoever reads it is told.
        if move.isPageMoved, let image = try image(of: move, bracket, isNeeded: isThorough) {
          let slot = try allocate()
          _ = try writer.write(image.bytes, to: slot)
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
