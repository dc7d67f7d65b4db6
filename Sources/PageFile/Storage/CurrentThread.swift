#if canImport(Darwin)
  import Darwin
#elseif canImport(Musl)
  import Musl
#else
  import Glibc
#endif

/// The calling thread.
package enum CurrentThread {
  /// The thread's number, unique while the thread lives.
  ///
  /// Costs one call that reads a register.
  package static var id: UInt {
    #if canImport(Glibc)
      UInt(pthread_self())
    #else
      unsafe UInt(bitPattern: pthread_self())
    #endif
  }
}
