/// Bytes of our own that grow: keys under construction, rows copied out of pages, commits on their
/// way to a WAL file.
///
/// One allocation, doubled when it is full, freed with the value. There are always eight readable
/// bytes of slack behind the content (rule 3 of `Bytes`).
@safe
public struct ByteBuffer: ~Copyable, @unchecked Sendable {
  // Unchecked: the memory has one owner, and this type cannot be copied.
  @usableFromInline var base: UnsafeMutableRawPointer
  /// The number of bytes written so far.
  @inlinable
  public var count: Int { end }
  @usableFromInline var end: Int
  @usableFromInline var capacity: Int

  @usableFromInline static let slack = 8

  /// An empty buffer with room for `capacity` bytes before it has to grow.
  public init(capacity: Int = 64) {
    let capacity = max(capacity, 16)
    unsafe base = Memory.allocate(capacity + Self.slack)
    end = 0
    self.capacity = capacity
  }

  deinit {
    unsafe Memory.free(base)
  }

  /// What has been written.
  ///
  /// Valid until the buffer is changed or freed: the bytes of a temporary, as in `makeKey().bytes`,
  /// dangle, because it is freed at its last use. Give the buffer a name that is used behind them,
  /// or pass the buffer itself.
  @inlinable
  public var bytes: Bytes { unsafe Bytes(base: UnsafeRawPointer(base), count: count) }

  /// What has been written, for changing it in place.
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
  mutating func grow(to needed: Int) {
    let grown = max(needed, capacity * 2)
    let larger = unsafe Memory.allocate(grown + Self.slack)
    unsafe larger.copyMemory(from: base, byteCount: count)
    unsafe Memory.free(base)
    unsafe base = larger
    capacity = grown
  }

  /// Forgets the content and keeps the room.
  public mutating func removeAll() { end = 0 }

  /// How many bytes there is room for before it has to grow.
  package var room: Int { capacity }

  /// Adds bytes that are undefined until the caller has filled them.
  ///
  /// Valid until the buffer grows or is freed.
  package mutating func extend(by byteCount: Int) -> MutableBytes {
    reserve(byteCount)
    defer { end += byteCount }
    return unsafe MutableBytes(base: base + count, count: byteCount)
  }

  /// Forgets everything behind the first `byteCount` bytes.
  @inlinable
  package mutating func truncate(to byteCount: Int) {
    precondition(byteCount >= 0 && byteCount <= count, "a buffer cannot be truncated upwards")
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

  /// The UTF-8 bytes of a string.
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

  /// An unsigned number, seven bits a byte, low end first, the high bit set on all but the last.
  ///
  /// See docs/page-file-format.md, B-2.
  @inlinable
  package mutating func append(varint value: UInt64) {
    if value < 0x80 { return append(UInt8(truncatingIfNeeded: value)) }
    append(longVarint: value)
  }

  @usableFromInline
  mutating func append(longVarint value: UInt64) {
    var rest = value
    while rest >= 0x80 {
      append(UInt8(truncatingIfNeeded: rest) | 0x80)
      rest >>= 7
    }
    append(UInt8(rest))
  }

  /// A signed number, folded so that small ones of either sign stay short, as a varint.
  package mutating func append(signedVarint value: Int64) {
    append(varint: UInt64(bitPattern: (value << 1) ^ (value >> 63)))
  }

  package mutating func append(zeros byteCount: Int) {
    reserve(byteCount)
    unsafe (base + count).initializeMemory(as: UInt8.self, repeating: 0, count: byteCount)
    end += byteCount
  }
}
