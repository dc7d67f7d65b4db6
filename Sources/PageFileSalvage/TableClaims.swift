import PageFile

/// The remains of the page table, and their claims about each page number.
///
/// A moved page keeps its checksum, so the target of a table entry is identified by the check in
/// the entry, no matter which slot it lies in.
///
///  1. Claims reached from a meta slot are *exact*: only the version they name is the page, and a
///     number without an entry is free, whatever the slots hold under that number.
///  2. Where that walk is broken, the newest version in any slot of a table page of the lowest
///     level describes the state at its LSN. Of the versions up to that LSN only the one it names
///     can be the page; any version newer than the table page takes precedence.
///  3. Without even that, nothing is known about a number.
struct TableClaims {
  enum Claim {
    case unknown
    case free
    case version(TableEntry)
  }

  private struct Place {
    let page: SlotPage
    let isExact: Bool
  }

  private let scan: SlotScan
  private let entryCount: Int
  /// True if a meta slot's root determines which places exist.
  private let hasRoot: Bool
  /// The table pages of the lowest level, by their places.
  private var places: [UInt32: Place] = [:]
  /// Places of the lowest level below a lost table page.
  private var lostPlaces: [Range<UInt64>] = []
  /// Table pages that the walk could not find.
  private(set) var lost: [LostPage] = []
  private var latest: (place: UInt32, page: SalvagedPage)?

  /// True if everything that the table said is known.
  var isExact: Bool { hasRoot && lostPlaces.isEmpty }

  /// - Parameter root: The root named by the newest meta slot, if one can be trusted.
  init(_ scan: SlotScan, root: PageTableRoot?) {
    self.scan = scan
    entryCount = TablePage.entryCount(pageByteCount: scan.reader.identity.contentByteCount)
    hasRoot = root != nil
    if let root {
      walk(root.entry, level: root.height - 1, place: 0, checksum: root.checksum)
    }
    for page in scan.tables where page.level == 0 && places[page.number] == nil {
      // The first version of each place is the newest.
      if isUnknown(page.number) { places[page.number] = Place(page: page, isExact: false) }
    }
  }

  /// Collects the table pages of the lowest level below an entry, and the losses on the way.
  private mutating func walk(
    _ entry: TableEntry, level: Int, place: UInt64, checksum: UInt64? = nil
  ) {
    guard level >= 0, !entry.isNone, let number = UInt32(exactly: place) else { return }
    let found = scan.tables(level: level, place: number).first {
      $0.check == entry.check && (checksum == nil || $0.checksum == checksum)
    }
    guard let found, let page = scan.reader.read(found) else {
      lost.append(
        LostPage(
          number: nil, slot: entry.slot,
          role: "page \(number) of level \(level) of the page table",
          reason: scan.reader.reason(entry.slot, isNot: number)))
      var span: UInt64 = 1
      for _ in 0..<level { span *= UInt64(entryCount) }
      lostPlaces.append(place * span..<(place + 1) * span)
      return
    }
    guard level > 0 else { return places[number] = Place(page: found, isExact: true) }
    for index in 0..<entryCount {
      walk(
        Self.entry(index, of: page), level: level - 1,
        place: place * UInt64(entryCount) + UInt64(index))
    }
  }

  private static func entry(_ index: Int, of page: SalvagedPage) -> TableEntry {
    TableEntry(rawValue: page.bytes.uint64(at: TablePage.entryOffset(index)))
  }

  private func isUnknown(_ place: UInt32) -> Bool {
    !hasRoot || lostPlaces.contains { $0.contains(UInt64(place)) }
  }

  /// Returns the claim about a number, the LSN that it describes, and true if it is exact.
  mutating func claim(of number: UInt32) -> (claim: Claim, lsn: LSN, isExact: Bool) {
    let place = number / UInt32(entryCount)
    guard let table = places[place] else {
      return (isUnknown(place) ? .unknown : .free, .zero, !isUnknown(place))
    }
    if latest?.place != place { latest = scan.reader.read(table.page).map { (place, $0) } }
    guard let page = latest?.page else { return (.unknown, .zero, false) }
    let entry = Self.entry(Int(number) - Int(place) * entryCount, of: page)
    return (entry.isNone ? .free : .version(entry), table.page.lsn, table.isExact)
  }

  /// Calls `body` for every number that has an entry.
  mutating func forEachNumber(_ body: (UInt32, TableEntry) -> Void) {
    for place in places.keys.sorted() {
      for index in 0..<entryCount {
        let number = UInt64(place) * UInt64(entryCount) + UInt64(index)
        guard let number = UInt32(exactly: number), number > 0 else { continue }
        if case .version(let entry) = claim(of: number).claim { body(number, entry) }
      }
    }
  }
}
