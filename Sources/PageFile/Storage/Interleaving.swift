#if INTERLEAVINGS
  #if canImport(Darwin)
    import Darwin
  #elseif canImport(Musl)
    import Musl
  #else
    import Glibc
  #endif
#endif

/// One of the threads of a test, of which one runs at a time: it asks here before it does anything
/// that another thread could notice, and goes on when it is its turn.
package protocol Strand: AnyObject, Sendable {
  /// Another one may go on here.
  func reach(_ moment: StaticString)
  /// Returns when the lock is held.
  func lock(_ lock: Lock)
  func unlock(_ lock: Lock)
  /// Lets go of the lock until `broadcast`, then holds it again.
  /// - Parameter isTimed: Whether it may end by itself, after some time.
  func wait(_ lock: Lock, isTimed: Bool)
  func broadcast(_ lock: Lock)
  /// Lets others go on, because what is waited for tells nobody when it comes.
  func pause()
  /// Starts one more that nobody waits for.
  func start(_ body: @escaping @Sendable () -> Void)
}

/// The moments at which a test may have another thread go on, so that the orders of several threads
/// can be played, one after the other, and again.
///
/// In an ordinary build none of this exists: `strand` is the constant nil, and the compiler drops what
/// depends on it. `make test-interleavings` builds with INTERLEAVINGS; threads that no test has taken
/// over do there as always.
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

  /// Whether this build has those moments.
  package static var isBuiltIn: Bool {
    #if INTERLEAVINGS
      true
    #else
      false
    #endif
  }

  /// The one that the calling thread is, if a test has taken it over.
  @inline(__always)
  package static var strand: (any Strand)? {
    #if INTERLEAVINGS
      guard let box = unsafe pthread_getspecific(key) else { return nil }
      return unsafe Unmanaged<Box>.fromOpaque(box).takeUnretainedValue().strand
    #else
      nil
    #endif
  }

  /// Runs `body` with the calling thread taken over.
  package static func run(as strand: any Strand, _ body: () -> Void) {
    #if INTERLEAVINGS
      let box = Box(strand)
      unsafe pthread_setspecific(key, Unmanaged.passUnretained(box).toOpaque())
      body()
      pthread_setspecific(key, nil)
      withExtendedLifetime(box) {}
    #else
      preconditionFailure("interleavings are not built in")
    #endif
  }

  /// Says that something is about to be done that others can notice without a lock.
  @inline(__always)
  static func reach(_ moment: StaticString) { strand?.reach(moment) }
}
