/// The gate for tree pages: `TreePage` reads bytes that passed it without further checks.
///
/// Every number is checked before it is used as an offset. Sums cannot overflow, because they are
/// made of a few 16-bit numbers and of lengths below 2³². The wrapping operators express that.
extension TreePage {
  /// The deepest tree: levels 0 to 31.
  ///
  /// A child is one level below its parent, so no walk is longer.
  package static let maximumDepth = 32

  /// Returns the rule that a page breaks, or nil if it is valid.
  ///
  /// Accepts any bytes of any length. Checksum, LSN and page number are the pager's concern. Costs
  /// a few nanoseconds per cell.
  package static func ruleBroken(_ page: Bytes) -> String? {
    guard PageSize.isContent(page.count) else { return "page size not allowed" }
    let kind = page[PageHeader.kindOffset]
    let level = page[PageHeader.levelOffset]
    if kind == PageKind.leaf.rawValue {
      guard level == 0 else { return "leaf page: level above 0" }
    } else if kind == PageKind.branch.rawValue {
      guard level > 0, level < maximumDepth else { return "branch page: level out of range" }
    } else {
      return "neither a leaf nor a branch page"
    }
    guard page[PageHeader.treeOffset] < Roots.maximumCount else {
      return "tree number out of range"
    }
    guard page[31] == 0 else { return "reserved header bytes are not zero" }

    let view = TreePage(page)
    let count = view.cellCount
    guard count > 0 else { return "no cells" }
    guard view.prefixByteCount <= Cell.maximumKeyByteCount else { return "prefix too long" }
    let areaStart = view.cellAreaStart
    let areaEnd = page.count &- view.prefixByteCount
    guard pointersOffset &+ count &* Cell.pointerByteCount <= areaStart, areaStart < areaEnd else {
      return "pointers, cell area and prefix overlap"
    }
    return kind == PageKind.leaf.rawValue
      ? leafCellsRuleBroken(view, areaStart, areaEnd)
      : branchCellsRuleBroken(view, areaStart, areaEnd)
  }

  private static func leafCellsRuleBroken(
    _ page: TreePage, _ areaStart: Int, _ areaEnd: Int
  ) -> String? {
    let bytes = page.bytes
    let prefixByteCount = page.prefixByteCount
    let maximumByteCount = Cell.maximumByteCount(pageSize: bytes.count)
    var area = CellAreaGauge()
    var order = OrderGauge()
    for index in 0..<page.cellCount {
      let start = page.cellOffset(index)
      guard let suffix = suffixBeforeGate(bytes, start, areaStart, areaEnd) else {
        return "cell outside the cell area"
      }
      let keyByteCount = prefixByteCount &+ suffix.byteCount
      guard keyByteCount > 0, keyByteCount <= Cell.maximumKeyByteCount else {
        return "key length out of range"
      }
      guard order.admits(bytes, suffix.offset, suffix.byteCount) else {
        return "keys are not in ascending order"
      }
      let payloadStart = suffix.offset &+ suffix.byteCount
      guard let (word, valueStart) = varintBeforeGate(bytes, payloadStart, areaEnd) else {
        return "malformed value length"
      }
      let valueByteCount = word >> 1
      var end = valueStart &+ valueByteCount
      if word & 1 == 1 {
        end = valueStart &+ 4
        guard end <= areaEnd else { return "cell outside the cell area" }
        guard valueByteCount > 0, valueByteCount <= Cell.maximumValueByteCount else {
          return "overflow value length out of range"
        }
        guard bytes.uint32(at: valueStart) != 0 else { return "overflow chain: no first page" }
      }
      guard end <= areaEnd else { return "cell outside the cell area" }
      let wholeByteCount = end &- start &+ prefixByteCount &+ Cell.pointerByteCount
      guard wholeByteCount <= maximumByteCount else { return "cell longer than a quarter page" }
      area.add(start, end)
    }
    return areaRuleBroken(page, area, areaStart, areaEnd)
  }

  private static func branchCellsRuleBroken(
    _ page: TreePage, _ areaStart: Int, _ areaEnd: Int
  ) -> String? {
    let bytes = page.bytes
    let ownNumber = bytes.uint32(at: PageHeader.numberOffset)
    var area = CellAreaGauge()
    var order = OrderGauge()
    for index in 0..<page.cellCount {
      let start = page.cellOffset(index)
      guard let suffix = suffixBeforeGate(bytes, start, areaStart, areaEnd) else {
        return "cell outside the cell area"
      }
      if index == 0 {
        guard suffix.byteCount == 0 else { return "first branch cell has a key" }
      } else {
        let keyByteCount = page.prefixByteCount &+ suffix.byteCount
        guard keyByteCount > 0, keyByteCount <= Cell.maximumKeyByteCount else {
          return "separator length out of range"
        }
        guard order.admits(bytes, suffix.offset, suffix.byteCount) else {
          return "separators are not in ascending order"
        }
      }
      let childOffset = suffix.offset &+ suffix.byteCount
      guard childOffset &+ 4 <= areaEnd else { return "cell outside the cell area" }
      let child = bytes.uint32(at: childOffset)
      guard child != 0, child != ownNumber else { return "invalid child page number" }
      area.add(start, childOffset &+ 4)
    }
    return areaRuleBroken(page, area, areaStart, areaEnd)
  }

