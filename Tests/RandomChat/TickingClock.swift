package import MsgStore
import PageFile

/// A clock that goes on a little between transactions.
package final class TickingClock: Sendable {
  private let state: Locked<Int64>

  package init(_ time: Int64) { state = Locked(time) }

  /// Sets the clock back, so that messages that have expired are to come back.
  package func setBack() { state.withLock { $0 -= 20_000 } }

  package var now: Timestamp { state.withLock { Timestamp(microseconds: $0) } }

  /// Goes on before the next act, however often the one before looked at the time.
  package func advance() { state.withLock { $0 += 49 } }
}
