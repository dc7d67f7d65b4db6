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
/// For cells see `Cell`. New cells go to the low end of the cell area, so the offsets tell in which
/// order cells were written; `isAscendingRun` relies on that.
///
///  1. The view is made of bytes that passed `ruleBroken`, or that an editor made.
///  2. Cell 0 of a branch page covers all keys below cell 1: its key is empty, and it takes no part
///     in order or prefix.
@usableFromInline
package struct TreePage {
  @usableFromInline package let bytes: Bytes

  @inlinable
  package init(_ bytes: Bytes) { self.bytes = bytes }

  /// The offset of the first cell pointer.
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

  /// The index of the first cell that has a key; see rule 2.
  @inlinable package var firstKeyIndex: Int { isLeaf ? 0 : 1 }

  /// The number of contiguous free bytes between the pointers and the cells.
  package var gapByteCount: Int {
    cellAreaStart - TreePage.pointersOffset - cellCount * Cell.pointerByteCount
  }
  /// Returns the number of bytes that a page of this content size has for prefix, pointers and
  /// cells.
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

  /// Returns the range of a cell's suffix.
  @inlinable @inline(__always)
  package func suffixRange(_ index: Int) -> (offset: Int, byteCount: Int) {
    let offset = cellOffset(index)
    let low = Int(bytes[offset])
    if low < 0x80 { return (offset + 1, low) }
    return (offset + 2, low & 0x7F | Int(bytes[offset + 1]) << 7)
  }

  @inlinable @inline(__always)
  package func suffix(_ index: Int) -> Bytes {
    let range = suffixRange(index)
    return bytes.slice(range.offset, range.byteCount)
  }

  @inlinable
  @inline(never)
  package func key(_ index: Int) -> CellKey { CellKey(head: prefix, tail: suffix(index)) }

  @inlinable
  package func keyByteCount(_ index: Int) -> Int {
    prefixByteCount + suffixRange(index).byteCount
  }

  @inlinable @inline(__always)
  package func payloadOffset(_ index: Int) -> Int {
    let range = suffixRange(index)
    return range.offset + range.byteCount
  }

  /// Returns the child of a branch cell.
  @inlinable
  package func child(_ index: Int) -> PageNumber {
    PageNumber(bytes.uint32(at: payloadOffset(index)))
  }

  /// Returns the length of a leaf cell's value, the offset of its bytes or of its first overflow
  /// page number, and which of the two it is.
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

  /// Returns all of a leaf cell, decoding it once.
  @inlinable @inline(__always)
  package func leafCell(_ index: Int) -> LeafCell {
    let suffix = suffixRange(index)
    let value = valueRange(at: suffix.offset &+ suffix.byteCount)
    let end = value.isOverflow ? value.offset : value.offset &+ value.byteCount
    return LeafCell(
      bytes: bytes.slice(suffix.offset, end &- suffix.offset), suffixByteCount: suffix.byteCount,
      valueOffset: value.offset &- suffix.offset, isOverflow: value.isOverflow)
  }

  /// Returns the value of a leaf cell, or nil if it lies in an overflow chain.
  @inlinable
  package func inlineValue(_ index: Int) -> Bytes? {
    let value = valueRange(index)
    return value.isOverflow ? nil : bytes.slice(value.offset, value.byteCount)
  }

  /// Returns the overflow chain of a leaf cell's value, or nil if the value lies in the page.
  package func overflow(_ index: Int) -> (byteCount: Int, first: PageNumber)? {
    let value = valueRange(index)
    guard value.isOverflow else { return nil }
    return (value.byteCount, PageNumber(bytes.uint32(at: value.offset)))
  }

  /// Returns the part of a cell after its suffix.
  package func payload(_ index: Int) -> Bytes { payload(at: payloadOffset(index)) }

  /// Returns the part of a cell that begins at an offset, after its suffix.
  func payload(at offset: Int) -> Bytes {
    guard isLeaf else { return bytes.slice(offset, 4) }
    let value = valueRange(at: offset)
    return bytes.slice(offset, value.offset - offset + (value.isOverflow ? 4 : value.byteCount))
  }

  package func cellByteCount(_ index: Int) -> Int {
    let offset = payloadOffset(index)
    return offset + payload(index).count - cellOffset(index)
  }

  // MARK: Search

  /// Returns true if a key begins with the same four bytes as all keys of the page.
  package func begins(as key: Bytes) -> Bool {
    prefixByteCount >= 4 && key.count >= 4 && key.uint32(at: 0) == prefix.uint32(at: 0)
  }

  /// Finds the first cell whose key is not below `key`, and tells if that key is equal.
  ///
  /// Costs one comparison with the prefix, then a binary search that compares eight bytes as one
  /// number and looks at more only if these are equal.
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

  /// Returns the cell of a branch page whose child holds `key`, if any page holds it.
  @inlinable
  package func childIndex(for key: Bytes) -> Int {
    let found = search(key)
    return found.isEqual ? found.index : found.index - 1
  }

  /// Returns true if a leaf should take no further cell behind its last one, because that would
  /// leave it less than a 64th of its room.
  ///
  /// That is room for a few small cells that come late, between others: without it the first of
  /// them would split the leaf. Larger cells would not fit into it anyway.
  package func isFull(behind cell: Cell, at index: Int) -> Bool {
    guard index == cellCount, index > 0 else { return false }
    let byteCount = cell.byteCount(dropping: prefixByteCount) + Cell.pointerByteCount
    let spare = capacity / 64
    return 2 * byteCount <= spare && gapByteCount - byteCount < spare
  }

  /// Returns true if a cell inserted at `index` would continue a run of cells written in the order
  /// of their keys.
  ///
  /// Either the cell before it was the last one written, or the four cells before it were written
  /// in ascending order, and after the cell behind them. The second case also detects a thread that
  /// grows while others do. If the cell behind was written later, the run went on there, and what
  /// comes between is late.
  /// `CellList.write` lays cells out in the opposite order, so a page that was just rebuilt shows
  /// no run.
  package func isAscendingRun(at index: Int) -> Bool {
    guard index > firstKeyIndex else { return false }
    if cellOffset(index - 1) == cellAreaStart { return true }
    guard index >= firstKeyIndex + 4 else { return false }
    if index < cellCount, cellOffset(index) < cellOffset(index - 1) { return false }
    return (index - 3..<index).allSatisfy { cellOffset($0) < cellOffset($0 - 1) }
  }
}

/// A leaf cell in place: only the length of the value lies between the suffix and the value, so
/// both can be copied at once.
@usableFromInline
package struct LeafCell {
  /// The bytes from the suffix to the end of the value; the value is not included if `isOverflow`.
  @usableFromInline package let bytes: Bytes
  @usableFromInline package let suffixByteCount: Int
  /// The offset of the value in `bytes`.
  @usableFromInline package let valueOffset: Int
  /// True if the value lies in an overflow chain.
  @usableFromInline package let isOverflow: Bool

  @inlinable
  init(bytes: Bytes, suffixByteCount: Int, valueOffset: Int, isOverflow: Bool) {
    self.bytes = bytes
    self.suffixByteCount = suffixByteCount
    self.valueOffset = valueOffset
    self.isOverflow = isOverflow
  }

  /// A placeholder for no cell.
  @inlinable
  package static var none: LeafCell {
    LeafCell(bytes: .empty, suffixByteCount: 0, valueOffset: 0, isOverflow: true)
  }

  @inlinable package var suffix: Bytes { bytes.slice(0, suffixByteCount) }
  @inlinable package var value: Bytes { bytes.dropFirst(valueOffset) }
}
