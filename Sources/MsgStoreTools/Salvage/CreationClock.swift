import MsgStore
import PageFile

/// Makes conversations come to the new store when they came to the old one.
final class CreationClock: Sendable {
  private let time = Locked<Timestamp?>(nil)

  /// nil: now.
  var created: Timestamp? {
    get { time.withLock { $0 } }
    set { time.withLock { $0 = newValue } }
  }

  var now: Timestamp { created ?? StoreOptions.systemClock() }
}
