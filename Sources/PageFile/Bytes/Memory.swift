#if canImport(Darwin)
  import Darwin
#elseif canImport(Musl)
  import Musl
#else
  import Glibc
#endif

/// Memory from the C library.
///
/// `UnsafeMutableRawPointer.allocate` always asks for aligned memory. glibc does not take it from
/// its quick lists and cannot return it to them. That costs three times as many instructions for
/// each of the hundred short buffers of a commit (docs/decisions.md).
package enum Memory {
  /// Returns uninitialized bytes, aligned for any type.
  package static func allocate(_ byteCount: Int) -> UnsafeMutableRawPointer {
    guard let memory = unsafe malloc(byteCount) else {
      preconditionFailure("memory: allocation failed")
    }
    return unsafe memory
  }

  /// Returns zeros, aligned for any type.
  ///
  /// Of a large range the system gives each page its zeros when it is touched.
  static func allocateZeros(_ byteCount: Int) -> UnsafeMutableRawPointer {
    guard let memory = unsafe calloc(byteCount, 1) else {
      preconditionFailure("memory: allocation failed")
    }
    return unsafe memory
  }

  package static func free(_ memory: UnsafeMutableRawPointer) {
    #if canImport(Darwin)
      unsafe Darwin.free(memory)
    #elseif canImport(Musl)
      unsafe Musl.free(memory)
    #else
      unsafe Glibc.free(memory)
    #endif
  }
}
