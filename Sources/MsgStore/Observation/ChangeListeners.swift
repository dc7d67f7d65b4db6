import PageFile
import Synchronization

/// The listeners to a store's changes, each with the changes that it has not taken yet.
///
/// 1. A commit's changes are recorded for all listeners before the next commit can be made, and
///    thus in the order of commits. Waiting listeners are woken afterwards, outside of every lock.
/// 2. The changes that a listener has not taken are one value, the sum of all changes since. A slow
///    listener costs no more memory than `StoreChanges` may take.
/// 3. Waking only says that there is something to take. The woken listener takes it itself,
///    including anything recorded in the meantime.
final class ChangeListeners: Sendable {
  typealias Waiter = CheckedContinuation<Void, Never>

  /// The state of one listener.
  private struct Listener: Sendable {
    var changes: StoreChanges?
    var waiter: Waiter?
    /// True if the listener was woken to look around, although nothing may have changed.
    var isWoken = false

    /// Adds changes and returns the waiter to be woken, if any.
    mutating func put(_ new: StoreChanges) -> Waiter? {
      if changes == nil { changes = new } else { changes?.add(new) }
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
  /// Returns after a duration or when the task is cancelled.
  let sleep: @Sendable (Duration) async -> Void
  /// The listener count, readable without the lock.
  private let listenerCount = Atomic<Int>(0)

  /// The result of asking for changes.
  enum Answer {
    case changes(StoreChanges)
    case nothing
    case ended
  }

  init(sleep: @escaping @Sendable (Duration) async -> Void) { self.sleep = sleep }

  var count: Int { listenerCount.load(ordering: .relaxed) }

  /// True if there are no listeners.
  ///
  /// If this is true after a commit is visible, a listener that begins later and then reads sees
  /// that commit. Both sides have a fence between their own write and their read.
  var isEmpty: Bool {
    atomicMemoryFence(ordering: .sequentiallyConsistent)
    return listenerCount.load(ordering: .relaxed) == 0
  }

  // MARK: For who commits

  /// Records the changes of a commit for all listeners.
  ///
  /// - Parameter changes: The changes; nil if no listener existed when the transaction began, so
  ///   that nothing was noted.
  /// - Returns: The waiters to be woken.
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

  /// Ends all listening.
  ///
  /// Changes not taken can still be taken.
  func close() {
    let waiters = state.withLock { state in
      state.isClosed = true
      return state.listeners.keys.compactMap { state.listeners[$0]?.takeWaiter() }
    }
    Self.wake(waiters)
  }

  // MARK: For who listens

  /// Registers a listener and returns its number.
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

  /// Takes the changes since the listener's last take.
  func take(_ number: Int) -> Answer {
    state.withLock { state in
      guard let changes = state.listeners[number]?.takeChanges() else {
        return state.isEnded(number) ? .ended : .nothing
      }
      return .changes(changes)
    }
  }

  /// Wakes a listener whether or not it has changes to take.
  func wake(_ number: Int) {
    let waiter = state.withLock { state in
      state.listeners[number]?.isWoken = true
      return state.listeners[number]?.takeWaiter()
    }
    waiter?.resume()
  }

  /// Returns true if the listener was woken since the last call.
  func takeWake(_ number: Int) -> Bool {
    state.withLock { state in
      defer { state.listeners[number]?.isWoken = false }
      return state.listeners[number]?.isWoken ?? false
    }
  }

  /// Registers a waiter to be woken when the listener has changes.
  ///
  /// Returns false if there is nothing to wait for: the listener has changes, was woken, or ended.
  func wait(_ number: Int, _ waiter: Waiter) -> Bool {
    state.withLock { state in
      if state.isEnded(number) { return false }
      precondition(state.listeners[number]?.waiter == nil, "one task at a time may take changes")
      guard case .some(let listener) = state.listeners[number], listener.changes == nil,
        !listener.isWoken
      else { return false }
      state.listeners[number]?.waiter = waiter
      return true
    }
  }

  /// Removes a listener.
  func end(_ number: Int) {
    let waiter = state.withLock { state -> Waiter? in
      guard let listener = state.listeners.removeValue(forKey: number) else { return nil }
      listenerCount.subtract(1, ordering: .relaxed)
      return listener.waiter
    }
    waiter?.resume()
  }
}

/// A registration as a listener, which ends with the object.
final class ChangeListener: Sendable {
  private let listeners: ChangeListeners
  private let number: Int

  init(_ listeners: ChangeListeners) {
    self.listeners = listeners
    number = listeners.begin()
  }

  deinit { listeners.end(number) }

  /// Returns the changes since the last call, or since the registration, once there are any.
  ///
  /// Returns nil at the end of the task or of the store.
  func next(isolation: isolated (any Actor)?) async -> StoreChanges? {
    while !Task.isCancelled {
      switch listeners.take(number) {
      case .changes(let changes): return changes
      case .ended: return nil
      case .nothing: await wait(isolation: isolation)
      }
    }
    // The caller that cancelled may keep this object, and nothing must be collected for it.
    listeners.end(number)
    return nil
  }

  /// Waits for changes for a limited time; nil sets no limit, and `wake` ends the wait.
  ///
  /// - Parameter isWanted: Returns true for changes to wait for; others are dropped.
  /// - Returns: `nothing` when the time is up or after `wake`; `ended` at the end of the task or of
  ///   the store.
  func next(
    isolation: isolated (any Actor)?, within time: Duration?,
    where isWanted: (StoreChanges) -> Bool = { _ in true }
  ) async -> ChangeListeners.Answer {
    // A timer of an earlier call may have fired late.
    if time != nil { _ = listeners.takeWake(number) }
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

  /// Ends the wait under way, or the next one.
  func wake() { listeners.wake(number) }

  /// Returns the changes since the last call, if there are any.
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
