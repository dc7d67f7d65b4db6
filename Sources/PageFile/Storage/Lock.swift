#if canImport(Darwin)
  import Darwin
#elseif canImport(Musl)
  import Musl
#else
  import Glibc
#endif

/// A mutual exclusion lock on which one may also wait for a change.
///
/// `Synchronization.Mutex` has no way to wait, and on Linux took three times as long as this one
/// (33 ns against 12 ns, docs/decisions.md).
@safe
package final class Lock: @unchecked Sendable {
  // Unchecked: the two system objects are made to be used from any thread.
  private let mutex: UnsafeMutablePointer<pthread_mutex_t>
  private let condition: UnsafeMutablePointer<pthread_cond_t>

  #if INTERLEAVINGS
    /// The strand that holds it; those of a test leave the system's objects alone.
    package var holder: Int?
    /// Where it was made, which is its name.
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
      // The clock that nobody sets: a wait must not last for hours because the device's jumped.
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

  /// Lets go of the lock until `broadcast`, then holds it again.
  ///
  /// May also return for no reason.
  package func wait() {
    if let strand = Interleaving.strand { return strand.wait(self, isTimed: false) }
    unsafe pthread_cond_wait(condition, mutex)
  }

  /// Like `wait`, but for a limited time.
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

  /// Wakes everybody who waits.
  package func broadcast() {
    if let strand = Interleaving.strand { return strand.broadcast(self) }
    unsafe pthread_cond_broadcast(condition)
  }
}
