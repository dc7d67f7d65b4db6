package import PageFile

/// A record that says its fields once, for reading, writing, and describing them.
package protocol FieldRecord {
  /// Creates a record to be read into.
  init()
  /// Visits the fields in their stored order.
  mutating func visit(_ fields: inout (some FieldVisitor & ~Copyable))
}

extension FieldRecord {
  /// Decodes a record.
  ///
  /// Returns nil if the bytes are not a valid one; never traps.
  package init?(_ bytes: Bytes) {
    self.init()
    var fields = FieldReader(ByteReader(bytes))
    visit(&fields)
    guard fields.isComplete else { return nil }
  }

  /// Returns true if the bytes are a valid record, without making its texts.
  ///
  /// For records whose rules do not depend on the values of their texts.
  package static func isValid(_ bytes: Bytes) -> Bool {
    var record = Self()
    var fields = FieldReader(ByteReader(bytes))
    fields.keepsBytes = false
    record.visit(&fields)
    return fields.isComplete
  }

  /// Decodes a part of a record.
  ///
  /// Returns nil if the reader is not at a valid one; never traps.
  package init?(_ reader: inout ByteReader) {
    self.init()
    var fields = FieldReader(reader)
    visit(&fields)
    guard !fields.hasFailed else { return nil }
    reader = fields.reader
  }

  /// Appends the record.
  package func append(to buffer: inout ByteBuffer) {
    var record = self
    var fields = FieldWriter(buffer)
    record.visit(&fields)
    buffer = fields.finishRecord()
  }
}

extension FieldRecord where Self: Equatable {
  /// Appends the record, and asserts that it decodes to the same value.
  func appendChecked(to buffer: inout ByteBuffer) {
    let start = buffer.count
    append(to: &buffer)
    assert(
      Self(buffer.bytes.dropFirst(start)) == self,
      "\(Self.self): decoded record differs from the written one")
  }
}

/// Reads the fields of a record from bytes that have not been validated.
///
/// Once it has failed it is at the end, so every further field fails, too.
package struct FieldReader: FieldVisitor {
  private(set) var reader: ByteReader
  package private(set) var hasFailed = false
  /// False to check texts and bytes, and to leave the values of their fields as they are.
  var keepsBytes = true
  private var flags: UInt64 = 0
  /// The flags that the record has asked for; no others may be set.
  private var known: UInt64 = 0

  package init(_ reader: ByteReader) { self.reader = reader }

  /// The number of bytes that were not read yet.
  package var remainingByteCount: Int { reader.remainingByteCount }

  /// True if the bytes are one valid record.
  package var isComplete: Bool { !hasFailed && reader.isAtEnd && flags & ~known == 0 }

  private static var maximumReservedCount: Int { 64 }

  private mutating func fail() {
    hasFailed = true
    _ = reader.rest()
  }

  private mutating func number(_ length: FieldLength) -> UInt64? {
    switch length {
    case .byte: reader.byte().map(UInt64.init)
    case .uint16: reader.uint16().map(UInt64.init)
    case .uint32: reader.uint32().map(UInt64.init)
    case .varint: reader.varint()
    case .rest: UInt64(reader.remainingByteCount)
    }
  }

  @inline(__always)
  package mutating func fixed<T: FixedWidthInteger>(_ value: inout T, _ field: StaticString) {
    let bits: UInt64? =
      switch T.bitWidth {
      case 8: number(.byte)
      case 16: number(.uint16)
      case 32: number(.uint32)
      default: reader.uint64()
      }
    guard let bits else { return fail() }
    value = T(truncatingIfNeeded: bits)
  }

  @inline(__always)
  package mutating func varint<T: FixedWidthInteger>(
    _ value: inout T, maximum: T, _ field: StaticString
  ) {
    guard let number = reader.varint(), number <= UInt64(maximum) else { return fail() }
    value = T(truncatingIfNeeded: number)
  }

  package mutating func signedVarint<T: FixedWidthInteger & SignedInteger>(
    _ value: inout T, _ field: StaticString
  ) {
    guard let number = reader.signedVarint().flatMap(T.init(exactly:)) else { return fail() }
    value = number
  }

  @inline(__always)
  package mutating func bytes<T: FieldBytes>(
    _ value: inout T, _ length: FieldLength, in byteCounts: ClosedRange<Int>,
    _ field: StaticString
  ) {
    guard let byteCount = number(length), byteCount <= UInt64(reader.remainingByteCount),
      byteCounts.contains(Int(byteCount)), let bytes = reader.take(Int(byteCount))
    else { return fail() }
    if !keepsBytes {
      if !T.isValid(field: bytes) { fail() }
    } else if let decoded = T(field: bytes) {
      value = decoded
    } else {
      fail()
    }
  }

  @inline(__always)
  package mutating func elements<T>(
    _ elements: inout [T], of empty: T, count: Int, _ field: StaticString,
    _ visit: (inout Self, inout T) -> Void
  ) {
    // Each takes a byte at least. A count alone reserves little, as an element may be many times
    // larger in memory than its bytes.
    guard count <= reader.remainingByteCount else { return fail() }
    elements.reserveCapacity(min(count, Self.maximumReservedCount))
    for _ in 0..<count {
      if hasFailed { return }
      var element = empty
      visit(&self, &element)
      elements.append(element)
    }
  }

  package mutating func flags(_ length: FieldLength) {
    guard let flags = number(length) else { return fail() }
    self.flags = flags
  }

  package mutating func bits(_ mask: UInt64, _ set: UInt64) -> UInt64 {
    known |= mask
    return flags & mask
  }

  package mutating func lastMark(_ isSet: inout Bool, _ field: StaticString) {
    isSet = !reader.isAtEnd
    if isSet, reader.byte() != 1 { fail() }
  }

  package mutating func zeros() {
    let rest = reader.rest()
    if rest.firstNonzero(at: 0) != rest.count { fail() }
  }

  @inline(__always)
  package mutating func require(_ isValid: @autoclosure () -> Bool) { if !isValid() { fail() } }
}

