/// A growable buffer that owns its bytes: a key under construction, a row copied out of a page, a
/// commit on its way to a WAL file.
///
/// It is a single allocation that doubles when it is full and is freed with the value. Eight
/// readable bytes of slack always follow the content (rule 3 of `Bytes`).
@safe
public struct ByteBuffer: ~Copyable, @unchecked Sendable {
  // Unchecked: the memory has a single owner, because this type cannot be copied.
  @usableFromInline var base: UnsafeMutableRawPointer
  /// The number of bytes written so far.
  @inlinable
  public var count: Int { end }
  @usableFromInline var end: Int
  @usableFromInline var capacity: Int

  @usableFromInline static let slack = 8

  /// Creates an empty buffer with room for `capacity` bytes before it has to grow.
  public init(capacity: Int = 64) {
    let capacity = max(capacity, 16)
    unsafe base = Memory.allocate(capacity + Self.slack)
    end = 0
    self.capacity = capacity
  }

  deinit {
    unsafe Memory.free(base)
  }

  /// The bytes written so far.
  ///
  /// Valid until the buffer is changed or freed. The bytes of a temporary, as in `makeKey().bytes`,
  /// dangle because the temporary is freed at its last use. Bind the buffer to a name that is used
  /// after its bytes are, or pass the buffer itself.
  @inlinable
  public var bytes: Bytes { unsafe Bytes(base: UnsafeRawPointer(base), count: count) }

  /// The bytes written so far, mutable in place.
  ///
  /// Valid until the buffer grows or is freed.
  @inlinable
  package var mutableBytes: MutableBytes { unsafe MutableBytes(base: base, count: count) }

  /// Makes room for `byteCount` more bytes.
  @inlinable
  public mutating func reserve(_ byteCount: Int) {
    if count + byteCount > capacity { grow(to: count + byteCount) }
  }

  @usableFromInline
  @inline(never)
  mutating func grow(to needed: Int) {
    let grown = max(needed, capacity * 2)
    let larger = unsafe Memory.allocate(grown + Self.slack)
    unsafe larger.copyMemory(from: base, byteCount: count)
    unsafe Memory.free(base)
    unsafe base = larger
    capacity = grown
  }

  /// Removes all content but keeps the capacity.
  public mutating func removeAll() { end = 0 }

  /// The number of bytes the buffer can hold before it has to grow.
  package var room: Int { capacity }

  /// Appends uninitialized bytes for the caller to fill.
  ///
  /// The result is valid until the buffer grows or is freed.
  package mutating func extend(by byteCount: Int) -> MutableBytes {
    reserve(byteCount)
    defer { end += byteCount }
    return unsafe MutableBytes(base: base + count, count: byteCount)
  }

  /// Drops everything after the first `byteCount` bytes.
  @inlinable
  package mutating func truncate(to byteCount: Int) {
    precondition(byteCount >= 0 && byteCount <= count, "buffer: cannot truncate to a longer length")
    end = byteCount
  }

  @inlinable
  package mutating func append(_ byte: UInt8) {
    reserve(1)
    unsafe base.storeBytes(of: byte, toByteOffset: count, as: UInt8.self)
    end += 1
  }

  @inlinable
  package mutating func append(_ bytes: Bytes) {
    bytes.checkLease()
    reserve(bytes.count)
    unsafe (base + count).copyMemory(from: bytes.base, byteCount: bytes.count)
    end += bytes.count
  }

  package mutating func append(_ array: [UInt8]) {
    reserve(array.count)
    unsafe array.withUnsafeBytes { source in
      if let start = source.baseAddress {
        unsafe (base + count).copyMemory(from: start, byteCount: source.count)
      }
    }
    end += array.count
  }

  /// Appends the UTF-8 bytes of a string.
  package mutating func append(_ string: String) {
    var string = string
    string.withUTF8 { source in
      reserve(source.count)
      if let start = source.baseAddress {
        unsafe (base + count).copyMemory(from: start, byteCount: source.count)
      }
      end += source.count
    }
  }

  @inlinable
  package mutating func append(littleEndian value: UInt16) { appendRaw(value.littleEndian) }
  @inlinable
  package mutating func append(littleEndian value: UInt32) { appendRaw(value.littleEndian) }
  @inlinable
  package mutating func append(littleEndian value: UInt64) { appendRaw(value.littleEndian) }
  @inlinable
  package mutating func append(bigEndian value: UInt32) { appendRaw(value.bigEndian) }
  @inlinable
  package mutating func append(bigEndian value: UInt64) { appendRaw(value.bigEndian) }

  @inlinable
  mutating func appendRaw<T: FixedWidthInteger>(_ value: T) {
    reserve(MemoryLayout<T>.size)
    unsafe base.storeBytes(of: value, toByteOffset: count, as: T.self)
    end += MemoryLayout<T>.size
  }

  /// Appends an unsigned varint: seven bits per byte, low bits first, the high bit set on every
  /// byte but the last.
  ///
  /// See docs/page-file-format.md, B-2.
  @inlinable
  package mutating func append(varint value: UInt64) {
    if value < 0x80 { return append(UInt8(truncatingIfNeeded: value)) }
    if value < 0x4000 {
      return append(
        littleEndian: UInt16(truncatingIfNeeded: value & 0x7F | 0x80 | (value >> 7) << 8))
    }
    append(longVarint: value)
  }

  @usableFromInline
  @inline(never)
  mutating func append(longVarint value: UInt64) {
    var rest = value
    while rest >= 0x80 {
      append(UInt8(truncatingIfNeeded: rest) | 0x80)
      rest >>= 7
    }
    append(UInt8(rest))
  }

  /// Appends a signed number as a varint, zigzag-folded so that small magnitudes of either sign
  /// stay short.
  package mutating func append(signedVarint value: Int64) {
    append(varint: UInt64(bitPattern: (value << 1) ^ (value >> 63)))
  }

  package mutating func append(zeros byteCount: Int) {
    reserve(byteCount)
    unsafe fillMemory(base + count, with: 0, byteCount: byteCount)
    end += byteCount
  }
}
