import PageFile
import Synchronization

/// Those who listen to what changes, each with what it has not taken yet.
///
///  1. What was committed is put down for everybody while the next commit cannot be made, so in the
///     order of commits; who waits is woken afterwards, outside of every lock.
///  2. What a listener has not taken is one value, the sum of what came: a slow one costs no more
///     memory than `StoreChanges` may take.
///  3. Waking says only that there is something. What it is, whoever waited looks for itself; so what
///     comes in the meantime is in it.
final class ChangeListeners: Sendable {
  typealias Waiter = CheckedContinuation<Void, Never>

  private struct Listener: Sendable {
    var changes: StoreChanges?
    var waiter: Waiter?
    /// Whether it is to look up although nothing may have changed.
    var isWoken = false

    /// Adds changes; returns who waits for them.
    mutating func put(_ new: StoreChanges) -> Waiter? {
      if changes == nil { changes = new } else { changes?.add(new) }
      // What came may have undone what was not taken.
      if changes?.isEmpty ?? true {
        changes = nil
        return nil
      }
      return takeWaiter()
    }

    mutating func takeChanges() -> StoreChanges? {
      defer { changes = nil }
      return changes
    }

    mutating func takeWaiter() -> Waiter? {
      defer { waiter = nil }
      return waiter
    }
  }

  private struct State: Sendable {
    var listeners: [Int: Listener] = [:]
    var nextNumber = 0
    var isClosed = false

    func isEnded(_ number: Int) -> Bool { isClosed || listeners[number] == nil }
  }

  private let state = Locked(State())
  /// Returns when some time has passed, or the task is cancelled.
  let sleep: @Sendable (Duration) async -> Void
  /// How many there are, for who must not pay for a lock when there is none.
  private let listenerCount = Atomic<Int>(0)

  /// What somebody who asks for changes finds.
  enum Answer {
    case changes(StoreChanges)
    case nothing
    case ended
  }

  init(sleep: @escaping @Sendable (Duration) async -> Void) { self.sleep = sleep }

  var count: Int { listenerCount.load(ordering: .relaxed) }

  /// Whether nobody listens.
  ///
  /// Who finds that after a commit can be seen may be sure: whoever begins to listen later, and reads
  /// then, sees that commit. Both have a fence between what they say and what they ask.
  var isEmpty: Bool {
    atomicMemoryFence(ordering: .sequentiallyConsistent)
    return listenerCount.load(ordering: .relaxed) == 0
  }

  // MARK: For who commits

  /// Puts down for everybody what a commit has changed.
  ///
  /// - Parameter changes: nil: nobody listened when the transaction began, and nothing was noted.
  /// - Returns: Who is to be woken.
  func put(_ changes: StoreChanges?) -> [Waiter] {
    if isEmpty { return [] }
    let changes = changes ?? .anything
    if changes.isEmpty { return [] }
    return state.withLock { state in
      var waiters: [Waiter] = []
      for number in state.listeners.keys {
        if let waiter = state.listeners[number]?.put(changes) { waiters.append(waiter) }
      }
      return waiters
    }
  }

  static func wake(_ waiters: [Waiter]) {
    for waiter in waiters { waiter.resume() }
  }

  /// Ends all listening; what was not taken still can be.
  func close() {
    let waiters = state.withLock { state in
      state.isClosed = true
      return state.listeners.keys.compactMap { state.listeners[$0]?.takeWaiter() }
    }
    Self.wake(waiters)
  }

  // MARK: For who listens

  /// Begins to listen; returns the listener's number.
  func begin() -> Int {
    state.withLock { state in
      state.nextNumber += 1
      if !state.isClosed {
        state.listeners[state.nextNumber] = Listener()
        listenerCount.add(1, ordering: .relaxed)
        atomicMemoryFence(ordering: .sequentiallyConsistent)
      }
      return state.nextNumber
    }
  }

