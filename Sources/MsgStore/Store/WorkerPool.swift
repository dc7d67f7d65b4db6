import PageFile

/// A pool of threads for work that may block, which would otherwise block Swift's own pool.
///
/// A thread is started when there is work and all others are busy, up to a limit.
final class WorkerPool: Sendable {
  private struct State: Sendable {
    var workers: [(worker: Worker, waitingCount: Int)] = []
    var isClosed = false
  }

  private let state = Locked(State())
  private let maximumCount: Int

  init(maximumCount: Int) { self.maximumCount = maximumCount }

  /// Runs `body` on one of the threads.
  ///
  /// - Throws: The error of `body`; `closed` after `close`.
  func run<R: Sendable>(_ body: @escaping @Sendable () throws -> R) async throws -> R {
    // The result is passed under a lock. If a continuation is resumed before it is awaited, the
    // thread sanitizer does not see that one happens before the other.
    let result = Locked<Result<R, any Error>>(.failure(StoreError.storage(.closed)))
    await withCheckedContinuation { continuation in
      let isAccepted = enqueue {
        let found = Result(catching: body)
        result.withLock { $0 = found }
        continuation.resume()
      }
      if !isAccepted { continuation.resume() }
    }
    return try result.withLock { $0 }.get()
  }

  /// Runs `body` on one of the threads; returns false after `close`.
  @discardableResult
  func enqueue(_ body: @escaping @Sendable () -> Void) -> Bool {
    state.withLock { state in
      if state.isClosed { return false }
      var index = state.workers.indices.min {
        state.workers[$0].waitingCount < state.workers[$1].waitingCount
      }
      let isBusy = index.map { state.workers[$0].waitingCount > 0 } ?? true
      if isBusy && state.workers.count < maximumCount {
        index = state.workers.count
        state.workers.append((Worker(), 0))
      }
      guard let index else { return false }
      state.workers[index].waitingCount += 1
      // The threads do not keep the pool alive: one of them would be the last to release it.
      state.workers[index].worker.enqueue { [weak self] in
        body()
        self?.state.withLock { $0.workers[index].waitingCount -= 1 }
      }
      return true
    }
  }

  /// True if the calling thread belongs to the pool.
  var isCurrent: Bool {
    state.withLock { $0.workers }.contains { $0.worker.isCurrent }
  }

  /// Refuses new work and waits for all accepted work, except for a task that calls this itself.
  func close() {
    let workers = state.withLock { state in
      state.isClosed = true
      return state.workers
    }
    for (worker, _) in workers { worker.stop() }
  }
}
