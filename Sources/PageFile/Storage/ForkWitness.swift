import Synchronization

#if canImport(Darwin)
  import Darwin
#elseif canImport(Musl)
  import Musl
#else
  import Glibc
#endif

/// A witness that tells a process if it was forked after something was opened.
///
/// The child has a copy of all memory and shares the parent's open files, but has none of its
/// threads, and locks that those threads held stay locked for ever. So anything opened before the
/// fork is useless to the child, and the child must not take a lock even to find that out. The
/// check is one load of a counter that a `pthread_atfork` handler increments in the child.
struct ForkWitness: Sendable {
  private let generation: UInt64

  /// Records the current process.
  init() {
    _ = Self.isWatching
    generation = Self.generation.load(ordering: .relaxed)
  }

  /// True in a forked child of the process that made the witness.
  var hasForked: Bool { Self.generation.load(ordering: .relaxed) != generation }

  /// The number of forks between the process that first used this type and the current one.
  private static let generation = Atomic<UInt64>(0)
  private static let isWatching: Bool = {
    // Initialize the counter before the handler can run: a child must not initialize anything.
    _ = generation.load(ordering: .relaxed)
    let code = pthread_atfork(
      nil, nil, { ForkWitness.generation.wrappingAdd(1, ordering: .relaxed) })
    return code == 0
  }()
}
