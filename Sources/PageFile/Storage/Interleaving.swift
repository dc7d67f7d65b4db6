#if INTERLEAVINGS
  #if canImport(Darwin)
    import Darwin
  #elseif canImport(Musl)
    import Musl
  #else
    import Glibc
  #endif
#endif

/// One of a test's threads, of which one runs at a time.
///
/// It calls in here before each step that another thread could notice, and returns when it is its
/// turn.
package protocol Strand: AnyObject, Sendable {
  /// Marks a moment at which another strand may run.
  func reach(_ moment: StaticString)
  /// Acquires the lock.
  func lock(_ lock: Lock)
  func unlock(_ lock: Lock)
  /// Releases the lock until `broadcast`, then acquires it again.
  /// - Parameter isTimed: True if the wait may also time out.
  func wait(_ lock: Lock, isTimed: Bool)
  func broadcast(_ lock: Lock)
  /// Yields to other strands while polling for an event that is not signalled.
  func pause()
  /// Starts a detached strand.
  func start(_ body: @escaping @Sendable () -> Void)
}

/// The moments at which a test may switch threads, so that it can play and replay their
/// interleavings.
///
/// In an ordinary build `strand` is the constant nil, and the compiler drops the code that depends
/// on it. `make test-interleavings` builds with INTERLEAVINGS; there, threads that no test controls
/// run as usual.
package enum Interleaving {
  #if INTERLEAVINGS
    private final class Box {
      let strand: any Strand
      init(_ strand: any Strand) { self.strand = strand }
    }

    private static let key: pthread_key_t = {
      var key = pthread_key_t()
      unsafe pthread_key_create(&key, nil)
      return key
    }()
  #endif

  /// True if this build has these moments.
  package static var isBuiltIn: Bool {
    #if INTERLEAVINGS
      true
    #else
      false
    #endif
  }

  /// The strand of the calling thread; nil if no test controls it.
  @inline(__always)
  package static var strand: (any Strand)? {
    #if INTERLEAVINGS
      guard let box = unsafe pthread_getspecific(key) else { return nil }
      return unsafe Unmanaged<Box>.fromOpaque(box).takeUnretainedValue().strand
    #else
      nil
    #endif
  }

  /// Runs `body` with the calling thread under the test's control as `strand`.
  package static func run(as strand: any Strand, _ body: () -> Void) {
    #if INTERLEAVINGS
      let box = Box(strand)
      unsafe pthread_setspecific(key, Unmanaged.passUnretained(box).toOpaque())
      body()
      pthread_setspecific(key, nil)
      withExtendedLifetime(box) {}
    #else
      preconditionFailure("interleavings: not in this build")
    #endif
  }

  /// Announces a step that other threads can notice without a lock.
  @inline(__always)
  static func reach(_ moment: StaticString) { strand?.reach(moment) }
}