  /// Takes what has changed since the listener took something last.
  func take(_ number: Int) -> Answer {
    state.withLock { state in
      guard let changes = state.listeners[number]?.takeChanges() else {
        return state.isEnded(number) ? .ended : .nothing
      }
      return .changes(changes)
    }
  }

  /// Has a listener woken, whether or not there is something to take.
  func wake(_ number: Int) {
    let waiter = state.withLock { state in
      state.listeners[number]?.isWoken = true
      return state.listeners[number]?.takeWaiter()
    }
    waiter?.resume()
  }

  /// Whether a listener was woken since this was asked last.
  func takeWake(_ number: Int) -> Bool {
    state.withLock { state in
      defer { state.listeners[number]?.isWoken = false }
      return state.listeners[number]?.isWoken ?? false
    }
  }

  /// Has a listener woken when there is something to take; returns false when there is already.
  func wait(_ number: Int, _ waiter: Waiter) -> Bool {
    state.withLock { state in
      if state.isEnded(number) { return false }
      precondition(state.listeners[number]?.waiter == nil, "one task takes changes at a time")
      guard case .some(let listener) = state.listeners[number], listener.changes == nil,
        !listener.isWoken
      else { return false }
      state.listeners[number]?.waiter = waiter
      return true
    }
  }

  /// Ends one listener's listening.
  func end(_ number: Int) {
    let waiter = state.withLock { state -> Waiter? in
      guard let listener = state.listeners.removeValue(forKey: number) else { return nil }
      listenerCount.subtract(1, ordering: .relaxed)
      return listener.waiter
    }
    waiter?.resume()
  }
}

/// One listener, for as long as somebody holds it.
final class ChangeListener: Sendable {
  private let listeners: ChangeListeners
  private let number: Int

  init(_ listeners: ChangeListeners) {
    self.listeners = listeners
    number = listeners.begin()
  }

  deinit { listeners.end(number) }

  /// What has changed since the last call, or since the listener began, as soon as something has;
  /// nil at the end of the task or of the store.
  func next(isolation: isolated (any Actor)?) async -> StoreChanges? {
    while !Task.isCancelled {
      switch listeners.take(number) {
      case .changes(let changes): return changes
      case .ended: return nil
      case .nothing: await wait(isolation: isolation)
      }
    }
    // Whoever has cancelled may hold it still, and nothing is to be kept for it.
    listeners.end(number)
    return nil
  }

  /// The same for a limited time; nil has no limit.
  ///
  /// - Parameter isWanted: Whether changes are waited for; others are dropped.
  /// - Returns: `nothing` when the time is over; `ended` at the end of the task or of the store.
  func next(
    isolation: isolated (any Actor)?, within time: Duration?,
    where isWanted: (StoreChanges) -> Bool = { _ in true }
  ) async -> ChangeListeners.Answer {
    // A timer of an earlier call may have been late.
    _ = listeners.takeWake(number)
    let timer = time.map { time in
      Task { [listeners, number] in
        await listeners.sleep(time)
        if !Task.isCancelled { listeners.wake(number) }
      }
    }
    defer { timer?.cancel() }
    while !Task.isCancelled {
      switch listeners.take(number) {
      case .changes(let changes): if isWanted(changes) { return .changes(changes) }
      case .ended: return .ended
      case .nothing:
        if listeners.takeWake(number) { return .nothing }
        await wait(isolation: isolation)
      }
    }
    listeners.end(number)
    return .ended
  }

  /// What has changed since the last call, if anything has.
  func take() -> StoreChanges? {
    guard case .changes(let changes) = listeners.take(number) else { return nil }
    return changes
  }

  private func wait(isolation: isolated (any Actor)?) async {
    await withTaskCancellationHandler {
      await withCheckedContinuation(isolation: isolation) { waiter in
        if !listeners.wait(number, waiter) { waiter.resume() }
      }
    } onCancel: {
      listeners.end(number)
    }
  }
}
