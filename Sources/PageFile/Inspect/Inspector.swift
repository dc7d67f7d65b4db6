/// Inspects a store's files without changing them, even while their owner has them open.
///
/// Provides everything that `msgdump` shows of pages and the log. All of it is from the moment at
/// which the files were opened: two pages of different moments may contradict each other in a sound
/// store. Once the owner has overwritten that moment, reading a page throws `snapshotExpired`.
package final class Inspector {
  let engine: Engine
  private let moment: Snapshot

  /// Opens the files for reading.
  /// - Parameter encryption: The source of the key of an encrypted store.
  package init(path: String, encryption: Encryption? = nil) throws(PageFileError) {
    let (directory, name) = PosixDirectory.resolve(path)
    var options = DatabaseOptions()
    options.access = .readOnly
    options.encryption = encryption
    engine = try Engine.open(PosixDirectory(path: directory), name, options)
    moment = engine.published.current
  }

  deinit {
    try? engine.end(.closed)
  }

  /// Returns a report on the store's files as a whole.
  package func file() throws(PageFileError) -> FileReport {
    let source = beginRead()
    var kinds: [String: Int] = [:]
    var usedSlotCount = 0
    var pageCount = 0
    try engine.pager.walkTable(
      source.snapshot.table, for: source.snapshot.registration
    ) { _, _, _ in
      usedSlotCount += 1
      kinds["table", default: 0] += 1
    } visitEntry: { _, _ in
      usedSlotCount += 1
    }
    let trees = try treesOfPages(source)
    for number in try numbers(source) {
      pageCount += 1
      kinds[try reportOrDamage(number, source, trees).kind, default: 0] += 1
    }
    var report = try facts(source)
    report.freeSlotCount = report.slotCount - usedSlotCount
    report.pageCount = pageCount
    report.trees = try treeReports(source)
    report.pagesByKind = kinds.keys.sorted().map { (kind: $0, count: kinds[$0] ?? 0) }
    return report
  }

  /// Returns what the files tell without their pages; the counts of pages are 0.
  func facts(_ source: PageSource) throws(PageFileError) -> FileReport {
    let recovered = engine.state.withLock { $0.recovered }
    let meta = recovered.meta
    let byteCount = try engine.pager.dataFile.byteCount()
    var walByteCounts: [Int] = []
    for file in engine.walFiles.withLock({ $0 }) {
      if let file { walByteCounts.append(try file.byteCount()) } else { walByteCounts.append(0) }
    }
    return FileReport(
      formatVersion: MetaSlot.formatVersion, pageByteCount: meta.pageByteCount,
      storeID: "\(meta.storeID)", generation: meta.generation.counter,
      checkpointLSN: meta.checkpointLSN, lastLSN: source.snapshot.lsn,
      isClean: recovered.isClean,
      slotCount: max(0, byteCount - Pager.slotsOffset) / engine.pager.pageByteCount,
      freeSlotCount: 0, pageCount: 0, dataFileByteCount: byteCount, walByteCounts: walByteCounts,
      trees: [], pagesByKind: [], words: (0..<Words.count).map { source.word($0) },
      key: engine.pager.keys.map { keys in
        FileReport.Key(number: keys.record.number, sealCount: keys.sealCount)
      })
  }

  /// Calls `body` for every page in use, in the order of page numbers.
  package func pages(_ body: (PageReport) -> Void) throws(PageFileError) {
    let source = beginRead()
    let trees = try treesOfPages(source)
    for number in try numbers(source) { body(try reportOrDamage(number, source, trees)) }
  }

  /// Returns the report on a page, or a report that it is unreadable if its bytes prove damage.
  private func reportOrDamage(
    _ number: PageNumber, _ source: PageSource, _ trees: [PageNumber: Int]
  ) throws(PageFileError) -> PageReport {
    do throws(PageFileError) {
      return try report(number, source, trees)
    } catch {
      if error.endsReading { throw error }
      return PageReport(number: number, kind: "unreadable")
    }
  }

  /// True if a page of this number is in use.
  package func hasPage(_ number: PageNumber) throws(PageFileError) -> Bool {
    try numbers(beginRead()).contains(number)
  }

  /// Returns the report on one page and its cells.
  package func page(_ number: PageNumber) throws(PageFileError) -> (PageReport, [CellReport]) {
    let source = beginRead()
    let report = try report(number, source, try treesOfPages(source))
    try source.enter()
    defer { source.leave() }
    let bytes = try source.page(number)
    guard report.kind == "leaf" || report.kind == "branch" else { return (report, []) }
    return (report, CellReport.cells(of: TreePage(bytes)))
  }

  /// Returns the page and the index of the cell with a key, or nil if no cell has it.
  package func place(
    of key: [UInt8], tree: Int
  ) throws(PageFileError) -> (page: PageNumber, index: Int)? {
    let source = beginRead()
    try source.enter()
    defer { source.leave() }
    var number = source.root(of: TreeNumber(tree))
    for _ in 0..<TreePage.maximumDepth where number != .none {
      let page = TreePage(try source.page(number))
      let cells = CellReport.cells(of: page)
      guard
        let cell = cells.last(where: { $0.key == key || $0.key.lexicographicallyPrecedes(key) })
      else { return nil }
      guard let child = cell.child else { return cell.key == key ? (number, cell.index) : nil }
      number = child
    }
    return nil
  }

  /// Returns the commits of both WAL files, the earlier file first, and the reason why each scan
  /// stopped.
  package func wal() throws(PageFileError) -> WALReport {
    let storeID = engine.pager.storeID
    var found: [(name: String, file: any StorageFile, header: WALHeader)] = []
    var report = WALReport()
    for (index, file) in engine.walFiles.withLock({ $0 }).enumerated() {
      let name = engine.walFileNames[index]
      guard let file else {
        report.stops.append((file: name, reason: "file is missing"))
        continue
      }
      var bytes = ByteBuffer(capacity: WALHeader.byteCount)
      bytes.append(zeros: WALHeader.byteCount)
      _ = try file.read(into: bytes.mutableBytes, at: 0)
      guard let header = WALHeader.read(bytes.bytes, engine.pager.keys) else {
        report.stops.append((file: name, reason: "header cannot be read"))
        continue
      }
      if header.storeID != storeID {
        report.stops.append((file: name, reason: "belongs to another store"))
      } else if header.isLocked {
        report.stops.append((file: name, reason: "header cannot be read"))
      } else if header.isEmpty {
        report.stops.append((file: name, reason: "marked as empty"))
      } else {
        found.append((name, file, header))
      }
    }
    for (name, file, header) in found.inOrder(of: { $0.header.generation.counter }) {
      try report.addCommits(of: file, name, header, engine.pager.keys)
    }
    return report
  }

  /// Runs the integrity check and reports every finding.
  package func check(_ report: (CheckFinding) -> Void) throws(PageFileError) {
    // The check uses a snapshot of its own, so that it sees the newest moment.
    let source = PageSource(pager: engine.pager, snapshot: try engine.snapshotToRead())
    engine.checkMetaSlots(report)
    engine.checkSealCount(report)
    try IntegrityCheck(source).run(report)
  }

  func beginRead() -> PageSource {
    PageSource(pager: engine.pager, snapshot: moment)
  }

  /// Returns all pages in use: the table's pages with the log's additions and removals applied.
  private func numbers(_ source: PageSource) throws(PageFileError) -> [PageNumber] {
    var numbers: Set<PageNumber> = []
    let snapshot = source.snapshot
    try engine.pager.walkTable(snapshot.table, for: snapshot.registration) { _, _, _ in
    } visitEntry: { number, _ in
      numbers.insert(number)
    }
    for map in [snapshot.map(1 - snapshot.newest), snapshot.map(snapshot.newest)] {
      map.forEach { number, image in
        if image == nil { numbers.remove(number) } else { numbers.insert(number) }
      }
    }
    return Array(numbers).inOrder { UInt64($0.rawValue) }
  }

  /// Returns the tree that each page belongs to.
  private func treesOfPages(_ source: PageSource) throws(PageFileError) -> [PageNumber: Int] {
    var trees: [PageNumber: Int] = [:]
    try source.enter()
    defer { source.leave() }
    for index in 0..<Roots.maximumCount where source.root(of: TreeNumber(index)) != .none {
      try BTree(source, TreeNumber(index)).check(
        visit: { trees[$0] = index }, report: { _, _ in })
    }
    return trees
  }

  private func treeReports(_ source: PageSource) throws(PageFileError) -> [TreeReport] {
    var reports: [TreeReport] = []
    try source.enter()
    defer { source.leave() }
    for index in 0..<Roots.maximumCount where source.root(of: TreeNumber(index)) != .none {
      let root = source.root(of: TreeNumber(index))
      var report = TreeReport(number: index, root: root)
      try BTree(source, TreeNumber(index)).check(
        visit: { number in
          report.pageCount += 1
          guard let bytes = try? source.page(number),
            bytes[PageHeader.kindOffset] == PageKind.leaf.rawValue
          else { return }
          report.cellCount += Int(bytes.uint16(at: PageHeader.cellCountOffset))
        }, report: { _, _ in })
      report.depth = (try? source.page(root)).map { Int($0[PageHeader.levelOffset]) + 1 } ?? 0
      reports.append(report)
    }
    return reports
  }

  @inline(never)
  private func report(
    _ number: PageNumber, _ source: PageSource, _ trees: [PageNumber: Int]
  ) throws(PageFileError) -> PageReport {
    try source.enter()
    defer { source.leave() }
    let bytes = try source.page(number)
    let entry = try source.tableEntry(of: number)
    return PageReport(number: number, slot: entry.slot.rawValue, tree: trees[number], bytes)
  }
}
