import PageFile

/// A pool of threads for work that may block, which would otherwise block Swift's own pool.
///
///  1. There is one queue. Its jobs begin in the order in which they came, each on the thread that
///     is free first.
///  2. A few threads are usual. When all of those have been busy for some milliseconds while a job
///     waited, it gets another thread, up to a maximum. So long jobs do not keep short ones
///     waiting, and many short ones share the usual threads.
///  3. A thread is started when there is work and no thread is free. The usual ones stay; the
///     others end when they have found nothing to do for a second.
final class WorkerPool: @unchecked Sendable {
  // Unchecked: the mutable fields are only touched under `lock`.
  private struct Job {
    let body: @Sendable () -> Void
    let time = ContinuousClock.now
  }

  private let lock = Lock()
  /// The jobs that have not begun, by their numbers.
  private var jobs: [Int: Job] = [:]
  private var firstNumber = 0
  private var endNumber = 0
  private var threadCount = 0
  /// The number of threads without a job, those that are starting among them.
  private var freeCount = 0
  private var threads: Set<UInt> = []
  private var isClosed = false
  private let usualCount: Int
  private let maximumCount: Int

  /// The time for which a job waits for one of the usual threads.
  private static let patience = Duration.milliseconds(2)
  /// The time for which an additional thread waits for a job.
  private static let linger = Duration.seconds(1)

  /// Creates a pool without threads.
  ///
  /// - Parameters:
  ///   - usualCount: The number of threads that do many short jobs.
  ///   - maximumCount: The number of threads beside long jobs.
  init(usualCount: Int = 1, maximumCount: Int = 1) {
    self.usualCount = usualCount
    self.maximumCount = maximumCount
  }

  /// Runs `body` on one of the threads.
  ///
  /// - Throws: The error of `body`; `closed` after `close`.
  @inline(never)
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
    lock.withLock {
      if isClosed { return false }
      jobs[endNumber] = Job(body: body)
      endNumber += 1
      provideThread()
      return true
    }
  }

  /// True if the calling thread belongs to the pool.
  var isCurrent: Bool { lock.withLock { threads.contains(CurrentThread.id) } }

  /// Refuses new work and waits for all accepted work, except for a task that calls this itself.
  func close() {
    lock.lock()
    isClosed = true
    lock.broadcast()
    let ownCount = threads.contains(CurrentThread.id) ? 1 : 0
    while threadCount > ownCount { lock.wait() }
    lock.unlock()
  }

  // MARK: Under the lock

  /// Wakes or starts a thread for a job that waits.
  private func provideThread() {
    if freeCount > 0 {
      // Whoever closes the pool waits, too.
      if isClosed { lock.broadcast() } else { lock.wakeOne() }
    } else if threadCount < maximumCount {
      threadCount += 1
      freeCount += 1
      if threadCount == 1 {
        startThread { self.run() }
      } else if !startThreadIfPossible({ self.run() }) {
        threadCount -= 1
        freeCount -= 1
      }
    }
  }

  /// Takes the job that has waited longest, if there is one and a thread for it.
  private func takeJob() -> Job? {
    guard timeUntilJob == .zero, let job = jobs.removeValue(forKey: firstNumber) else { return nil }
    firstNumber += 1
    freeCount -= 1
    if !jobs.isEmpty { provideThread() }
    return job
  }

  /// The time after which the next job may begin on a free thread; nil if there is no job.
  private var timeUntilJob: Duration? {
    guard let job = jobs[firstNumber] else { return nil }
    if threadCount - freeCount < usualCount { return .zero }
    return max(.zero, Self.patience - job.time.duration(to: .now))
  }

  // MARK: Threads

  private func run() {
    lock.withLock { _ = threads.insert(CurrentThread.id) }
    var hasJob = false
    // The job of one round is released before the next one takes the lock, which its end may need.
    while let job = nextJob(after: hasJob) {
      hasJob = true
      job.body()
    }
  }

  /// Waits for a job; returns nil if the thread is to end.
  ///
  /// - Parameter hadJob: True if the thread comes from a job.
  private func nextJob(after hadJob: Bool) -> Job? {
    lock.lock()
    defer { lock.unlock() }
    if hadJob { freeCount += 1 }
    let end = ContinuousClock.now + Self.linger
    while true {
      if let job = takeJob() { return job }
      if let time = timeUntilJob {
        lock.wait(milliseconds: time.roundedUpMilliseconds)
      } else if isClosed || threadCount > usualCount && .now >= end {
        break
      } else if threadCount > usualCount {
        lock.wait(milliseconds: (ContinuousClock.now.duration(to: end)).roundedUpMilliseconds)
      } else {
        lock.wait()
      }
    }
    freeCount -= 1
    threadCount -= 1
    threads.remove(CurrentThread.id)
    lock.broadcast()
    return nil
  }
}

extension Duration {
  /// The number of milliseconds, 1 or more.
  fileprivate var roundedUpMilliseconds: Int {
    max(1, Int((self / .milliseconds(1)).rounded(.up)))
  }
}
