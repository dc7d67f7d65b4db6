import MsgStore
import PageFile

/// A clock that lets conversations come to the new store when they came to the old one.
final class CreationClock: Sendable {
  private let time = Locked<Timestamp?>(nil)

  /// The time shown by the clock; nil means the system's.
  var created: Timestamp? {
    get { time.withLock { $0 } }
    set { time.withLock { $0 = newValue } }
  }

  var now: Timestamp { created ?? StoreOptions.systemClock() }
}
