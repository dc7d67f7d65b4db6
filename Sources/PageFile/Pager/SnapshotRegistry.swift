import Synchronization

/// The registry of living snapshots.
///
/// It determines which slots may be reused, which snapshots prevent that, and when the remains of
/// older page maps can be freed.
package final class SnapshotRegistry: @unchecked Sendable {
  // Unchecked: `living` and the remains are only touched under `lock`.
  private let lock = Lock()
  /// The living snapshots, including expired ones, in the order in which they were published.
  private var living: [Registration] = []
  /// The number of the current line.
  ///
  /// Snapshots of one line were made from each other and may share parts of their maps.
  private var line = 0
  private let fork = ForkWitness()

  /// A snapshot's entry, shared by the snapshot and the registry.
  package final class Registration: @unchecked Sendable {
    // Unchecked: `remains` is only touched under the registry's lock.
    let tableVersion: UInt64
    let lsn: LSN
    fileprivate let line: Int
    private let expired = Atomic<Bool>(false)
    /// The parts that this snapshot can reach and no later one can; nil while it is the newest.
    fileprivate var remains: MapRemains?

    fileprivate init(tableVersion: UInt64, lsn: LSN, line: Int) {
      self.line = line
      self.tableVersion = tableVersion
      self.lsn = lsn
    }

    var isExpired: Bool { expired.load(ordering: .acquiring) }
    func expire() { expired.store(true, ordering: .sequentiallyConsistent) }
  }

  package init() {}

  package func register(tableVersion: UInt64, lsn: LSN) -> Registration {
    lock.withLock {
      let registration = Registration(tableVersion: tableVersion, lsn: lsn, line: line)
      living.append(registration)
      return registration
    }
  }

  /// Begins a new line: the next snapshots share nothing with earlier ones, because their maps were
  /// made anew.
  func beginLine() { lock.withLock { line += 1 } }

  /// Records that a snapshot has a successor, which shares all of its maps except `remains`.
  package func supersede(_ registration: Registration, leaving remains: MapRemains) {
    lock.withLock { registration.remains = remains }
  }

  /// Ends a snapshot and frees the parts that only it could reach.
  /// - Parameter all: Returns all parts of the snapshot, for the newest one, which has no
  ///   successor.
  package func remove(_ registration: Registration, orAll all: () -> MapRemains) {
    // In a forked child the lock may be held by a thread that does not exist there.
    if fork.hasForked { return }
    let remains = lock.withLock {
      var remains = registration.remains ?? all()
      registration.remains = nil
      // Search from the end: the youngest snapshots come and go, the old ones at the front stay.
      guard let index = living.lastIndex(where: { $0 === registration }) else { return remains }
      living.remove(at: index)
      if index > 0, !remains.isEmpty, living[index - 1].line == registration.line {
        let older = living[index - 1]
        remains.hand(upTo: older.lsn.rawValue, to: &older.remains)
      }
      return remains
    }
    remains.free()
  }

  /// Returns the oldest version of the page table through which a snapshot may still read.
  func oldestTableVersion() -> UInt64 {
    lock.withLock {
      living.reduce(.max) { $1.isExpired ? $0 : min($0, $1.tableVersion) }
    }
  }

  /// The number of living snapshots that have not expired, the published one included.
  var count: Int { lock.withLock { living.count { !$0.isExpired } } }

  /// The number of images that only unexpired snapshots older than the published one keep alive.
  ///
  /// Images kept by an expired snapshot are not counted: they are freed when its transaction ends,
  /// and expiring others would not free them.
  var keptImageCount: Int {
    lock.withLock {
      living.reduce(0) { $1.isExpired ? $0 : $0 + ($1.remains?.imageCount ?? 0) }
    }
  }

  /// Expires the oldest unexpired snapshot of a commit before the published one's.
  ///
  /// Returns false if there is no such snapshot. The memory that it keeps is freed when its
  /// transaction ends.
  func expireOldest(but published: Registration) -> Bool {
    lock.withLock {
      // Select by commit and not by table: the snapshot that the one writer builds on belongs to
      // the last commit, and a checkpoint must not expire it.
      guard let oldest = living.first(where: { !$0.isExpired && $0.lsn < published.lsn }) else {
        return false
      }
      oldest.expire()
      return true
    }
  }

  /// Expires all snapshots of commits before one; returns true if there was any.
  func expire(before lsn: LSN) -> Bool {
    lock.withLock {
      var hasExpired = false
      for registration in living where registration.lsn < lsn && !registration.isExpired {
        registration.expire()
        hasExpired = true
      }
      return hasExpired
    }
  }

  /// Expires all snapshots, or all but one.
  func expireAll(but kept: Registration? = nil) {
    lock.withLock {
      for registration in living where registration !== kept { registration.expire() }
    }
  }
}
