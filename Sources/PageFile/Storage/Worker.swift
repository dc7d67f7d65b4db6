#if canImport(Darwin)
  import Darwin
#elseif canImport(Musl)
  import Musl
#else
  import Glibc
#endif

/// A thread of our own that does one thing after the other.
///
/// Swift's cooperative threads must not block, and everything here does: system calls, locks, a
/// sync. The thread is started with the first thing to do and ends with `stop`.
package final class Worker: @unchecked Sendable {
  // Unchecked: the mutable fields are only touched under `lock`.
  private let lock = Lock()
  private var queue: [@Sendable () -> Void] = []
  private var isRunning = false
  private var isAsleep = false
  private var isStopping = false
  /// The thread, once it runs.
  private var thread: UInt?
  private let hasThread: Bool
  private let lingerMilliseconds: Int
  private let idleMilliseconds: Int?
  private let whenIdle: @Sendable () -> Void

  /// - Parameters:
  ///   - hasThread: Otherwise all work waits for `runQueued`.
  ///   - lingerMilliseconds: For how long after its last work the thread looks for more once a
  ///     millisecond, before it sleeps. Until then nobody has to wake it, which costs more than much of
  ///     the work does (docs/decisions.md).
  ///   - idleMilliseconds: After how long without work `whenIdle` runs, once per quiet time.
  package init(
    hasThread: Bool = true, lingerMilliseconds: Int = 0, idleMilliseconds: Int? = nil,
    whenIdle: @escaping @Sendable () -> Void = {}
  ) {
    self.hasThread = hasThread
    self.lingerMilliseconds = lingerMilliseconds
    self.idleMilliseconds = idleMilliseconds
    self.whenIdle = whenIdle
  }

  /// Has `body` run on the thread after everything asked for before.
  ///
  /// - Returns: False after `stop`, when nothing is run any more.
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
    // Not under the lock, which the thread would have to wait for as soon as it is awake.
    if hasToWake { lock.broadcast() }
    return isTaken
  }

  /// Has what waits run now, also where the thread would look for it a little later.
  package func hurry() { lock.broadcast() }

  /// Does what waits, if there is no thread for it.
  package func runQueued() {
    if hasThread { return }
    while let body = lock.withLock({ queue.isEmpty ? nil : queue.removeFirst() }) { body() }
  }

  /// Lets the thread finish what it was asked for, and waits until it has ended.
  ///
  /// On the thread itself it only says so.
  package func stop() {
    lock.lock()
    isStopping = true
    // Without a thread nobody has begun what waits, and nobody may any more.
    if !hasThread { queue = [] }
    lock.broadcast()
    while isRunning, thread != CurrentThread.id { lock.wait() }
    lock.unlock()
  }

  /// Whether this is asked on the thread.
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

/// What a new thread runs, carried through C as an opaque address.
private final class ThreadBody {
  let run: () -> Void
  init(_ run: @escaping () -> Void) { self.run = run }
}

/// Starts a thread that nobody waits for.
private func startThread(_ body: @escaping @Sendable () -> Void) {
  if let strand = Interleaving.strand { return strand.start(body) }
  startSystemThread(body)
}

/// The same, whoever asks.
package func startSystemThread(_ body: @escaping @Sendable () -> Void) {
  let argument = unsafe Unmanaged.passRetained(ThreadBody(body)).toOpaque()
  #if canImport(Darwin)
    var thread: pthread_t?
    let code = unsafe pthread_create(
      &thread, nil,
      { argument in
        unsafe Unmanaged<ThreadBody>.fromOpaque(argument).takeRetainedValue().run()
        return nil
      }, argument)
    if let thread { unsafe pthread_detach(thread) }
  #else
    var thread = pthread_t()
    let code = unsafe pthread_create(
      &thread, nil,
      { argument in
        if let argument = unsafe argument {
          unsafe Unmanaged<ThreadBody>.fromOpaque(argument).takeRetainedValue().run()
        }
        return nil
      }, argument)
    if code == 0 { pthread_detach(thread) }
  #endif
  precondition(code == 0, "the system has no more threads")
}
