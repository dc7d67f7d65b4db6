import Synchronization

/// The snapshots that live, and so: which slots may be used again, who is in the way, and when what
/// remains of older page maps can go.
package final class SnapshotRegistry: @unchecked Sendable {
  // Unchecked: `living` and the remains are only touched under `lock`.
  private let lock = Lock()
  /// In the order in which they were published; those that have expired, too.
  private var living: [Registration] = []
  /// Snapshots of one line have been made from each other, and may share what their maps have.
  private var line = 0
  private let fork = ForkWitness()

  /// A snapshot's entry, shared by the snapshot and the registry.
  package final class Registration: @unchecked Sendable {
    // Unchecked: `remains` is only touched under the registry's lock.
    let tableVersion: UInt64
    let lsn: LSN
    fileprivate let line: Int
    private let expired = Atomic<Bool>(false)
    /// What this snapshot can reach and none that was published later; nil while it is the newest.
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

  /// The next snapshots have nothing from those before: their maps were made anew.
  func beginLine() { lock.withLock { line += 1 } }

  /// A snapshot has a successor, which has all of its maps but this.
  package func supersede(_ registration: Registration, leaving remains: MapRemains) {
    lock.withLock { registration.remains = remains }
  }

  /// Ends a snapshot, and what nobody but it could reach.
  /// - Parameter all: All that the newest snapshot has, which ends without a successor.
  package func remove(_ registration: Registration, orAll all: () -> MapRemains) {
    // In a child the lock may be held by a thread that is not there.
    if fork.hasForked { return }
    let remains = lock.withLock {
      var remains = registration.remains ?? all()
      registration.remains = nil
      // The youngest snapshots come and go; the old ones at the front stay.
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

  /// The oldest version of the page table that somebody may still read through.
  func oldestTableVersion() -> UInt64 {
    lock.withLock {
      living.reduce(.max) { $1.isExpired ? $0 : min($0, $1.tableVersion) }
    }
  }

  /// The number of living snapshots that have not expired, the published one included.
  var count: Int { lock.withLock { living.count { !$0.isExpired } } }

  /// How many images those snapshots keep that the published one has not, and that have not expired.
  ///
  /// What an expired one keeps is given back when its transaction ends, whoever else expires.
  var keptImageCount: Int {
    lock.withLock {
      living.reduce(0) { $1.isExpired ? $0 : $0 + ($1.remains?.imageCount ?? 0) }
    }
  }

  /// Expires the oldest snapshot of an earlier commit than the published one's.
  ///
  /// Whether there was one. What it keeps in memory is given back when its transaction ends.
  func expireOldest(but published: Registration) -> Bool {
    lock.withLock {
      // By commit and not by table: the snapshot that the one writer builds on is of the last commit,
      // and a checkpoint must not take it away.
      guard let oldest = living.first(where: { !$0.isExpired && $0.lsn < published.lsn }) else {
        return false
      }
      oldest.expire()
      return true
    }
  }

  /// Expires everything, or everything but one.
  func expireAll(but kept: Registration? = nil) {
    lock.withLock {
      for registration in living where registration !== kept { registration.expire() }
    }
  }
}
