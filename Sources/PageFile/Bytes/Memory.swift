#if canImport(Darwin)
  import Darwin
#elseif canImport(Musl)
  import Musl
#else
  import Glibc
#endif

/// Memory from the C library.
///
/// `UnsafeMutableRawPointer.allocate` always asks for aligned memory, which glibc takes from outside
/// its quick lists and cannot give back to them: three times as many instructions for each of the
/// hundred short buffers of a commit (docs/decisions.md).
enum Memory {
  /// Undefined bytes, aligned for anything.
  static func allocate(_ byteCount: Int) -> UnsafeMutableRawPointer {
    guard let memory = unsafe malloc(byteCount) else {
      preconditionFailure("the process has no more memory")
    }
    return unsafe memory
  }

  static func free(_ memory: UnsafeMutableRawPointer) {
    #if canImport(Darwin)
      unsafe Darwin.free(memory)
    #elseif canImport(Musl)
      unsafe Musl.free(memory)
    #else
      unsafe Glibc.free(memory)
    #endif
  }
}
