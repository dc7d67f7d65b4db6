#if Peers
  import CLMDB

  /// The bytes of a key or a value, assembled by hand in reused memory.
  @safe
  final class LMDBBuffer {
    private var memory = UnsafeMutableRawBufferPointer.allocate(byteCount: 4_096, alignment: 8)
    private(set) var count = 0

    deinit { unsafe memory.deallocate() }

    /// The bytes as LMDB takes them; valid until the buffer changes.
    @unsafe var value: MDB_val {
      unsafe MDB_val(mv_size: count, mv_data: memory.baseAddress)
    }

    /// The bytes; valid until the buffer changes.
    @unsafe var bytes: UnsafeRawBufferPointer {
      unsafe UnsafeRawBufferPointer(rebasing: memory[..<count])
    }

    @inline(__always)
    func clear() { count = 0 }

    @inline(__always)
    private func makeRoom(_ byteCount: Int) {
      guard unsafe count + byteCount > memory.count else { return }
      let larger = UnsafeMutableRawBufferPointer.allocate(
        byteCount: 2 * (count + byteCount), alignment: 8)
      unsafe larger.copyMemory(from: UnsafeRawBufferPointer(rebasing: memory[..<count]))
      unsafe memory.deallocate()
      unsafe memory = larger
    }

    @inline(__always)
    func append<Number: FixedWidthInteger & BitwiseCopyable>(_ number: Number) {
      makeRoom(MemoryLayout<Number>.size)
      unsafe memory.storeBytes(of: number.littleEndian, toByteOffset: count, as: Number.self)
      count += MemoryLayout<Number>.size
    }

    /// Appends a number so that byte order equals numeric order.
    @inline(__always)
    func append(ordered number: Int64) {
      append((UInt64(bitPattern: number) ^ 1 << 63).bigEndian)
    }

    @inline(__always)
    func append(_ bytes: UnsafeRawBufferPointer) {
      makeRoom(bytes.count)
      unsafe UnsafeMutableRawBufferPointer(rebasing: memory[count...]).copyMemory(from: bytes)
      count += bytes.count
    }

    @inline(__always)
    func append(_ string: String) {
      var string = string
      string.withUTF8 { unsafe append(UnsafeRawBufferPointer($0)) }
    }

    /// Appends a string with its length.
    @inline(__always)
    func append(counted string: String) {
      append(UInt16(truncatingIfNeeded: string.utf8.count))
      append(string)
    }
  }

  /// Reads bytes in the order in which they were appended.
  @safe
  struct LMDBReader {
    private let bytes: UnsafeRawBufferPointer
    private var offset = 0

    @inline(__always)
    init(_ bytes: UnsafeRawBufferPointer) {
      unsafe self.bytes = bytes
    }

    @inline(__always)
    mutating func number<Number: FixedWidthInteger & BitwiseCopyable>(
      _ type: Number.Type = Number.self
    ) -> Number {
      defer { offset += MemoryLayout<Number>.size }
      return unsafe Number(
        littleEndian: bytes.loadUnaligned(fromByteOffset: offset, as: Number.self))
    }

    @inline(__always)
    mutating func orderedNumber() -> Int64 {
      Int64(bitPattern: number(UInt64.self).byteSwapped ^ 1 << 63)
    }

    @inline(__always)
    mutating func raw(count: Int) -> UnsafeRawBufferPointer {
      defer { offset += count }
      return unsafe UnsafeRawBufferPointer(rebasing: bytes[offset..<offset + count])
    }

    @inline(__always)
    mutating func rest() -> UnsafeRawBufferPointer { unsafe raw(count: bytes.count - offset) }

    @inline(__always)
    mutating func string(count: Int) -> String {
      unsafe String(decoding: raw(count: count), as: UTF8.self)
    }

    @inline(__always)
    mutating func countedString() -> String { string(count: Int(number(UInt16.self))) }
  }
#endif
