import PageFile

/// The crash states that were recovered already, with the contents they gave.
///
/// Equal disks give equal stores, so each is recovered once; where it comes up again, only what was
/// promised can differ. Threads share it.
package final class SeenStates: Sendable {
  private let shards: [Locked<[UInt64: UInt64]>]

  package init() { shards = (0..<64).map { _ in Locked([:]) } }

  private func shard(_ state: UInt64) -> Locked<[UInt64: UInt64]> { shards[Int(state >> 58)] }

  /// The digest of what the state was recovered to, if it was.
  func digest(of state: UInt64) -> UInt64? { shard(state).withLock { $0[state] } }

  /// Notes a state; false if somebody else has done so meanwhile.
  func insert(_ state: UInt64, digest: UInt64) -> Bool {
    shard(state).withLock { $0.updateValue(digest, forKey: state) == nil }
  }

  /// How many states differ from each other.
  package var count: Int { shards.reduce(0) { $0 + $1.withLock { $0.count } } }
}
