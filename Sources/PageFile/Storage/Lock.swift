#if canImport(Darwin)
  import Darwin
#elseif canImport(Musl)
  import Musl
#else
  import Glibc
#endif

/// A mutex with a condition to wait on.
///
/// `Synchronization.Mutex` has no way to wait, and on Linux it took three times as long as this
/// lock (33 ns against 12 ns, docs/decisions.md).
@safe
package final class Lock: @unchecked Sendable {
  // Unchecked: the two system objects may be used from any thread.
  private let mutex: UnsafeMutablePointer<pthread_mutex_t>
  private let condition: UnsafeMutablePointer<pthread_cond_t>

  #if INTERLEAVINGS
    /// The strand that holds the lock; a test's strands do not use the system objects.
    package var holder: Int?
    /// The place where the lock was created, which serves as its name.
    package let origin: (file: StaticString, line: Int)

    package init(file: StaticString = #fileID, line: Int = #line) {
      origin = (file, line)
      unsafe mutex = .allocate(capacity: 1)
      unsafe condition = .allocate(capacity: 1)
      setUp()
    }
  #else
    package var holder: Int? {
      get { nil }
      set {}
    }
    package var origin: (file: StaticString, line: Int) { ("", 0) }

    package init() {
      unsafe mutex = .allocate(capacity: 1)
      unsafe condition = .allocate(capacity: 1)
      setUp()
    }
  #endif

  private func setUp() {
    unsafe pthread_mutex_init(mutex, nil)
    #if canImport(Darwin)
      unsafe pthread_cond_init(condition, nil)
    #else
      // The monotonic clock cannot be set: a wait must not last for hours because the wall clock
      // jumped.
      var attributes = pthread_condattr_t()
      unsafe pthread_condattr_init(&attributes)
      unsafe pthread_condattr_setclock(&attributes, CLOCK_MONOTONIC)
      unsafe pthread_cond_init(condition, &attributes)
      unsafe pthread_condattr_destroy(&attributes)
    #endif
  }

  deinit {
    unsafe pthread_cond_destroy(condition)
    unsafe pthread_mutex_destroy(mutex)
    unsafe condition.deallocate()
    unsafe mutex.deallocate()
  }

  package func lock() {
    if let strand = Interleaving.strand { return strand.lock(self) }
    unsafe pthread_mutex_lock(mutex)
  }

  package func unlock() {
    if let strand = Interleaving.strand { return strand.unlock(self) }
    unsafe pthread_mutex_unlock(mutex)
  }

  package func withLock<R, E: Error>(_ body: () throws(E) -> R) throws(E) -> R {
    lock()
    defer { unlock() }
    return try body()
  }

  /// Releases the lock until `broadcast`, then acquires it again.
  ///
  /// May wake spuriously.
  package func wait() {
    if let strand = Interleaving.strand { return strand.wait(self, isTimed: false) }
    unsafe pthread_cond_wait(condition, mutex)
  }

  /// Waits like `wait()`, but no longer than the given time.
  package func wait(milliseconds: Int) {
    if let strand = Interleaving.strand { return strand.wait(self, isTimed: true) }
    #if canImport(Darwin)
      var time = timespec(
        tv_sec: milliseconds / 1000, tv_nsec: milliseconds % 1000 * 1_000_000)
      unsafe pthread_cond_timedwait_relative_np(condition, mutex, &time)
    #else
      var deadline = timespec()
      unsafe clock_gettime(CLOCK_MONOTONIC, &deadline)
      let nanoseconds = deadline.tv_nsec + milliseconds % 1000 * 1_000_000
      deadline.tv_sec += milliseconds / 1000 + nanoseconds / 1_000_000_000
      deadline.tv_nsec = nanoseconds % 1_000_000_000
      unsafe pthread_cond_timedwait(condition, mutex, &deadline)
    #endif
  }

  /// Wakes one waiting thread; does nothing without one.
  package func wakeOne() {
    if let strand = Interleaving.strand { return strand.broadcast(self) }
    unsafe pthread_cond_signal(condition)
  }

  /// Wakes all waiting threads.
  package func broadcast() {
    if let strand = Interleaving.strand { return strand.broadcast(self) }
    unsafe pthread_cond_broadcast(condition)
  }
}
