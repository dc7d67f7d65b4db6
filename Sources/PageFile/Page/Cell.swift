/// A cell to be written into a page.
///
/// See docs/page-file-format.md, P-7 … P-12.
///
///     leaf cell, value in the page      varint suffix byte count, suffix,
///                                       varint value byte count × 2, value
///     leaf cell, value in a chain       varint suffix byte count, suffix,
///                                       varint value byte count × 2 + 1, first overflow page u32
///     branch cell                       varint suffix byte count, suffix, child page u32
///
/// The suffix is the key without the page's prefix, so the same cell takes different room on
/// different pages. The length of the whole key decides if a value goes to a chain:
///
///  1. With its whole key and its pointer, a cell takes at most a quarter of a page. So a page has
///     room for four cells even if its prefix shrinks, and a split always yields two pages that
///     fit.
///  2. Varints are as short as possible: each number has exactly one encoding.
package struct Cell {
  package let key: CellKey
  package let payload: CellPayload

  package init(_ key: CellKey, _ payload: CellPayload) {
    self.key = key
    self.payload = payload
  }

  /// The longest key, in bytes.
  package static let maximumKeyByteCount = 512
  /// The longest value, in bytes: half of what one write transaction may change.
  package static let maximumValueByteCount = 32 << 20

  /// The size of an entry of the cell pointer array, in bytes.
  package static let pointerByteCount = 2

  /// Returns the most bytes that a cell may take with its whole key and its pointer, on a page of
  /// this content size.
  package static func maximumByteCount(pageSize: Int) -> Int {
    (pageSize &- PageHeader.byteCount) / 4
  }

  /// Returns true if rule 1 allows a value to stay in the page.
  package static func fitsInline(keyByteCount: Int, valueByteCount: Int, pageSize: Int) -> Bool {
    let valueVarint = varintByteCount(valueByteCount << 1)
    let cell = varintByteCount(keyByteCount) + keyByteCount + valueVarint + valueByteCount
    return cell + pointerByteCount <= maximumByteCount(pageSize: pageSize)
  }

  /// Returns the length of the longest value that rule 1 allows in the page with a key of that
  /// length.
  package static func maximumValueByteCount(keyByteCount: Int, pageSize: Int) -> Int {
    let rest =
      maximumByteCount(pageSize: pageSize) - pointerByteCount
      - varintByteCount(keyByteCount) - keyByteCount
    return rest - varintByteCount(rest << 1)
  }

  /// Returns the length of the key after a prefix.
  ///
  /// The first cell of a branch page has an empty key, so its suffix is empty too.
  private func suffixByteCount(behind prefixByteCount: Int) -> Int {
    max(0, key.byteCount - prefixByteCount)
  }

  /// Returns the bytes that the cell takes, without its pointer, on a page with a prefix of that
  /// length.
  package func byteCount(dropping prefixByteCount: Int) -> Int {
    let suffixByteCount = suffixByteCount(behind: prefixByteCount)
    return Cell.varintByteCount(suffixByteCount) + suffixByteCount + payload.byteCount
  }

  /// Writes the cell at `offset`.
  package func write(dropping prefixByteCount: Int, to bytes: MutableBytes, at offset: Int) {
    let suffixByteCount = suffixByteCount(behind: prefixByteCount)
    var offset = offset
    if suffixByteCount < 0x80 {
      bytes[offset] = UInt8(suffixByteCount)
      offset += 1
    } else {
      bytes[offset] = UInt8(suffixByteCount & 0x7F) | 0x80
      bytes[offset + 1] = UInt8(suffixByteCount >> 7)
      offset += 2
    }
    key.write(dropping: prefixByteCount, to: bytes, at: offset)
    payload.write(to: bytes, at: offset + suffixByteCount)
  }

  package static func varintByteCount(_ value: Int) -> Int {
    value < 1 << 7 ? 1 : value < 1 << 14 ? 2 : value < 1 << 21 ? 3 : 4
  }
}

/// The part of a cell after its suffix: at most eight bytes stored here, then bytes that lie
/// elsewhere.
///
/// So neither a leaf cell nor a branch cell needs memory of its own.
package struct CellPayload {
  /// The first bytes, low end first.
  private let start: UInt64
  private let startByteCount: Int
  private let rest: Bytes

  package var byteCount: Int { startByteCount + rest.count }

  /// Returns the payload for a value that stays in the page.
  package static func value(_ value: Bytes) -> CellPayload {
    let (start, startByteCount) = varint(value.count << 1)
    return CellPayload(start: start, startByteCount: startByteCount, rest: value)
  }

  /// Returns the payload for a value of that many bytes in an overflow chain.
  package static func overflow(byteCount: Int, first: PageNumber) -> CellPayload {
    let (start, startByteCount) = varint(byteCount << 1 | 1)
    return CellPayload(
      start: start | UInt64(first.rawValue) << UInt64(8 * startByteCount),
      startByteCount: startByteCount + 4, rest: .empty)
  }

  /// Returns the payload of a branch cell with that child.
  package static func child(_ number: PageNumber) -> CellPayload {
    CellPayload(start: UInt64(number.rawValue), startByteCount: 4, rest: .empty)
  }

  /// Returns the payload of another cell, already encoded.
  package static func copied(_ payload: Bytes) -> CellPayload {
    CellPayload(start: 0, startByteCount: 0, rest: payload)
  }

  package func write(to bytes: MutableBytes, at offset: Int) {
    var start = start
    for byte in 0..<startByteCount {
      bytes[offset + byte] = UInt8(truncatingIfNeeded: start)
      start >>= 8
    }
    bytes.copy(rest, to: offset + startByteCount)
  }

  /// Encodes a varint into the bytes of a number, low end first.
  private static func varint(_ value: Int) -> (bits: UInt64, byteCount: Int) {
    var bits: UInt64 = 0
    let byteCount = Cell.varintByteCount(value)
    for byte in 0..<byteCount {
      let more: UInt64 = byte + 1 < byteCount ? 0x80 : 0
      bits |= (UInt64(value >> (7 * byte)) & 0x7F | more) << UInt64(8 * byte)
    }
    return (bits, byteCount)
  }
}
