/// Admits one writer at a time: a write transaction, the turn of a checkpoint, or closing.
///
/// Not held like a lock: a transaction may begin on one thread and end on another.
///
///  1. The engine's own steps go first: they are short, and writers may be waiting for their
///     result.
///  2. Urgent writers go before patient ones, each kind in order of arrival. After a fixed number
///     of urgent ones in a row, one patient writer goes.
///  3. A thread that is inside is not admitted again before it has left: it would wait for itself.
package final class WriterGate: @unchecked Sendable {
  // Unchecked: the mutable fields are only touched under `lock`.
  private let lock = Lock()
  private var isTaken = false
  /// True if nobody may wait for the thread inside, because that thread waits for them.
  private var isAbandoned = false
  /// The thread that was admitted last.
  private var holder: UInt = 0
  private var waiting: [Waiter] = []
  private var lastTicket: UInt64 = 0
  /// The number of urgent writers that went ahead of a waiting patient one.
  private var passedOverCount = 0
  /// True if patient writers have been told to wait since the last knock.
  private var arePatientHeld = false

  /// The number of urgent writers after which a patient one goes.
  package static let maximumPassedOverCount = 32

  private struct Waiter {
    let kind: Kind
    let ticket: UInt64
  }

  /// The kind of a caller at the gate.
  enum Kind {
    case engine, urgent, patient
  }

  /// The answer to a writer at the gate.
  enum Answer {
    case enter
    case wait
  }

  /// Waits until the gate is free, it is the caller's turn, and `ask` answers `enter`.
  ///
  /// `ask` is called again after each `leave` and each `knock`; it must not wait itself. A caller
  /// that is told to wait holds back its own kind until `knock`; an urgent one holds back patient
  /// writers too.
  ///
  /// - Throws: The error of `ask`; `insideTransaction`, see rule 3.
  func enter(
    _ urgency: WriteUrgency, _ ask: () throws(PageFileError) -> Answer
  ) throws(PageFileError) {
    lock.lock()
    defer { lock.unlock() }
    if isHeldByCaller { throw .insideTransaction(call: "write") }
    _ = try letIn(urgency == .urgent ? .urgent : .patient, ask)
  }

  /// Waits until the gate is free, for a step of the engine's own.
  func enter() {
    lock.lock()
    defer { lock.unlock() }
    let isIn = enterForEngine()
    precondition(isIn, "gate: abandoned")
  }

  /// Waits until the gate is free.
  ///
  /// Returns false, without entering, if the gate is abandoned.
  func enterUnlessAbandoned() -> Bool {
    lock.lock()
    defer { lock.unlock() }
    return enterForEngine()
  }

  private func enterForEngine() -> Bool {
    precondition(!isHeldByCaller, "gate: this thread would wait for its own write transaction")
    return letIn(.engine) { .enter }
  }

  /// Returns false if the writer inside will not leave; see `abandon`.
  private func letIn<E: Error>(_ kind: Kind, _ ask: () throws(E) -> Answer) throws(E) -> Bool {
    var hasToWait = isTaken || !waiting.isEmpty
    if !hasToWait { hasToWait = try ask() == .wait }
    if hasToWait {
      lastTicket += 1
      let ticket = lastTicket
      waiting.append(Waiter(kind: kind, ticket: ticket))
      defer {
        waiting.removeAll { $0.ticket == ticket }
        // Wake the other waiters: each has been told before that it is not the first.
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

  /// The waiter that goes next.
  private var next: Waiter? {
    let engine = waiting.first { $0.kind == .engine }
    let urgent = waiting.first { $0.kind == .urgent }
    let patient = arePatientHeld ? nil : waiting.first { $0.kind == .patient }
    if passedOverCount >= Self.maximumPassedOverCount { return engine ?? patient ?? urgent }
    return engine ?? urgent ?? patient
  }

  private var isHeldByCaller: Bool { isTaken && holder == CurrentThread.id }

  /// True if the calling thread was admitted and has not left.
  var isHeldByThisThread: Bool { lock.withLock { isHeldByCaller } }

  /// Turns away all callers of `enterUnlessAbandoned`, including those already waiting.
  func abandon(_ isAbandoned: Bool) {
    lock.withLock {
      self.isAbandoned = isAbandoned
      lock.broadcast()
    }
  }

  /// True if nobody is inside at this moment.
  var isFree: Bool { lock.withLock { !isTaken } }

  /// The number of waiters.
  var waitingCount: Int { lock.withLock { waiting.count } }

  func leave() {
    lock.withLock {
      isTaken = false
      lock.broadcast()
    }
  }

  /// Makes all waiters ask again.
  func knock() {
    lock.withLock {
      arePatientHeld = false
      lock.broadcast()
    }
  }
}

/// The rank of a writer among several that wait.
package enum WriteUrgency: Sendable {
  /// A writer that a user or caller is waiting for.
  case urgent
  /// A writer that is not urgent, because it stores data that comes from elsewhere.
  case patient
}
