/// What a reader sees: one moment of the store, as a value.
///
///  1. Everything a snapshot refers to stays as it is while the snapshot lives: images because its
///     maps keep them, slots because it is registered.
///  2. Unless it has expired; then its slots may hold anything, and whoever reads through it must
///     ask `isExpired` after the read and before the use.
final class Snapshot: Sendable {
  let lsn: LSN
  let roots: Roots
  let table: PageTableRoot
  /// One map per WAL file: what is committed there and not in the data file.
  let maps: (PageMap, PageMap)
  /// Which of the two WAL files is the later one, 0 or 1; its map is asked first.
  let newest: Int
  private let registry: SnapshotRegistry
  let registration: SnapshotRegistry.Registration

  /// Its maps are its own until it has a successor, see `SnapshotRegistry.supersede`.
  init(
    lsn: LSN, roots: Roots, table: PageTableRoot, tableVersion: UInt64, maps: (PageMap, PageMap),
    newest: Int, registry: SnapshotRegistry
  ) {
    self.lsn = lsn
    self.roots = roots
    self.table = table
    self.maps = maps
    self.newest = newest
    self.registry = registry
    registration = registry.register(tableVersion: tableVersion, lsn: lsn)
  }

  deinit {
    registry.remove(registration) {
      var remains = MapRemains()
      collectMaps(to: &remains)
      return remains
    }
  }

  /// Makes a moment that has expired, to stand in the place of one that is not needed any more.
  static func makeOver() -> Snapshot {
    let over = Snapshot(
      lsn: .zero, roots: Roots(), table: .empty, tableVersion: 0,
      maps: (PageMap(), PageMap()), newest: 0, registry: SnapshotRegistry())
    over.registration.expire()
    return over
  }

  /// Hands over all that its maps have.
  func collectMaps(to remains: inout MapRemains) {
    maps.0.collect(to: &remains)
    maps.1.collect(to: &remains)
  }

  var isExpired: Bool { registration.isExpired }
  var tableVersion: UInt64 { registration.tableVersion }

  /// What the maps say of a page, the later one first.
  ///
  /// Never inlined: counting bits needs constants, and in a function that throws Swift 6.3 for x86-64
  /// kept one of them in the register that says whether something was thrown, and returned with it.
  @inline(never)
  func entry(of number: PageNumber) -> PageMap.Entry {
    let (later, earlier) = newest == 0 ? maps : (maps.1, maps.0)
    let entry = later[number]
    if case .absent = entry { return earlier[number] }
    return entry
  }

  /// Pages that only the log has.
  var loggedPageCount: Int { maps.0.count + maps.1.count }

  func map(_ index: Int) -> PageMap { index == 0 ? maps.0 : maps.1 }
}
