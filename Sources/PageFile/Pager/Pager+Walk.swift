/// Walks over a page table, or a part of it.
///
/// A table page is copied while its entries are visited. So a walk keeps only those copies, a
/// handful for a store of any size, and the callbacks may be slow.
extension Pager {
  /// Calls `visitNode` for every table page and `visitEntry` for every page in the table, in the
  /// order of page numbers.
  ///
  /// - Parameter registration: The registration of a snapshot that may expire meanwhile; nil for a
  ///   table that cannot expire.
  @inline(never)
  func walkTable(
    _ table: PageTableRoot, for registration: SnapshotRegistry.Registration? = nil,
    visitNode: (_ level: Int, _ place: Int, TableEntry) throws(PageFileError) -> Void,
    visitEntry: (PageNumber, TableEntry) throws(PageFileError) -> Void
  ) throws(PageFileError) {
    try walkTable(table, from: .none, for: registration, visitNode: visitNode) {
      (number, entry) throws(PageFileError) in
      try visitEntry(number, entry)
      return true
    }
  }

  /// Walks the table from a page number on, until `visitEntry` returns false.
  ///
  /// `visitNode` is called for the table pages on the way to that number and for those after it.
  @inline(never)
  func walkTable(
    _ table: PageTableRoot, from first: PageNumber,
    for registration: SnapshotRegistry.Registration?,
    visitNode: (_ level: Int, _ place: Int, TableEntry) throws(PageFileError) -> Void,
    visitEntry: (PageNumber, TableEntry) throws(PageFileError) -> Bool
  ) throws(PageFileError) {
    let bracket = Bracket(cache, registration)
    _ = try walkTable(
      table.entry, level: table.height - 1, place: 0, from: first, bracket, visitNode: visitNode,
      visitEntry: visitEntry)
  }

  /// Walks one table page and those below it; returns false if the walk is to end.
  private func walkTable(
    _ entry: TableEntry, level: Int, place: Int, from first: PageNumber, _ bracket: Bracket,
    visitNode: (_ level: Int, _ place: Int, TableEntry) throws(PageFileError) -> Void,
    visitEntry: (PageNumber, TableEntry) throws(PageFileError) -> Bool
  ) throws(PageFileError) -> Bool {
    guard level >= 0, !entry.isNone else { return true }
    try visitNode(level, place, entry)
    guard let number = UInt32(exactly: place) else { return true }
    var copy = ByteBuffer(capacity: contentByteCount)
    try bracket.within { () throws(PageFileError) in
      copy.append(try image(of: entry, number: number, level: level, bracket).bytes)
    }
    for index in firstIndex(onWayTo: first, level: level, place: place)..<entryCount {
      let child = TableEntry(rawValue: copy.bytes.uint64(at: TablePage.entryOffset(index)))
      if child.isNone { continue }
      let childPlace = place * entryCount + index
      if level > 0 {
        let goesOn = try walkTable(
          child, level: level - 1, place: childPlace, from: first, bracket, visitNode: visitNode,
          visitEntry: visitEntry)
        if !goesOn { return false }
      } else if let number = UInt32(exactly: childPlace) {
        guard try visitEntry(PageNumber(number), child) else { return false }
      }
    }
    return true
  }

  /// Returns the first entry of a table page that leads to a page number or to a later one.
  private func firstIndex(onWayTo number: PageNumber, level: Int, place: Int) -> Int {
    var childPlace = Int(number.rawValue)
    for _ in 0..<level { childPlace /= entryCount }
    let (first, isFar) = place.multipliedReportingOverflow(by: entryCount)
    return isFar ? 0 : min(max(0, childPlace - first), entryCount)
  }
}
