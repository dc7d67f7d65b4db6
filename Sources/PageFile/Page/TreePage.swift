/// A branch or leaf page, read in place.
///
/// See docs/page-file-format.md, P-7 … P-12.
///
///     offset                 field
///      0 ..< 32              header, see `PageHeader`
///     32 ..< 32 + 2n         cell pointers: offsets of the n cells, in the order of their keys
///          ..< area start    free, all zeros
///          ..< size − prefix cell area: cells in any order, and freed bytes, which are zeros
///          ..< size          the prefix that all keys of the page share
///
/// For cells see `Cell`. New cells go to the low end of the cell area, so the order of offsets tells
/// in which order cells were written; `isAscendingRun` lives off that.
///
///  1. The view is made of bytes that `ruleBroken` has found nothing against, or that an editor made.
///  2. Cell 0 of a branch page stands for everything before cell 1: its key is empty, and neither
///     order nor prefix know of it.
@usableFromInline
package struct TreePage {
  @usableFromInline package let bytes: Bytes

  @inlinable
  package init(_ bytes: Bytes) { self.bytes = bytes }

  /// Where the cell pointers begin.
  @inlinable static var pointersOffset: Int { PageHeader.byteCount }

  package var number: PageNumber { PageNumber(bytes.uint32(at: PageHeader.numberOffset)) }
  package var tree: TreeNumber { TreeNumber(Int(bytes[PageHeader.treeOffset])) }
  @inlinable package var level: Int { Int(bytes[PageHeader.levelOffset]) }
  @inlinable package var isLeaf: Bool { level == 0 }
  @inlinable package var cellCount: Int { Int(bytes.uint16(at: PageHeader.cellCountOffset)) }
  package var cellAreaStart: Int { Int(bytes.uint16(at: PageHeader.cellAreaStartOffset)) }
  package var freedByteCount: Int { Int(bytes.uint16(at: PageHeader.freedByteCountOffset)) }
  @inlinable package var prefixByteCount: Int {
    Int(bytes.uint16(at: PageHeader.prefixByteCountOffset))
  }
  package var cellAreaEnd: Int { bytes.count - prefixByteCount }

  /// The index of the first cell whose key counts, see rule 2.
  @inlinable package var firstKeyIndex: Int { isLeaf ? 0 : 1 }

  /// Free bytes in one piece, between the pointers and the cells.
  package var gapByteCount: Int {
    cellAreaStart - TreePage.pointersOffset - cellCount * Cell.pointerByteCount
  }
  /// What a page can hold: prefix, pointers and cells.
  package static func capacity(pageSize: Int) -> Int { pageSize - PageHeader.byteCount }
  package var capacity: Int { TreePage.capacity(pageSize: bytes.count) }
  package var usedByteCount: Int { capacity - gapByteCount - freedByteCount }

  @inlinable package var prefix: Bytes {
    let byteCount = prefixByteCount
    return bytes.slice(bytes.count - byteCount, byteCount)
  }

  // MARK: Cells

  @inlinable
  package func cellOffset(_ index: Int) -> Int {
    Int(bytes.uint16(at: TreePage.pointersOffset + 2 * index))
  }

  /// Where a cell's suffix lies.
  @inlinable
  package func suffixRange(_ index: Int) -> (offset: Int, byteCount: Int) {
    let offset = cellOffset(index)
    let low = Int(bytes[offset])
    if low < 0x80 { return (offset + 1, low) }
    return (offset + 2, low & 0x7F | Int(bytes[offset + 1]) << 7)
  }

  @inlinable
  package func suffix(_ index: Int) -> Bytes {
    let range = suffixRange(index)
    return bytes.slice(range.offset, range.byteCount)
  }

  @inlinable
  package func key(_ index: Int) -> CellKey { CellKey(head: prefix, tail: suffix(index)) }

  @inlinable
  package func keyByteCount(_ index: Int) -> Int {
    prefixByteCount + suffixRange(index).byteCount
  }

  @inlinable
  package func payloadOffset(_ index: Int) -> Int {
    let range = suffixRange(index)
    return range.offset + range.byteCount
  }

  /// The child of a branch cell.
  @inlinable
  package func child(_ index: Int) -> PageNumber {
    PageNumber(bytes.uint32(at: payloadOffset(index)))
  }

  /// The value of a leaf cell: its length, where its bytes or its first overflow page are noted, and
  /// which of the two it is.
  @inlinable
  package func valueRange(_ index: Int) -> (offset: Int, byteCount: Int, isOverflow: Bool) {
    valueRange(at: payloadOffset(index))
  }

  @inlinable @inline(__always)
  func valueRange(at offset: Int) -> (offset: Int, byteCount: Int, isOverflow: Bool) {
    var offset = offset
    var low = Int(bytes[offset])
    var word = low & 0x7F
    var shift = 7
    offset += 1
    while low >= 0x80 {
      low = Int(bytes[offset])
      word |= (low & 0x7F) << shift
      shift += 7
      offset += 1
    }
    return (offset, word >> 1, word & 1 == 1)
  }

  /// A leaf cell in one look at it.
  @inlinable @inline(__always)
  package func leafCell(_ index: Int) -> LeafCell {
    let suffix = suffixRange(index)
    let value = valueRange(at: suffix.offset &+ suffix.byteCount)
    let end = value.isOverflow ? value.offset : value.offset &+ value.byteCount
    return LeafCell(
      bytes: bytes.slice(suffix.offset, end &- suffix.offset), suffixByteCount: suffix.byteCount,
      valueOffset: value.offset &- suffix.offset, isOverflow: value.isOverflow)
  }

  /// The value of a leaf cell, nil when it lies in an overflow chain.
  @inlinable
  package func inlineValue(_ index: Int) -> Bytes? {
    let value = valueRange(index)
    return value.isOverflow ? nil : bytes.slice(value.offset, value.byteCount)
  }

  /// The chain of a leaf cell's value, nil when the value lies in the page.
  package func overflow(_ index: Int) -> (byteCount: Int, first: PageNumber)? {
    let value = valueRange(index)
    guard value.isOverflow else { return nil }
    return (value.byteCount, PageNumber(bytes.uint32(at: value.offset)))
  }

  /// Everything a cell holds behind its suffix.
  package func payload(_ index: Int) -> Bytes {
    let offset = payloadOffset(index)
    guard isLeaf else { return bytes.slice(offset, 4) }
    let value = valueRange(index)
    return bytes.slice(offset, value.offset - offset + (value.isOverflow ? 4 : value.byteCount))
  }

  package func cellByteCount(_ index: Int) -> Int {
    let offset = payloadOffset(index)
    return offset + payload(index).count - cellOffset(index)
  }

  // MARK: Search

  /// The first cell whose key is not below `key`, and whether it is equal.
  ///
  /// One comparison with the prefix, then a binary search that compares eight bytes as one number and
  /// looks at more only when these are equal.
  @inlinable
  package func search(_ key: Bytes) -> (index: Int, isEqual: Bool) {
    var low = firstKeyIndex
    var high = cellCount
    let prefix = prefix
    let shared = key.sharedPrefixByteCount(with: prefix)
    if shared < prefix.count {
      let isBelow = shared == key.count || key[shared] < prefix[shared]
      return (isBelow ? low : high, false)
    }
    let needle = key.dropFirst(shared)
    let needleHead = needle.bigEndianHead(at: 0, byteCount: needle.count)
    while low < high {
      let middle = (low + high) >> 1
      let range = suffixRange(middle)
      let head = bytes.bigEndianHead(at: range.offset, byteCount: range.byteCount)
      if head < needleHead {
        low = middle + 1
      } else if head > needleHead {
        high = middle
      } else {
        let order = bytes.slice(range.offset, range.byteCount).compare(to: needle)
        if order == 0 { return (middle, true) }
        if order < 0 { low = middle + 1 } else { high = middle }
      }
    }
    return (low, false)
  }

  /// The cell of a branch page whose child holds `key`, if any page does.
  @inlinable
  package func childIndex(for key: Bytes) -> Int {
    let found = search(key)
    return found.isEqual ? found.index : found.index - 1
  }

  /// Whether a cell put at `index` would go on with cells written one after the other in the order of
  /// their keys: the one before it was written last of all, or the four before it in that order.
  ///
  /// The second also finds a thread that grows while others do. `CellList.write` lays cells out in
  /// the opposite order, so a page that was just rebuilt shows no run.
  package func isAscendingRun(at index: Int) -> Bool {
    guard index > firstKeyIndex else { return false }
    if cellOffset(index - 1) == cellAreaStart { return true }
    guard index >= firstKeyIndex + 4 else { return false }
    return (index - 3..<index).allSatisfy { cellOffset($0) < cellOffset($0 - 1) }
  }
}

/// A leaf cell where it lies: between its suffix and its value there is only what says how long the
/// value is, so both can be copied at once.
@usableFromInline
package struct LeafCell {
  /// From the suffix up to the end of the value, which is not here when `isOverflow`.
  @usableFromInline package let bytes: Bytes
  @usableFromInline package let suffixByteCount: Int
  /// Where in `bytes` the value begins.
  @usableFromInline package let valueOffset: Int
  /// Whether the value lies in an overflow chain.
  @usableFromInline package let isOverflow: Bool

  @inlinable
  init(bytes: Bytes, suffixByteCount: Int, valueOffset: Int, isOverflow: Bool) {
    self.bytes = bytes
    self.suffixByteCount = suffixByteCount
    self.valueOffset = valueOffset
    self.isOverflow = isOverflow
  }

  /// No cell.
  @inlinable
  package static var none: LeafCell {
    LeafCell(bytes: .empty, suffixByteCount: 0, valueOffset: 0, isOverflow: true)
  }

  @inlinable package var suffix: Bytes { bytes.slice(0, suffixByteCount) }
  @inlinable package var value: Bytes { bytes.dropFirst(valueOffset) }
}
