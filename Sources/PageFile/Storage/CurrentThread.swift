#if canImport(Darwin)
  import Darwin
#elseif canImport(Musl)
  import Musl
#else
  import Glibc
#endif

/// The thread that asks.
enum CurrentThread {
  /// A number that no other thread has while this one lives.
  ///
  /// Costs a call that reads one register.
  static var id: UInt {
    #if canImport(Glibc)
      UInt(pthread_self())
    #else
      unsafe UInt(bitPattern: pthread_self())
    #endif
  }
}
