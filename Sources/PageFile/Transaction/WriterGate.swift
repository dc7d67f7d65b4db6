/// Lets one writer in at a time: a write transaction, the turn of a checkpoint, or closing.
///
/// Not held as a lock: a transaction may begin on one thread and end on another.
final class WriterGate: @unchecked Sendable {
  // Unchecked: `isTaken` is only touched under `lock`.
  private let lock = Lock()
  private var isTaken = false
  /// Whether nobody may wait for whoever is inside: that thread waits for them.
  private var isAbandoned = false

  /// What a writer at the gate is told.
  enum Answer {
    case enter
    case wait
  }

  /// Waits until nobody is inside and `ask` lets the caller in.
  ///
  /// `ask` is called again each time somebody leaves or `knock` is called; it must not wait itself.
  func enter<E: Error>(_ ask: () throws(E) -> Answer) throws(E) {
    lock.lock()
    defer { lock.unlock() }
    while true {
      if !isTaken, try ask() == .enter { break }
      lock.wait()
    }
    isTaken = true
  }

  func enter() { enter { .enter } }

  /// Waits until nobody is inside; false, with nobody let in, when the gate is abandoned.
  func enterUnlessAbandoned() -> Bool {
    lock.lock()
    defer { lock.unlock() }
    while isTaken && !isAbandoned { lock.wait() }
    if isAbandoned { return false }
    isTaken = true
    return true
  }

  /// Turns away whoever enters by `enterUnlessAbandoned`, those who wait already, too.
  func abandon(_ isAbandoned: Bool) {
    lock.withLock {
      self.isAbandoned = isAbandoned
      lock.broadcast()
    }
  }

  /// Whether nobody is inside at this moment.
  var isFree: Bool { lock.withLock { !isTaken } }

  func leave() {
    lock.withLock {
      isTaken = false
      lock.broadcast()
    }
  }

  /// Has everybody who waits ask again.
  func knock() { lock.withLock { lock.broadcast() } }
}
