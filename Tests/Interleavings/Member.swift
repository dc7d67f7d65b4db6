import Dispatch
package import PageFile

/// One thread of a run.
package final class Member: Strand, @unchecked Sendable {
  // Unchecked: `state` is only touched by whoever has the turn.
  let id: Int
  let name: String
  let turn = DispatchSemaphore(value: 0)
  var state = State.ready
  private let conductor: Conductor

  enum State {
    case ready
    /// Goes on when nobody holds the lock.
    case blocked(Lock)
    /// Goes on when somebody tells of a change, or in its own time.
    case waiting(Lock, isTimed: Bool)
    /// Goes on when others have, as far as this step.
    case pausing(until: Int)
    /// Goes on when these have ended.
    case joining([Int])
    case ended
  }

  init(_ id: Int, _ name: String, _ conductor: Conductor) {
    self.id = id
    self.name = name
    self.conductor = conductor
  }

  var hasEnded: Bool { if case .ended = state { true } else { false } }

  /// Why it does not go on, in words.
  var wish: String? {
    switch state {
    case .ready, .ended: nil
    case .blocked(let lock):
      "\(name) wants the lock \(lock.words), which thread \(lock.holder ?? -1) holds"
    case .waiting(let lock, _): "\(name) waits to be told by \(lock.words)"
    case .pausing: "\(name) pauses again and again"
    case .joining: nil
    }
  }

  package func reach(_ moment: StaticString) {
    conductor.pass(self, kind: moment.utf8CodeUnitCount, "\(moment)")
  }

  package func lock(_ lock: Lock) {
    state = .blocked(lock)
    conductor.pass(
      self, kind: isFavoured(lock) ? Choice.favoured : lock.origin.line, "wants \(lock.words)")
    state = .ready
    precondition(lock.holder == nil, "a lock was taken by two")
    lock.holder = id
  }

  private func isFavoured(_ lock: Lock) -> Bool {
    guard let file = conductor.favouredFile else { return false }
    return "\(lock.origin.file)".hasSuffix(file)
  }

  package func unlock(_ lock: Lock) {
    precondition(lock.holder == id, "a lock is let go by somebody who does not hold it")
    lock.holder = nil
  }

  package func wait(_ lock: Lock, isTimed: Bool) {
    unlock(lock)
    state = .waiting(lock, isTimed: isTimed)
    conductor.pass(self, "waits at \(lock.words)")
    state = .ready
    precondition(lock.holder == nil, "a lock was taken by two")
    lock.holder = id
  }

  package func broadcast(_ lock: Lock) { conductor.wake(lock) }

  package func pause() {
    state = .pausing(until: conductor.pausingEnd())
    conductor.pass(self, "pauses")
    state = .ready
  }

  package func start(_ body: @escaping @Sendable () -> Void) { conductor.start(body) }
}

extension Lock {
  /// Where it was made.
  fileprivate var words: String {
    "\(origin.file)".split(separator: "/").last.map { "\($0):\(origin.line)" } ?? ""
  }
}