  private static func areaRuleBroken(
    _ page: TreePage, _ area: CellAreaGauge, _ areaStart: Int, _ areaEnd: Int
  ) -> String? {
    guard area.isDisjoint || !haveCommonBytes(page) else { return "cells overlap" }
    guard area.lowest == areaStart else { return "no cell at the start of the cell area" }
    guard area.byteCount &+ page.freedByteCount == areaEnd &- areaStart else {
      return "wrong freed byte count"
    }
    return nil
  }

  /// Returns true if a byte belongs to two cells of a page whose cells lie in the cell area.
  @inline(never)
  private static func haveCommonBytes(_ page: TreePage) -> Bool {
    var claimed = ClaimedBytes()
    for index in 0..<page.cellCount {
      let start = page.cellOffset(index)
      guard claimed.claim(start, start &+ page.cellByteCount(index)) else { return true }
    }
    return false
  }

  /// Returns the suffix of a cell, or nil if it does not lie in the cell area.
  @inline(__always)
  private static func suffixBeforeGate(
    _ bytes: Bytes, _ start: Int, _ areaStart: Int, _ areaEnd: Int
  ) -> (offset: Int, byteCount: Int)? {
    guard start >= areaStart, start &+ 2 <= areaEnd else { return nil }
    var byteCount = Int(bytes[start])
    var offset = start &+ 1
    if byteCount >= 0x80 {
      let high = Int(bytes[offset])
      guard high > 0, high < 0x80 else { return nil }
      byteCount = byteCount & 0x7F | high << 7
      offset &+= 1
    }
    guard offset &+ byteCount <= areaEnd else { return nil }
    return (offset, byteCount)
  }

  /// Returns a varint of at most four bytes and the offset after it, or nil if it is malformed.
  @inline(__always)
  private static func varintBeforeGate(
    _ bytes: Bytes, _ start: Int, _ areaEnd: Int
  ) -> (value: Int, end: Int)? {
    guard start < areaEnd else { return nil }
    if case let byte = Int(bytes[start]), byte < 0x80 { return (byte, start &+ 1) }
    var value = 0
    var offset = start
    for shift in stride(from: 0, to: 28, by: 7) {
      guard offset < areaEnd else { return nil }
      let byte = Int(bytes[offset])
      value |= (byte & 0x7F) << shift
      offset &+= 1
      if byte < 0x80 { return byte == 0 && shift > 0 ? nil : (value, offset) }
    }
    return nil
  }
}

/// A check that each suffix is greater than the one before it.
private struct OrderGauge {
  private var isFirst = true
  private var head: UInt64 = 0
  private var offset = 0
  private var byteCount = 0

  @inline(__always)
  mutating func admits(_ bytes: Bytes, _ nextOffset: Int, _ nextByteCount: Int) -> Bool {
    let nextHead = bytes.bigEndianHead(at: nextOffset, byteCount: nextByteCount)
    var isAbove = isFirst || head < nextHead
    if !isAbove && head == nextHead {
      let next = bytes.slice(nextOffset, nextByteCount)
      isAbove = bytes.slice(offset, byteCount).compare(to: next) < 0
    }
    isFirst = false
    head = nextHead
    offset = nextOffset
    byteCount = nextByteCount
    return isAbove
  }
}

/// The part of the cell area that cells take.
///
/// New cells go below all others, and a rebuilt page has its cells in ascending order. So most
/// pages show without further cost that no byte belongs to two cells: each lies below all cells
/// before it, or above them.
private struct CellAreaGauge {
  /// True if each cell lies below all cells before it, or above them.
  private(set) var isDisjoint = true
  private(set) var lowest = Int.max
  private var highest = 0
  private(set) var byteCount = 0

  /// Adds a cell at `start ..< end`, a nonempty range within the page.
  @inline(__always)
  mutating func add(_ start: Int, _ end: Int) {
    isDisjoint = isDisjoint && (end <= lowest || start >= highest)
    lowest = min(lowest, start)
    highest = max(highest, end)
    byteCount &+= end &- start
  }
}
