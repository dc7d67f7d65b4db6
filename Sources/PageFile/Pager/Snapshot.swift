/// The immutable state of the store that a reader sees: one moment, as a value.
///
///  1. Everything a snapshot refers to is unchanged while the snapshot lives: images because its
///     maps keep them, slots because it is registered.
///  2. An expired snapshot is the exception: its slots may hold anything. A reader must check
///     `isExpired` after each read and before using the result.
final class Snapshot: Sendable {
  let lsn: LSN
  let roots: Roots
  let table: PageTableRoot
  /// One map per WAL file: the pages committed there and not yet in the data file.
  let maps: (PageMap, PageMap)
  /// The index of the later WAL file, 0 or 1; its map is searched first.
  let newest: Int
  private let registry: SnapshotRegistry
  let registration: SnapshotRegistry.Registration

  /// Creates and registers a snapshot.
  ///
  /// It owns its maps until it has a successor; see `SnapshotRegistry.supersede`.
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

  /// Returns an expired snapshot, as a replacement for one that is no longer needed.
  static func makeOver() -> Snapshot {
    let over = Snapshot(
      lsn: .zero, roots: Roots(), table: .empty, tableVersion: 0,
      maps: (PageMap(), PageMap()), newest: 0, registry: SnapshotRegistry())
    over.registration.expire()
    return over
  }

  /// Collects all parts of its maps.
  func collectMaps(to remains: inout MapRemains) {
    maps.0.collect(to: &remains)
    maps.1.collect(to: &remains)
  }

  var isExpired: Bool { registration.isExpired }
  var tableVersion: UInt64 { registration.tableVersion }

  /// Returns a page's entry in the maps, searching the later map first.
  ///
  /// Never inlined: counting bits needs constants. In a throwing function Swift 6.3 for x86-64 kept
  /// one of them in the register that signals a thrown error, and returned with it.
  @inline(never)
  func entry(of number: PageNumber) -> PageMap.Entry {
    let (later, earlier) = newest == 0 ? maps : (maps.1, maps.0)
    let entry = later[number]
    if case .absent = entry { return earlier[number] }
    return entry
  }

  /// The number of pages that only the log has.
  var loggedPageCount: Int { maps.0.count + maps.1.count }

  func map(_ index: Int) -> PageMap { index == 0 ? maps.0 : maps.1 }
}
