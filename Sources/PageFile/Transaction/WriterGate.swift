/// Lets one writer in at a time: a write transaction, the turn of a checkpoint, or closing.
///
/// Not held as a lock: a transaction may begin on one thread and end on another.
///
///  1. The engine's own steps go first: they are short, and what they do may be what writers wait for.
///  2. Writers that somebody waits for go before those that have time, each kind in the order in which
///     they came. After so many of the first in a row one of the second goes.
///  3. A thread that has let itself in is not let in again before it has left: it would wait for itself.
package final class WriterGate: @unchecked Sendable {
  // Unchecked: the mutable fields are only touched under `lock`.
  private let lock = Lock()
  private var isTaken = false
  /// Whether nobody may wait for whoever is inside: that thread waits for them.
  private var isAbandoned = false
  /// The thread that was let in last.
  private var holder: UInt = 0
  private var waiting: [Waiter] = []
  private var lastTicket: UInt64 = 0
  /// How many urgent writers have gone before one that has time, and waits.
  private var passedOverCount = 0
  /// Whether writers that have time were told to wait since somebody knocked last.
  private var arePatientHeld = false

  /// After so many urgent writers one that has time goes.
  package static let passedOverCountMax = 32

  private struct Waiter {
    let kind: Kind
    let ticket: UInt64
  }

  /// Who is to be let in.
  enum Kind {
    case engine, urgent, patient
  }

  /// What a writer at the gate is told.
  enum Answer {
    case enter
    case wait
  }

  /// Waits until nobody is inside, nobody goes before the caller, and `ask` lets it in.
  ///
  /// `ask` is called again each time somebody leaves or `knock` is called; it must not wait itself. Who
  /// is told to wait keeps all of its kind waiting until `knock`; an urgent writer also those that have
  /// time.
  ///
  /// - Throws: What `ask` throws; `insideTransaction`, see rule 3.
  func enter(
    _ urgency: WriteUrgency, _ ask: () throws(PageFileError) -> Answer
  ) throws(PageFileError) {
    lock.lock()
    defer { lock.unlock() }
    if isHeldByCaller { throw .insideTransaction(call: "write") }
    _ = try letIn(urgency == .urgent ? .urgent : .patient, ask)
  }

  /// Waits until nobody is inside, for a step of the engine's own.
  func enter() {
    lock.lock()
    defer { lock.unlock() }
    let isIn = enterForEngine()
    precondition(isIn, "the gate is abandoned")
  }

  /// Waits until nobody is inside; false, with nobody let in, when the gate is abandoned.
  func enterUnlessAbandoned() -> Bool {
    lock.lock()
    defer { lock.unlock() }
    return enterForEngine()
  }

  private func enterForEngine() -> Bool {
    precondition(!isHeldByCaller, "a write transaction that this thread has open is waited for")
    return letIn(.engine) { .enter }
  }

  /// False when whoever is inside will not leave, see `abandon`.
  private func letIn<E: Error>(_ kind: Kind, _ ask: () throws(E) -> Answer) throws(E) -> Bool {
    var hasToWait = isTaken || !waiting.isEmpty
    if !hasToWait { hasToWait = try ask() == .wait }
    if hasToWait {
      lastTicket += 1
      let ticket = lastTicket
      waiting.append(Waiter(kind: kind, ticket: ticket))
      defer {
        waiting.removeAll { $0.ticket == ticket }
        // Whoever comes next has been told that it is not the first.
        if !waiting.isEmpty { lock.broadcast() }
      }
      while true {
        if isTaken && isAbandoned && kind == .engine { return false }
        if !isTaken, next?.ticket == ticket {
          if try ask() == .enter { break }
          if kind == .patient {
            arePatientHeld = true
            lock.broadcast()
          }
        }
        lock.wait()
      }
    }
    isTaken = true
    holder = CurrentThread.id
    if kind == .patient { passedOverCount = 0 }
    if kind == .urgent, waiting.contains(where: { $0.kind == .patient }) { passedOverCount += 1 }
    return true
  }

  /// Who goes next of those that wait.
  private var next: Waiter? {
    let engine = waiting.first { $0.kind == .engine }
    let urgent = waiting.first { $0.kind == .urgent }
    let patient = arePatientHeld ? nil : waiting.first { $0.kind == .patient }
    if passedOverCount >= Self.passedOverCountMax { return engine ?? patient ?? urgent }
    return engine ?? urgent ?? patient
  }

  private var isHeldByCaller: Bool { isTaken && holder == CurrentThread.id }

  /// Whether the calling thread was let in and has not left.
  var isHeldByThisThread: Bool { lock.withLock { isHeldByCaller } }

  /// Turns away whoever enters by `enterUnlessAbandoned`, those who wait already, too.
  func abandon(_ isAbandoned: Bool) {
    lock.withLock {
      self.isAbandoned = isAbandoned
      lock.broadcast()
    }
  }

  /// Whether nobody is inside at this moment.
  var isFree: Bool { lock.withLock { !isTaken } }

  /// How many wait to be let in.
  var waitingCount: Int { lock.withLock { waiting.count } }

  func leave() {
    lock.withLock {
      isTaken = false
      lock.broadcast()
    }
  }

  /// Has everybody who waits ask again.
  func knock() {
    lock.withLock {
      arePatientHeld = false
      lock.broadcast()
    }
  }
}

/// Which writer goes first of several that wait.
package enum WriteUrgency: Sendable {
  /// One that somebody waits for.
  case urgent
  /// One that has time, as it stores what comes from elsewhere.
  case patient
}
