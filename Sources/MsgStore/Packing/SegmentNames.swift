import PageFile

/// The column of the names of a segment's messages.
///
/// A packed name is decoded only when it is asked for. Names stored as text build upon each other,
/// so all of them are decoded at once.
package struct SegmentNames: ~Copyable {
  private var kind = NameKind.text
  /// For packed names, the whole first name, then the bytes of the others after those that all
  /// share.
  ///
  /// For text, all names one after the other, see `SegmentRow.nameOffset`.
  private var buffer = ByteBuffer(capacity: 16)
  private var width = 0
  private var restByteCount = 0
  /// The first packed name, as 128 bits or the 120 of a push id, and a mask of the bits that the
  /// other names do not share.
  private var first: (high: UInt64, low: UInt64) = (0, 0)
  private var restMask: (high: UInt64, low: UInt64) = (0, 0)

  /// Reads the column.
  ///
  /// Returns false if the bytes are not a valid column.
  ///
  /// - Parameter first: The name of the first message.
  mutating func read(
    _ columns: inout ColumnReader, _ rows: inout SegmentRows, _ first: Bytes
  ) -> Bool {
    guard let code = columns.byte(), let kind = NameKind(rawValue: code) else { return false }
    self.kind = kind
    buffer.removeAll()
    guard kind != .text else { return readTexts(&columns, &rows, first) }
    width = kind.packedByteCount
    buffer.reserve(width + rows.count * width)
    guard kind.pack(first, to: &buffer), let sharedByteCount = columns.byte(),
      Int(sharedByteCount) <= width
    else { return false }
    restByteCount = width - Int(sharedByteCount)
    guard let rest = columns.take(restByteCount * (rows.count - 1)) else { return false }
    self.first = Self.number(buffer.bytes, byteCount: width)
    restMask = Self.mask(restByteCount)
    buffer.append(rest)
    for index in 0..<rows.count { rows[index].nameByteCount = UInt8(first.count) }
    return true
  }

  private mutating func readTexts(
    _ columns: inout ColumnReader, _ rows: inout SegmentRows, _ first: Bytes
  ) -> Bool {
    guard first.isText else { return false }
    // Most names of a thread are about as long as the first.
    buffer.reserve(rows.count * (first.count + 2))
    buffer.append(first)
    (rows[0].nameOffset, rows[0].nameByteCount) = (0, UInt8(first.count))
    var (offset, beforeByteCount) = (0, first.count)
    // A name is ASCII if all before it are, and the bytes that it adds.
    var isASCII = first.isASCII
    for index in 1..<rows.count {
      guard let lengths = columns.byte() else { return false }
      var (shared, rest) = (Int(lengths >> 4), Int(lengths & 15))
      if shared == 15 {
        guard let byte = columns.byte() else { return false }
        shared = Int(byte)
      }
      if rest == 15 {
        guard let byte = columns.byte() else { return false }
        rest = Int(byte)
      }
      guard shared <= beforeByteCount, (1...Identifier.maximumByteCount).contains(shared + rest),
        let bytes = columns.take(rest)
      else { return false }
      // Growing would move the bytes that are copied.
      buffer.reserve(shared + rest)
      buffer.append(buffer.bytes.slice(offset, shared))
      buffer.append(bytes)
      offset += beforeByteCount
      beforeByteCount = shared + rest
      isASCII = isASCII && bytes.isASCII
      guard isASCII || buffer.bytes.dropFirst(offset).isText else { return false }
      (rows[index].nameOffset, rows[index].nameByteCount) = (
        Int32(truncatingIfNeeded: offset), UInt8(truncatingIfNeeded: beforeByteCount)
      )
    }
    return true
  }

  /// Appends the name of a message.
  @inline(__always)
  func append(_ row: SegmentRow, _ index: Int, to target: inout ByteBuffer) {
    guard kind != .text else {
      return target.append(buffer.bytes.slice(Int(row.nameOffset), Int(row.nameByteCount)))
    }
    let (high, low) = number(index)
    switch kind {
    case .pushID: PushIDBytes.append(high, low, to: &target)
    case .uuid: UUIDBytes.append(high, low, isUpper: false, to: &target)
    default: UUIDBytes.append(high, low, isUpper: true, to: &target)
    }
  }

  /// Returns the packed name of a message as one number.
  @inline(__always)
  private func number(_ index: Int) -> (high: UInt64, low: UInt64) {
    var (high, low) = first
    if index > 0, restByteCount > 0 {
      // The end is at least 16. The name's own bytes lie before it.
      let end = width &+ restByteCount &* index
      high ^= (high ^ buffer.bytes.bigEndian64(at: end &- 16)) & restMask.high
      low ^= (low ^ buffer.bytes.bigEndian64(at: end &- 8)) & restMask.low
    }
    return (high, low)
  }

  /// Returns true if the name of a message comes after that of the previous one.
  ///
  /// Packed names sort as their numbers.
  @inline(__always)
  func isAscending(_ rows: borrowing SegmentRows, to index: Int) -> Bool {
    if kind != .text { return number(index &- 1) < number(index) }
    let (a, b) = (rows[index &- 1], rows[index])
    let name = buffer.bytes.slice(Int(a.nameOffset), Int(a.nameByteCount))
    return name.compare(to: buffer.bytes.slice(Int(b.nameOffset), Int(b.nameByteCount))) < 0
  }

  /// Returns the first 15 or 16 bytes as one big-endian number.
  private static func number(_ bytes: Bytes, byteCount: Int) -> (high: UInt64, low: UInt64) {
    (
      bytes.bigEndian64(at: 0) >> UInt64((16 - byteCount) * 8),
      bytes.bigEndian64(at: byteCount - 8)
    )
  }

  /// Returns a mask of the lowest `byteCount` of sixteen bytes.
  private static func mask(_ byteCount: Int) -> (high: UInt64, low: UInt64) {
    (
      byteCount >= 16 ? ~0 : byteCount <= 8 ? 0 : 1 << UInt64((byteCount &- 8) &* 8) &- 1,
      byteCount >= 8 ? ~0 : 1 << UInt64(byteCount &* 8) &- 1
    )
  }
}
