/// A view of bytes that it does not own: a page in memory, a key, a value.
///
/// The engine's hot paths read pages in place, and a cursor has to remember the pages it stands on.
/// A `Span` cannot be stored there, and an array would be copied or reference-counted. So pages
/// travel as this plain pair of address and length. Every access is checked against the length, so
/// a mistake in the code that reads a page traps at worst and never reads foreign memory.
///
///  1. The owner that hands out `Bytes` documents how long they live. In debug builds the bytes of
///     a page carry the bracket that handed them out, and an access after its end traps; see
///     `PageLease`.
///  2. The bytes do not change while a reader may access them.
///  3. At least eight readable bytes follow the end of a page in memory, so `bigEndianHead` may
///     load a whole word at any offset of the page.
@safe
public struct Bytes: @unchecked Sendable {
  // Unchecked: an immutable view; rule 2 makes sharing it sound.
  @usableFromInline let base: UnsafeRawPointer
  /// The number of bytes.
  public let count: Int
  #if DEBUG
    @usableFromInline var lease = PageLease.unlimited
  #endif

  @inlinable @unsafe
  package init(base: UnsafeRawPointer, count: Int) {
    unsafe self.base = base
    self.count = count
  }

  /// Traps in debug builds if the page's bracket has ended.
  @inlinable @inline(__always)
  func checkLease() {
    #if DEBUG
      precondition(!lease.isOver, "page: read after its bracket ended")
    #endif
  }

  /// Creates a view of a buffer's bytes, valid for as long as the buffer lives.
  @inlinable @unsafe
  package init(_ buffer: UnsafeRawBufferPointer) {
    guard let start = buffer.baseAddress else {
      self = .empty
      return
    }
    unsafe self.init(base: start, count: buffer.count)
  }

  /// A view of zero bytes.
  @inlinable
  package static var empty: Bytes {
    unsafe Bytes(base: UnsafeRawPointer(bitPattern: 8).unsafelyUnwrapped, count: 0)
  }

  @inlinable
  package func checkRange(_ offset: Int, _ byteCount: Int) {
    checkLease()
    precondition(
      offset >= 0 && byteCount >= 0 && offset <= count && byteCount <= count - offset,
      "bytes: range out of bounds")
  }

  /// The byte at an offset.
  ///
  /// Traps outside `0 ..< count`.
  @inlinable
  public subscript(offset: Int) -> UInt8 {
    checkLease()
    precondition(offset >= 0 && offset < count, "bytes: offset out of bounds")
    return unsafe base.load(fromByteOffset: offset, as: UInt8.self)
  }

  @inlinable
  package func uint16(at offset: Int) -> UInt16 {
    checkRange(offset, 2)
    return UInt16(littleEndian: unsafe base.loadUnaligned(fromByteOffset: offset, as: UInt16.self))
  }

  @inlinable
  package func uint32(at offset: Int) -> UInt32 {
    checkRange(offset, 4)
    return UInt32(littleEndian: unsafe base.loadUnaligned(fromByteOffset: offset, as: UInt32.self))
  }

  @inlinable
  package func uint64(at offset: Int) -> UInt64 {
    checkRange(offset, 8)
    return UInt64(littleEndian: unsafe base.loadUnaligned(fromByteOffset: offset, as: UInt64.self))
  }

  /// Returns eight bytes as one big-endian number, the form in which keys are compared.
  @inlinable
  package func bigEndian64(at offset: Int) -> UInt64 {
    checkRange(offset, 8)
    return UInt64(bigEndian: unsafe base.loadUnaligned(fromByteOffset: offset, as: UInt64.self))
  }

  /// Returns up to eight bytes from `offset` as one big-endian number, padded with zeros at its low
  /// end.
  ///
  /// Only for bytes within a page or a `ByteBuffer`; see rule 3.
  @inlinable @inline(__always)
  package func bigEndianHead(at offset: Int, byteCount: Int) -> UInt64 {
    checkRange(offset, byteCount)
    let word = UInt64(
      bigEndian: unsafe base.loadUnaligned(fromByteOffset: offset, as: UInt64.self))
    return byteCount >= 8 ? word : byteCount == 0 ? 0 : word & (~0 << UInt64(64 - byteCount * 8))
  }

  /// Returns `byteCount` bytes from `offset` on, without copying them.
  @inlinable
  package func slice(_ offset: Int, _ byteCount: Int) -> Bytes {
    checkRange(offset, byteCount)
    #if DEBUG
      var part = unsafe Bytes(base: base + offset, count: byteCount)
      part.lease = lease
      return part
    #else
      return unsafe Bytes(base: base + offset, count: byteCount)
    #endif
  }

  @inlinable
  package func dropFirst(_ byteCount: Int) -> Bytes { slice(byteCount, count - byteCount) }

