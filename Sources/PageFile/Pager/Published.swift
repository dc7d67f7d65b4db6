/// The snapshot that the next reader gets: the one place where commits and checkpoints meet.
///
/// A commit changes the current WAL file's map, roots and LSN; a checkpoint changes the page table
/// and empties the other map. Each composes its part with what the other has published, under a lock
/// held for a few assignments; old snapshots are let go outside of it.
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
  /// - Parameter remains: What the current map had before it and has not now.
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

  /// Publishes that commits go to the other WAL file now, whose map is empty.
  func turn() {
    replace { old, _ in
      Snapshot(
        lsn: old.lsn, roots: old.roots, table: old.table, tableVersion: old.tableVersion,
        maps: old.maps, newest: 1 - old.newest, registry: registry)
    }
  }

  /// Publishes a page table that holds what the map of the WAL file that ended held.
  func checkpoint(_ table: PageTableRoot) {
    // Thousands of pages, and each reader that begins takes the lock.
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

  /// What the map of the WAL file that ended has: no commit changes it any more.
  private func remainsOfEndedMap() -> MapRemains {
    let current = current
    let ended = current.map(1 - current.newest)
    var remains = MapRemains(roomFor: 2 * ended.count)
    ended.collect(to: &remains)
    return remains
  }

  /// Publishes a table that holds what the one before held, in other slots.
  func move(_ table: PageTableRoot) {
    replace { old, _ in
      Snapshot(
        lsn: old.lsn, roots: old.roots, table: table, tableVersion: old.tableVersion + 1,
        maps: old.maps, newest: old.newest, registry: registry)
    }
  }

  /// Publishes a table that holds everything: both maps are empty.
  func replaceAll(_ table: PageTableRoot) {
    replace { old, remains in
      old.collectMaps(to: &remains)
      return Snapshot(
        lsn: old.lsn, roots: old.roots, table: table, tableVersion: old.tableVersion + 1,
        maps: (PageMap(), PageMap()), newest: 0, registry: registry)
    }
  }

  /// Publishes the commits that a reader beside the owner has found behind those it had.
  /// - Parameters:
  ///   - newest: The WAL file they are in.
  ///   - remains: What the maps had before and have not now.
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

  /// Publishes what a reader beside the owner has found in the files, all of it read anew.
  func reload(_ makeSnapshot: (_ tableVersion: UInt64) -> Snapshot) {
    replace { old, remains in
      old.collectMaps(to: &remains)
      registry.beginLine()
      return makeSnapshot(old.tableVersion + 1)
    }
  }

  /// - Parameter make: Makes the new snapshot, and says what of the old one's maps it has not.
  private func replace(_ make: (Snapshot, inout MapRemains) -> Snapshot) {
    lock.lock()
    let old = snapshot
    var remains = MapRemains()
    snapshot = make(old, &remains)
    registry.supersede(old.registration, leaving: remains)
    lock.unlock()
    // The last reference to the old snapshot may end here, and with it many images: not under the
    // lock.
    withExtendedLifetime(old) {}
  }
}
