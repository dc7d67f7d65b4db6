#if canImport(Darwin)
  import Darwin
#elseif canImport(Musl)
  import Musl
#else
  import Glibc
#endif

/// A dedicated thread that runs queued work in order.
///
/// Swift's cooperative threads must not block, and all work here does: system calls, locks, a sync.
/// The thread starts with the first work item and ends with `stop`.
package final class Worker: @unchecked Sendable {
  // Unchecked: the mutable fields are only touched under `lock`.
  private let lock = Lock()
  private var queue: [@Sendable () -> Void] = []
  private var isRunning = false
  private var isAsleep = false
  private var isStopping = false
  /// The id of the thread, once it runs.
  private var thread: UInt?
  private let hasThread: Bool
  private let lingerMilliseconds: Int
  private let idleMilliseconds: Int?
  private let whenIdle: @Sendable () -> Void

  /// Creates a worker; its thread starts with the first work item.
  /// - Parameters:
  ///   - hasThread: If false, all work waits for `runQueued`.
  ///   - lingerMilliseconds: The time after its last work item during which the thread polls for
  ///     more once a millisecond before it sleeps. While it polls, callers need not wake it; waking
  ///     it costs more than many work items do (docs/decisions.md).
  ///   - idleMilliseconds: The time without work after which `whenIdle` runs, once per quiet
  ///     period.
  package init(
    hasThread: Bool = true, lingerMilliseconds: Int = 0, idleMilliseconds: Int? = nil,
    whenIdle: @escaping @Sendable () -> Void = {}
  ) {
    self.hasThread = hasThread
    self.lingerMilliseconds = lingerMilliseconds
    self.idleMilliseconds = idleMilliseconds
    self.whenIdle = whenIdle
  }

  /// Queues `body` to run on the thread after all work queued before.
  ///
  /// - Returns: False after `stop`, when no more work is accepted.
  @discardableResult
  package func enqueue(_ body: @escaping @Sendable () -> Void) -> Bool {
    let (isTaken, hasToWake) = lock.withLock {
      if isStopping { return (false, false) }
      queue.append(body)
      if !hasThread || isRunning {
        defer { isAsleep = false }
        return (true, isAsleep)
      }
      isRunning = true
      startThread { self.run() }
      return (true, false)
    }
    // Outside the lock, or the awakened thread would at once have to wait for it.
    if hasToWake { lock.broadcast() }
    return isTaken
  }

  /// Wakes the thread at once, even if it would poll for work a little later.
  package func hurry() { lock.broadcast() }

  /// Runs the queued work on the calling thread if the worker has no thread.
  package func runQueued() {
    if hasThread { return }
    while let body = lock.withLock({ queue.isEmpty ? nil : queue.removeFirst() }) { body() }
  }

  /// Tells the thread to finish its queued work, and waits until it has ended.
  ///
  /// On the worker's own thread this does not wait.
  package func stop() {
    lock.lock()
    isStopping = true
    // Without a thread the queued work has not begun, and it must not begin any more.
    if !hasThread { queue = [] }
    lock.broadcast()
    while isRunning, thread != CurrentThread.id { lock.wait() }
    lock.unlock()
  }

  /// True if the calling thread is the worker's own.
  package var isCurrent: Bool { lock.withLock { isRunning && thread == CurrentThread.id } }

  private func run() {
    lock.withLock { thread = CurrentThread.id }
    var isQuiet = false
    var lookCount = 0
    while true {
      lock.lock()
      while queue.isEmpty {
        if isStopping {
          isRunning = false
          lock.broadcast()
          lock.unlock()
          return
        }
        if lookCount > 0 {
          lookCount -= 1
          lock.wait(milliseconds: 1)
          continue
        }
        isAsleep = true
        defer { isAsleep = false }
        guard let idleMilliseconds, !isQuiet else {
          lock.wait()
          continue
        }
        lock.wait(milliseconds: idleMilliseconds)
        if queue.isEmpty && !isStopping { isQuiet = true }
        if isQuiet { break }
      }
      let bodies = queue
      queue = []
      lock.unlock()
      if bodies.isEmpty { whenIdle() } else { isQuiet = false }
      for body in bodies { body() }
      lookCount = lingerMilliseconds
    }
  }
}

/// The body of a new thread, carried through C as an opaque address.
private final class ThreadBody {
  let run: () -> Void
  init(_ run: @escaping () -> Void) { self.run = run }
}

/// Starts a detached thread; a test may replace it with a strand.
package func startThread(_ body: @escaping @Sendable () -> Void) {
  if let strand = Interleaving.strand { return strand.start(body) }
  startSystemThread(body)
}

/// Starts a detached system thread that is of use and not needed.
///
/// Returns false if the process is at its limit of threads.
package func startThreadIfPossible(_ body: @escaping @Sendable () -> Void) -> Bool {
  let body = unsafe Unmanaged.passRetained(ThreadBody(body)).toOpaque()
  if unsafe createThread(body) == 0 { return true }
  unsafe Unmanaged<ThreadBody>.fromOpaque(body).release()
  return false
}

/// Starts a detached system thread, even inside a test's strand.
///
/// A process at its limit of threads is refused another one for as long as its other threads live,
/// so the call tries again for some seconds. It traps after that: work that was accepted would
/// never be done.
package func startSystemThread(_ body: @escaping @Sendable () -> Void) {
  let body = unsafe Unmanaged.passRetained(ThreadBody(body)).toOpaque()
  var code = unsafe createThread(body)
  var attemptCount = 1
  while code == EAGAIN, attemptCount < 1000 {
    usleep(10_000)
    code = unsafe createThread(body)
    attemptCount += 1
  }
  precondition(code == 0, "thread: creation failed (\(SystemCall.message(code)))")
}

/// Creates a detached thread, which takes over the reference to its body.
///
/// Returns 0 or an error number.
private func createThread(_ body: UnsafeMutableRawPointer) -> Int32 {
  #if canImport(Darwin)
    var thread: pthread_t?
    let code = unsafe pthread_create(
      &thread, nil,
      { body in
        unsafe Unmanaged<ThreadBody>.fromOpaque(body).takeRetainedValue().run()
        return nil
      }, body)
    if let thread = unsafe thread { unsafe pthread_detach(thread) }
  #else
    var thread = pthread_t()
    let code = unsafe pthread_create(
      &thread, nil,
      { body in
        if let body = unsafe body {
          unsafe Unmanaged<ThreadBody>.fromOpaque(body).takeRetainedValue().run()
        }
        return nil
      }, body)
    if code == 0 { pthread_detach(thread) }
  #endif
  return code
}