/// Writes the fields of a record.
struct FieldWriter: FieldVisitor, ~Copyable {
  private var buffer: ByteBuffer
  private var flags: UInt64 = 0
  /// The place of the flags, which are known when all fields were visited.
  private var flagsOffset = 0
  private var flagsLength: FieldLength?

  init(_ buffer: consuming ByteBuffer) { self.buffer = buffer }

  /// Returns the buffer with the whole record.
  consuming func finishRecord() -> ByteBuffer {
    if let flagsLength { storeFlags(flagsLength) }
    return buffer
  }

  private mutating func storeFlags(_ length: FieldLength) {
    if length == .uint16 { return buffer.mutableBytes.store(UInt16(flags), at: flagsOffset) }
    assert(length != .varint || flags < 1 << 14, "flags: longer than two bytes")
    var low = UInt8(truncatingIfNeeded: flags)
    if length == .varint, flags >= 0x80 {
      let rest = flagsOffset + 1
      buffer.append(0)
      let bytes = buffer.mutableBytes
      bytes.move(from: rest, to: rest + 1, byteCount: bytes.count - rest - 1)
      bytes[rest] = UInt8(flags >> 7)
      low |= 0x80
    }
    buffer.mutableBytes[flagsOffset] = low
  }

  private mutating func append(_ number: UInt64, _ length: FieldLength) {
    switch length {
    case .byte: buffer.append(UInt8(truncatingIfNeeded: number))
    case .uint16: buffer.append(littleEndian: UInt16(truncatingIfNeeded: number))
    case .uint32: buffer.append(littleEndian: UInt32(truncatingIfNeeded: number))
    case .varint: buffer.append(varint: number)
    case .rest: break
    }
  }

  @inline(__always)
  mutating func fixed<T: FixedWidthInteger>(_ value: inout T, _ field: StaticString) {
    let bits = UInt64(truncatingIfNeeded: value)
    switch T.bitWidth {
    case 8: append(bits, .byte)
    case 16: append(bits, .uint16)
    case 32: append(bits, .uint32)
    default: buffer.append(littleEndian: bits)
    }
  }

  @inline(__always)
  mutating func varint<T: FixedWidthInteger>(
    _ value: inout T, maximum: T, _ field: StaticString
  ) {
    buffer.append(varint: UInt64(clamping: value))
  }

  mutating func signedVarint<T: FixedWidthInteger & SignedInteger>(
    _ value: inout T, _ field: StaticString
  ) {
    buffer.append(signedVarint: Int64(value))
  }

  @inline(__always)
  mutating func bytes<T: FieldBytes>(
    _ value: inout T, _ length: FieldLength, in byteCounts: ClosedRange<Int>,
    _ field: StaticString
  ) {
    append(UInt64(value.byteCount), length)
    value.append(field: &buffer)
  }

  @inline(__always)
  mutating func elements<T>(
    _ elements: inout [T], of empty: T, count: Int, _ field: StaticString,
    _ visit: (inout Self, inout T) -> Void
  ) {
    for var element in elements { visit(&self, &element) }
  }

  mutating func flags(_ length: FieldLength) {
    (flagsOffset, flagsLength) = (buffer.count, length)
    append(0, length)
  }

  mutating func bits(_ mask: UInt64, _ set: UInt64) -> UInt64 {
    flags |= set
    return set
  }

  mutating func lastMark(_ isSet: inout Bool, _ field: StaticString) {
    if isSet { buffer.append(1) }
  }

  mutating func zeros() {}
  @inline(__always)
  mutating func require(_ isValid: @autoclosure () -> Bool) {}
}

/// Values that are a number of fixed width.
extension FieldRecord where Self: FixedWidthInteger {
  package mutating func visit(_ fields: inout (some FieldVisitor & ~Copyable)) {
    fields.fixed(&self, "number")
  }
}

extension UInt32: FieldRecord {}
extension UInt64: FieldRecord {}
