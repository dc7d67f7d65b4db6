/// Lets a limited number of threads at a time do long work, in the order of their arrival.
package final class Turns: @unchecked Sendable {
  // Unchecked: the mutable fields are only touched under `lock`.
  private let lock = Lock()
  private var freeCount: Int
  private var waiting: [Waiter] = []

  /// A waiting thread, with a lock of its own, so that the end of a turn wakes no other thread.
  private final class Waiter: @unchecked Sendable {
    // Unchecked: `hasTurn` is only touched under `lock`.
    let lock = Lock()
    var hasTurn = false
  }

  package init(count: Int) { freeCount = count }

  /// Waits for a turn, which ends with `end`.
  package func begin() {
    let waiter = lock.withLock { () -> Waiter? in
      if freeCount > 0 {
        freeCount -= 1
        return nil
      }
      let waiter = Waiter()
      waiting.append(waiter)
      return waiter
    }
    guard let waiter else { return }
    waiter.lock.lock()
    while !waiter.hasTurn { waiter.lock.wait() }
    waiter.lock.unlock()
  }

  /// Ends a turn: the thread that has waited longest has it now.
  package func end() {
    let next = lock.withLock { () -> Waiter? in
      if waiting.isEmpty {
        freeCount += 1
        return nil
      }
      return waiting.removeFirst()
    }
    guard let next else { return }
    next.lock.withLock {
      next.hasTurn = true
      next.lock.broadcast()
    }
  }

  /// Lets those who wait go first, if there are any.
  package func giveWay() {
    if lock.withLock({ waiting.isEmpty }) { return }
    end()
    begin()
  }

  /// The number of threads that wait.
  package var waitingCount: Int { lock.withLock { waiting.count } }
}
