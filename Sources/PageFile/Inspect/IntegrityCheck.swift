/// Checks a whole store and reports every finding.
///
/// Each page must be free or reachable exactly once, proven from the root down, of the right kind,
/// and have its keys within their bounds.
extension Database {
  /// Checks the last commit page by page and calls `report` for every fault.
  ///
  /// Reads every page of the store once; writers and readers continue meanwhile. Takes memory
  /// within the budget, plus some 50 bytes for each page of the store.
  ///
  /// - Throws: Only errors that prevent the check from continuing: `closed`, `suspended`,
  ///   `snapshotExpired`, `deviceLocked`. Findings reported before remain true of the moment that
  ///   was read.
  public func check(_ report: (CheckFinding) -> Void) throws(PageFileError) {
    let transaction = try beginRead()
    engine.checkMetaSlots(report)
    engine.checkSealCount(report)
    let check = IntegrityCheck(transaction.source)
    try check.run(report)
  }
}

extension Engine {
  /// Reports each meta slot that was written before and cannot be read.
  ///
  /// Checks the slots as they were when the store was opened or last refreshed. Nothing is lost in
  /// such a store, but only one slot is left. The first write after an opening writes both.
  func checkMetaSlots(_ report: (CheckFinding) -> Void) {
    let slots = state.withLock { state in
      state.writing == nil ? state.recovered.fingerprint.metaSlots : []
    }
    for (index, bytes) in slots.enumerated() where bytes.contains(where: { $0 != 0 }) {
      if case .valid = Bytes.with(bytes, { MetaSlot.read($0, index: index, pager.keys) }) {
        continue
      }
      report(CheckFinding("meta slot \(index) cannot be read"))
    }
  }
}

extension Engine {
  /// Reports a data key that has made so many seals that nonces may soon repeat.
  func checkSealCount(_ report: (CheckFinding) -> Void) {
    guard let count = pager.keys?.sealCount, count >= StoreKeys.advisedSealCount else { return }
    report(CheckFinding("data key: used for \(count) seals; a copy of the store has a new one"))
  }
}

/// One run of the check over one snapshot.
struct IntegrityCheck {
  private let source: PageSource
  private let snapshot: Snapshot
  private let pager: Pager

  init(_ source: PageSource) {
    self.source = source
    snapshot = source.snapshot
    pager = source.pager
  }

  func run(_ report: (CheckFinding) -> Void) throws(PageFileError) {
    var pages = try pagesInUse(report)
    for index in 0..<Roots.maximumCount {
      let tree = TreeNumber(index)
      guard snapshot.roots[tree] != .none else { continue }
      try source.enter()
      defer { source.leave() }
      try BTree(source, tree).check(
        visit: { number in
          switch pages.removeValue(forKey: number) {
          case .inUse?: pages[number] = .reached
          case .reached?:
            pages[number] = .reached
            report(CheckFinding(page: number, "reached a second time, from tree \(index)"))
          case nil: report(CheckFinding(page: number, "reached from tree \(index) but not in use"))
          }
        },
        report: { number, sentence in
          report(CheckFinding(page: number, "in tree \(index): \(sentence)"))
        })
    }
    for (number, state) in Array(pages).inOrder(of: { UInt64($0.key.rawValue) })
    where state == .inUse {
      report(CheckFinding(page: number, "in use but not reached from any tree"))
    }
    if snapshot.isExpired { throw .snapshotExpired }
  }

  private enum PageState {
    case inUse
    case reached
  }

  /// Returns every page that the table and the log hold, reporting slots used by more than one
  /// page.
  private func pagesInUse(
    _ report: (CheckFinding) -> Void
  ) throws(PageFileError) -> [PageNumber: PageState] {
    var pages: [PageNumber: PageState] = [:]
    var users: [SlotNumber: String] = [:]
    func use(_ slot: SlotNumber, by user: String) {
      if let other = users.updateValue(user, forKey: slot) {
        report(CheckFinding("slot \(slot): used by \(other) and by \(user)"))
      }
    }
    do throws(PageFileError) {
      try pager.walkTable(snapshot.table, for: snapshot.registration) { level, place, entry in
        use(entry.slot, by: "table page \(place) of level \(level)")
      } visitEntry: { number, entry in
        use(entry.slot, by: "page \(number)")
        pages[number] = .inUse
      }
    } catch {
      if error.endsReading { throw error }
      report(CheckFinding("page table: cannot be walked (\(error))"))
    }
    for map in [snapshot.map(1 - snapshot.newest), snapshot.map(snapshot.newest)] {
      map.forEach { number, image in pages[number] = image == nil ? nil : .inUse }
    }
    for number in pages.keys where number.rawValue >= snapshot.roots.pageNumberEnd {
      report(CheckFinding(page: number, "not below the end of the page numbers"))
    }
    return pages
  }
}
