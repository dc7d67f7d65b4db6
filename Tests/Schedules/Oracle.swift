import PageFile

/// What simulated processes have been promised, in the order in which they owned the store, and what
/// has gone against it.
package final class Oracle: @unchecked Sendable {
  // Unchecked: the fields are only touched under `lock`.
  private let lock = Lock()
  private var acknowledged = 0
  private var attempted = 0
  private var violations: [String] = []
  private var counts: [String: Int] = [:]

  package init(version: Int = 0) {
    acknowledged = version
    attempted = version
  }

  package var found: [String] { lock.withLock { violations } }
  /// How often each thing has happened.
  package var tally: [String: Int] { lock.withLock { counts } }
  package var lastAcknowledged: Int { lock.withLock { acknowledged } }
  package var lastAttempted: Int { lock.withLock { attempted } }

  func count(_ what: String) { lock.withLock { counts[what, default: 0] += 1 } }

  func violate(_ words: String) { lock.withLock { violations.append(words) } }

  /// An owner has found this: all that was acknowledged, and nothing that was not tried.
  ///
  /// It stays so from then on.
  func ownerSees(_ version: Int?, _ what: String) {
    lock.withLock {
      guard let version, acknowledged <= version, version <= attempted else {
        let seen = version.map { "version \($0)" } ?? "a mix"
        violations.append("\(what) finds \(seen) where \(acknowledged)...\(attempted) belongs")
        return
      }
      acknowledged = version
      attempted = version
    }
  }

  func willCommit(_ version: Int) { lock.withLock { attempted = max(attempted, version) } }
  func didCommit(_ version: Int) { lock.withLock { acknowledged = max(acknowledged, version) } }

  /// Somebody beside the owner has found this, who began to look when `least` was acknowledged.
  func readerSees(_ version: Int?, least: Int, _ what: String) {
    lock.withLock {
      guard let version, least <= version, version <= attempted else {
        let seen = version.map { "version \($0)" } ?? "a mix"
        violations.append("\(what) finds \(seen) where \(least)...\(attempted) belongs")
        return
      }
    }
  }
}
