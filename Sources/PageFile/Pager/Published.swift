/// The snapshot that the next reader gets, and the only place where commits and checkpoints meet.
///
/// A commit changes the current WAL file's map, roots and LSN. A checkpoint changes the page table
/// and empties the other map. Each combines its part with the other's last publication, under a
/// lock held for a few assignments. Old snapshots are released outside of the lock.
final class Published: @unchecked Sendable {
  // Unchecked: `snapshot` is only touched under `lock`.
  private let lock = Lock()
  private var snapshot: Snapshot
  private let registry: SnapshotRegistry

  init(_ snapshot: Snapshot, registry: SnapshotRegistry) {
    self.snapshot = snapshot
    self.registry = registry
  }

  var current: Snapshot {
    lock.lock()
    defer { lock.unlock() }
    return snapshot
  }

  /// Publishes a commit.
  /// - Parameter remains: The parts of the current map that the new map lacks.
  func commit(lsn: LSN, roots: Roots, map: PageMap, _ remains: MapRemains) {
    replace { old, last in
      let other = old.map(1 - old.newest)
      last = remains
      return Snapshot(
        lsn: lsn, roots: roots, table: old.table, tableVersion: old.tableVersion,
        maps: old.newest == 0 ? (map, other) : (other, map), newest: old.newest,
        registry: registry)
    }
  }

  /// Publishes that commits now go to the other WAL file, whose map is empty.
  func turn() {
    replace { old, _ in
      Snapshot(
        lsn: old.lsn, roots: old.roots, table: old.table, tableVersion: old.tableVersion,
        maps: old.maps, newest: 1 - old.newest, registry: registry)
    }
  }

  /// Publishes a page table that includes the pages in the map of the WAL file that ended.
  func checkpoint(_ table: PageTableRoot) {
    // Collected before taking the lock: there are thousands of pages, and each new reader takes it.
    let remains = remainsOfEndedMap()
    replace { old, last in
      let kept = old.map(old.newest)
      last = remains
      return Snapshot(
        lsn: old.lsn, roots: old.roots, table: table, tableVersion: old.tableVersion + 1,
        maps: old.newest == 0 ? (kept, PageMap()) : (PageMap(), kept), newest: old.newest,
        registry: registry)
    }
  }

  /// Returns all parts of the map of the WAL file that ended; no commit changes it any more.
  private func remainsOfEndedMap() -> MapRemains {
    let current = current
    let ended = current.map(1 - current.newest)
    var remains = MapRemains(roomFor: 2 * ended.count)
    ended.collect(to: &remains)
    return remains
  }

  /// Publishes a table of the same pages in other slots.
  func move(_ table: PageTableRoot) {
    replace { old, _ in
      Snapshot(
        lsn: old.lsn, roots: old.roots, table: table, tableVersion: old.tableVersion + 1,
        maps: old.maps, newest: old.newest, registry: registry)
    }
  }

  /// Publishes a table of all pages, with both maps empty.
  func replaceAll(_ table: PageTableRoot) {
    replace { old, remains in
      old.collectMaps(to: &remains)
      return Snapshot(
        lsn: old.lsn, roots: old.roots, table: table, tableVersion: old.tableVersion + 1,
        maps: (PageMap(), PageMap()), newest: 0, registry: registry)
    }
  }

  /// Publishes the newer commits that a reader beside the owner has found.
  /// - Parameters:
  ///   - newest: The WAL file that contains them.
  ///   - remains: The parts of the old maps that the new maps lack.
  func follow(
    lsn: LSN, roots: Roots, maps: (PageMap, PageMap), newest: Int, _ remains: MapRemains
  ) {
    replace { old, last in
      last = remains
      return Snapshot(
        lsn: lsn, roots: roots, table: old.table, tableVersion: old.tableVersion, maps: maps,
        newest: newest, registry: registry)
    }
  }

  /// Gives up the maps before a reader beside the owner reads everything anew.
  ///
  /// Snapshots of before keep theirs. The one that is published in their place is for nobody to
  /// read.
  func giveUp() {
    replace { old, remains in
      old.collectMaps(to: &remains)
      registry.beginLine()
      let empty = Snapshot(
        lsn: old.lsn, roots: old.roots, table: old.table, tableVersion: old.tableVersion,
        maps: (PageMap(), PageMap()), newest: old.newest, registry: registry)
      empty.registration.expire()
      return empty
    }
  }

  /// Publishes the state that a reader beside the owner has read anew from the files.
  func reload(_ makeSnapshot: (_ tableVersion: UInt64) -> Snapshot) {
    replace { old, remains in
      old.collectMaps(to: &remains)
      registry.beginLine()
      return makeSnapshot(old.tableVersion + 1)
    }
  }

  /// Replaces the published snapshot.
  /// - Parameter make: Makes the new snapshot, and collects the parts of the old maps that it
  ///   lacks.
  private func replace(_ make: (Snapshot, inout MapRemains) -> Snapshot) {
    lock.lock()
    let old = snapshot
    var remains = MapRemains()
    snapshot = make(old, &remains)
    registry.supersede(old.registration, leaving: remains)
    lock.unlock()
    // The last reference to the old snapshot may end here and free many images, so this is outside
    // the lock.
    withExtendedLifetime(old) {}
  }
}
