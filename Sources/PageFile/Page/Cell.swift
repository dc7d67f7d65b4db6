/// A cell on its way into a page.
///
/// See docs/page-file-format.md, P-7 … P-12.
///
///     leaf cell, value in the page      varint suffix byte count, suffix,
///                                       varint value byte count × 2, value
///     leaf cell, value in a chain       varint suffix byte count, suffix,
///                                       varint value byte count × 2 + 1, first overflow page u32
///     branch cell                       varint suffix byte count, suffix, child page u32
///
/// The suffix is the key without the prefix of the page, so the same cell takes different room on
/// different pages. Whether a value goes to a chain is decided by the length of the whole key:
///
///  1. With its whole key and its pointer, a cell takes at most a quarter of a page. So a page has
///     room for four cells whatever becomes of its prefix, and a split always yields two that fit.
///  2. Varints are as short as they can be: one encoding for one number.
package struct Cell {
  package let key: CellKey
  package let payload: CellPayload

  package init(_ key: CellKey, _ payload: CellPayload) {
    self.key = key
    self.payload = payload
  }

  /// The longest key, in bytes.
  package static let keyByteCountMax = 512
  /// The longest value, in bytes: half of what one write transaction may change.
  package static let valueByteCountMax = 32 << 20

  /// Bytes of one entry of the cell pointer array.
  package static let pointerByteCount = 2

  /// The most that a cell may take with its whole key and its pointer.
  package static func byteCountMax(pageSize: Int) -> Int {
    (pageSize &- PageHeader.byteCount) / 4
  }

  /// Whether rule 1 lets a value stay in the page.
  package static func fitsInline(keyByteCount: Int, valueByteCount: Int, pageSize: Int) -> Bool {
    let valueVarint = varintByteCount(valueByteCount << 1)
    let cell = varintByteCount(keyByteCount) + keyByteCount + valueVarint + valueByteCount
    return cell + pointerByteCount <= byteCountMax(pageSize: pageSize)
  }

  /// The longest value that rule 1 lets stay in the page with a key of that length.
  package static func valueByteCountMax(keyByteCount: Int, pageSize: Int) -> Int {
    let rest =
      byteCountMax(pageSize: pageSize) - pointerByteCount
      - varintByteCount(keyByteCount) - keyByteCount
    return rest - varintByteCount(rest << 1)
  }

  /// What is left of the key behind a prefix.
  ///
  /// A branch page's first cell has no key to begin with.
  private func suffixByteCount(behind prefixByteCount: Int) -> Int {
    max(0, key.byteCount - prefixByteCount)
  }

  /// The room the cell takes on a page with a prefix of that many bytes, without its pointer.
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

/// What a cell holds behind its suffix: at most eight bytes made for it, then bytes that lie
/// elsewhere.
///
/// Neither kind of cell needs memory of its own this way.
package struct CellPayload {
  /// The first bytes, low end first.
  private let start: UInt64
  private let startByteCount: Int
  private let rest: Bytes

  package var byteCount: Int { startByteCount + rest.count }

  /// A value that stays in the page.
  package static func value(_ value: Bytes) -> CellPayload {
    let (start, startByteCount) = varint(value.count << 1)
    return CellPayload(start: start, startByteCount: startByteCount, rest: value)
  }

  /// A value of that many bytes in a chain.
  package static func overflow(byteCount: Int, first: PageNumber) -> CellPayload {
    let (start, startByteCount) = varint(byteCount << 1 | 1)
    return CellPayload(
      start: start | UInt64(first.rawValue) << UInt64(8 * startByteCount),
      startByteCount: startByteCount + 4, rest: .empty)
  }

  /// The child of a branch cell.
  package static func child(_ number: PageNumber) -> CellPayload {
    CellPayload(start: UInt64(number.rawValue), startByteCount: 4, rest: .empty)
  }

  /// What another cell holds.
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

  /// A varint as the bytes of a number, low end first.
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