  /// Compares byte by byte: the result is negative, zero or positive, and a prefix orders first.
  @inlinable
  package func compare(to other: Bytes) -> Int {
    let shared = min(count, other.count)
    var offset = 0
    while offset + 8 <= shared {
      let mine = bigEndian64(at: offset)
      let theirs = other.bigEndian64(at: offset)
      if mine != theirs { return mine < theirs ? -1 : 1 }
      offset += 8
    }
    while offset < shared {
      let mine = self[offset]
      let theirs = other[offset]
      if mine != theirs { return mine < theirs ? -1 : 1 }
      offset += 1
    }
    return count - other.count
  }

  /// Returns the length of the longest common prefix.
  @inlinable
  package func sharedPrefixByteCount(with other: Bytes) -> Int {
    let shared = min(count, other.count)
    var offset = 0
    while offset + 8 <= shared {
      let difference = bigEndian64(at: offset) ^ other.bigEndian64(at: offset)
      if difference != 0 { return offset + difference.leadingZeroBitCount / 8 }
      offset += 8
    }
    while offset < shared && self[offset] == other[offset] { offset += 1 }
    return offset
  }

  @inlinable
  package func hasPrefix(_ prefix: Bytes) -> Bool {
    prefix.count <= count && slice(0, prefix.count).compare(to: prefix) == 0
  }

  /// Returns a copy of the bytes.
  @inlinable
  public func array() -> [UInt8] {
    checkLease()
    return unsafe [UInt8](UnsafeRawBufferPointer(start: base, count: count))
  }

  /// Calls `body` with the bytes as a buffer, for calls into the system or C code.
  @inlinable @unsafe
  package func withUnsafeBytes<R, E: Error>(
    _ body: (UnsafeRawBufferPointer) throws(E) -> R
  ) throws(E) -> R {
    checkLease()
    return unsafe try body(UnsafeRawBufferPointer(start: base, count: count))
  }

  /// Calls `body` with a view of a copy of an array's bytes.
  ///
  /// The copy has the slack that rule 3 requires, so the view may be used as a key.
  package static func with<R, E: Error>(
    _ array: [UInt8], _ body: (Bytes) throws(E) -> R
  ) throws(E) -> R {
    var buffer = ByteBuffer(capacity: array.count)
    buffer.append(array)
    return try body(buffer.bytes)
  }
}

/// A writable view of bytes that it does not own: a dirty page, a transfer buffer.
@safe
public struct MutableBytes {
  @usableFromInline let base: UnsafeMutableRawPointer
  /// The number of bytes.
  public let count: Int

  @inlinable @unsafe
  package init(base: UnsafeMutableRawPointer, count: Int) {
    unsafe self.base = base
    self.count = count
  }

  /// A read-only view of the same bytes.
  @inlinable
  public var readOnly: Bytes { unsafe Bytes(base: UnsafeRawPointer(base), count: count) }

  /// The byte at an offset.
  ///
  /// Traps outside `0 ..< count`.
  @inlinable
  public subscript(offset: Int) -> UInt8 {
    get { readOnly[offset] }
    nonmutating set {
      precondition(offset >= 0 && offset < count, "bytes: offset out of bounds")
      unsafe base.storeBytes(of: newValue, toByteOffset: offset, as: UInt8.self)
    }
  }

  @inlinable
  package func store(_ value: UInt16, at offset: Int) {
    readOnly.checkRange(offset, 2)
    unsafe base.storeBytes(of: value.littleEndian, toByteOffset: offset, as: UInt16.self)
  }

  @inlinable
  package func store(_ value: UInt32, at offset: Int) {
    readOnly.checkRange(offset, 4)
    unsafe base.storeBytes(of: value.littleEndian, toByteOffset: offset, as: UInt32.self)
  }

  @inlinable
  package func store(_ value: UInt64, at offset: Int) {
    readOnly.checkRange(offset, 8)
    unsafe base.storeBytes(of: value.littleEndian, toByteOffset: offset, as: UInt64.self)
  }

  /// Copies `source` to `offset`; the two may overlap.
  @inlinable
  package func copy(_ source: Bytes, to offset: Int) {
    readOnly.checkRange(offset, source.count)
    source.checkLease()
    unsafe (base + offset).copyMemory(from: source.base, byteCount: source.count)
  }

  /// Moves bytes within this buffer; the two ranges may overlap.
  @inlinable
  package func move(from source: Int, to target: Int, byteCount: Int) {
    copy(readOnly.slice(source, byteCount), to: target)
  }

  /// Fills `byteCount` bytes from `offset` on with zeros.
  @inlinable
  package func zero(_ offset: Int, _ byteCount: Int) {
    readOnly.checkRange(offset, byteCount)
    unsafe fillMemory(base + offset, with: 0, byteCount: byteCount)
  }

  @inlinable
  package func slice(_ offset: Int, _ byteCount: Int) -> MutableBytes {
    readOnly.checkRange(offset, byteCount)
    return unsafe MutableBytes(base: base + offset, count: byteCount)
  }

  @inlinable @unsafe
  package func withUnsafeMutableBytes<R, E: Error>(
    _ body: (UnsafeMutableRawBufferPointer) throws(E) -> R
  ) throws(E) -> R {
    unsafe try body(UnsafeMutableRawBufferPointer(start: base, count: count))
  }
}
