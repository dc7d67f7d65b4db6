import Synchronization

#if canImport(Darwin)
  import Darwin
#elseif canImport(Musl)
  import Musl
#else
  import Glibc
#endif

/// Whether this process has come out of `fork` since something was opened.
///
/// The child has a copy of all memory and shares the parent's open files, but has none of its
/// threads, and some of its locks may be held for ever by threads that are not there. So everything
/// that was opened before is of no use to the child, and it must not even take a lock to say so:
/// asking is one load of a number that the system has us count up in the child.
struct ForkWitness: Sendable {
  private let generation: UInt64

  /// Remembers the process that it was made in.
  init() {
    _ = Self.isWatching
    generation = Self.generation.load(ordering: .relaxed)
  }

  /// Whether this is a child of the process that made the witness.
  var hasForked: Bool { Self.generation.load(ordering: .relaxed) != generation }

  /// How many forks lead from the process that first used this to the present one.
  private static let generation = Atomic<UInt64>(0)
  private static let isWatching: Bool = {
    // The number has to be there before the handler runs: in a child nothing may be set up.
    _ = generation.load(ordering: .relaxed)
    let code = pthread_atfork(
      nil, nil, { ForkWitness.generation.wrappingAdd(1, ordering: .relaxed) })
    return code == 0
  }()
}
