import PageFile

/// A few threads of our own for work that may block, so that no thread of Swift's own pool has to.
///
/// A thread is started when there is work and all others are busy, up to a limit.
final class WorkerPool: Sendable {
  private struct State: Sendable {
    var workers: [(worker: Worker, waitingCount: Int)] = []
    var isClosed = false
  }

  private let state = Locked(State())
  private let countMax: Int

  init(countMax: Int) { self.countMax = countMax }

  /// Runs `body` on one of the threads.
  ///
  /// - Throws: What the body throws; `closed` after `close`.
  func run<R: Sendable>(_ body: @escaping @Sendable () throws -> R) async throws -> R {
    // Handed over under a lock: where a continuation is resumed before it is awaited, the thread sanitizer
    // does not see that the one comes before the other.
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

  /// Runs `body` on one of the threads, or returns false after `close`.
  @discardableResult
  func enqueue(_ body: @escaping @Sendable () -> Void) -> Bool {
    state.withLock { state in
      if state.isClosed { return false }
      var index = state.workers.indices.min {
        state.workers[$0].waitingCount < state.workers[$1].waitingCount
      }
      let isBusy = index.map { state.workers[$0].waitingCount > 0 } ?? true
      if isBusy && state.workers.count < countMax {
        index = state.workers.count
        state.workers.append((Worker(), 0))
      }
      guard let index else { return false }
      state.workers[index].waitingCount += 1
      // The pool is not kept alive by its threads: one of them would be the last to let go of it.
      state.workers[index].worker.enqueue { [weak self] in
        body()
        self?.state.withLock { $0.workers[index].waitingCount -= 1 }
      }
      return true
    }
  }

  /// Whether this is asked on one of the threads.
  var isCurrent: Bool {
    state.withLock { $0.workers }.contains { $0.worker.isCurrent }
  }

  /// Takes no more work and waits until all that was given is done, but for what calls this on one of
  /// the threads.
  func close() {
    let workers = state.withLock { state in
      state.isClosed = true
      return state.workers
    }
    for (worker, _) in workers { worker.stop() }
  }
}
