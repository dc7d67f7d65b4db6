#if canImport(Darwin)
  import Darwin
#elseif canImport(Musl)
  import Musl
#else
  import Glibc
#endif

/// The thread that asks, as a number that no other living thread has.
package enum ThisThread {
  package static var number: UInt64 {
    #if canImport(Darwin) || canImport(Musl)
      unsafe UInt64(UInt(bitPattern: pthread_self()))
    #else
      UInt64(pthread_self())
    #endif
  }
}
