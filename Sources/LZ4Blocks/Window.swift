/// Bytes that are read a word at a time, at places that the caller has proved to lie inside.
///
/// The codec checks once for a whole sequence that there is room, and not at each access: that is
/// half of its speed. Debug builds check every access.
@safe
struct Window {
  private let base: UnsafeRawPointer
  let count: Int

  @unsafe
  init(_ bytes: UnsafeRawBufferPointer) {
    // Unsafe: nothing is read of an empty window.
    unsafe base = bytes.baseAddress ?? UnsafeRawPointer(bitPattern: 8).unsafelyUnwrapped
    count = bytes.count
  }

  @unsafe
  init(_ base: UnsafeRawPointer, count: Int) {
    unsafe self.base = base
    self.count = count
  }

  @inline(__always) @unsafe
  func byte(at offset: Int) -> UInt8 { unsafe load(at: offset) }

  @inline(__always) @unsafe
  func word16(at offset: Int) -> UInt16 { UInt16(littleEndian: unsafe load(at: offset)) }

  @inline(__always) @unsafe
  func word32(at offset: Int) -> UInt32 { UInt32(littleEndian: unsafe load(at: offset)) }

  @inline(__always) @unsafe
  func word64(at offset: Int) -> UInt64 { UInt64(littleEndian: unsafe load(at: offset)) }

  @inline(__always) @unsafe
  func vector(at offset: Int) -> SIMD16<UInt8> { unsafe load(at: offset) }

  /// The address of a place, for copies of any length.
  @inline(__always) @unsafe
  func address(of offset: Int, byteCount: Int) -> UnsafeRawPointer {
    assert(offset >= 0 && byteCount >= 0 && offset + byteCount <= count, "window: out of bounds")
    return unsafe base + offset
  }

  @inline(__always) @unsafe
  private func load<T: BitwiseCopyable>(at offset: Int) -> T {
    assert(offset >= 0 && offset + MemoryLayout<T>.size <= count, "window: out of bounds")
    return unsafe base.loadUnaligned(fromByteOffset: offset, as: T.self)
  }
}

/// Bytes that are written like those of a `Window` are read.
@safe
struct MutableWindow {
  private let base: UnsafeMutableRawPointer
  let count: Int

  @unsafe
  init(_ bytes: UnsafeMutableRawBufferPointer) {
    // Unsafe: nothing is written to an empty window.
    unsafe base = bytes.baseAddress ?? UnsafeMutableRawPointer(bitPattern: 8).unsafelyUnwrapped
    count = bytes.count
  }

  @inline(__always)
  var readOnly: Window { unsafe Window(UnsafeRawPointer(base), count: count) }

  @inline(__always) @unsafe
  func store<T: BitwiseCopyable>(_ value: T, at offset: Int) {
    assert(offset >= 0 && offset + MemoryLayout<T>.size <= count, "window: out of bounds")
    unsafe base.storeBytes(of: value, toByteOffset: offset, as: T.self)
  }

  /// Copies bytes of any number, from memory that does not overlap the place.
  @inline(__always) @unsafe
  func copy(_ source: Window, at sourceOffset: Int, to offset: Int, byteCount: Int) {
    assert(offset >= 0 && byteCount >= 0 && offset + byteCount <= count, "window: out of bounds")
    let address = unsafe source.address(of: sourceOffset, byteCount: byteCount)
    unsafe (base + offset).copyMemory(from: address, byteCount: byteCount)
  }
}

extension UnsafeMutableBufferPointer where Element: FixedWidthInteger {
  /// Allocates zeros, which the caller frees.
  static func zeros(_ count: Int) -> UnsafeMutableBufferPointer {
    let table = UnsafeMutableBufferPointer.allocate(capacity: count)
    unsafe table.initialize(repeating: 0)
    return unsafe table
  }
}
