import Synchronization

/// The snapshots that live, and so: which slots may be used again, and who is in the way.
final class SnapshotRegistry: @unchecked Sendable {
  // Unchecked: `living` is only touched under `lock`.
  private let lock = Lock()
  private var living: [Registration] = []
  private let fork = ForkWitness()

  /// A snapshot's entry, shared by the snapshot and the registry.
  final class Registration: Sendable {
    let tableVersion: UInt64
    let lsn: LSN
    private let expired = Atomic<Bool>(false)

    fileprivate init(tableVersion: UInt64, lsn: LSN) {
      self.tableVersion = tableVersion
      self.lsn = lsn
    }

    var isExpired: Bool { expired.load(ordering: .acquiring) }
    fileprivate func expire() { expired.store(true, ordering: .sequentiallyConsistent) }
  }

  func register(tableVersion: UInt64, lsn: LSN) -> Registration {
    let registration = Registration(tableVersion: tableVersion, lsn: lsn)
    lock.withLock { living.append(registration) }
    return registration
  }

  func remove(_ registration: Registration) {
    // In a child the lock may be held by a thread that is not there.
    if fork.hasForked { return }
    lock.withLock {
      // The youngest snapshots come and go; the old ones at the front stay.
      if let index = living.lastIndex(where: { $0 === registration }) { living.remove(at: index) }
    }
  }

  /// The oldest version of the page table that somebody may still read through.
  func oldestTableVersion() -> UInt64 {
    lock.withLock { living.map(\.tableVersion).min() ?? .max }
  }

  /// The number of living snapshots, the published one included.
  var count: Int { lock.withLock { living.count } }

  /// Expires the oldest snapshot of an earlier commit than the published one's.
  ///
  /// Whether there was one. What it keeps in memory is given back when its transaction ends.
  func expireOldest(but published: Registration) -> Bool {
    lock.withLock {
      // By commit and not by table: the snapshot that the one writer builds on is of the last commit,
      // and a checkpoint must not take it away.
      guard let index = living.firstIndex(where: { $0.lsn < published.lsn }) else { return false }
      living[index].expire()
      living.remove(at: index)
      return true
    }
  }

  /// Expires everything, or everything but one.
  func expireAll(but kept: Registration? = nil) {
    lock.withLock {
      for registration in living where registration !== kept { registration.expire() }
      living.removeAll { $0 !== kept }
    }
  }
}
