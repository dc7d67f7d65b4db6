/// An entry of the page table, a radix tree from page number to slot and check.
///
/// See docs/page-file-format.md, T-1 … T-7.
///
///     offset  size  field
///          0    32  page header: kind 4, level (0 is the lowest), page number = place in level
///         32     8  entry 0
///         40     8  entry 1
///          …     …  …
///
/// An entry is a slot number (low 4 bytes) and the low 32 bits of the checksum of the slot's
/// content (high 4 bytes). On level 0 it leads to a page, on higher levels to a table page. Zero
/// means that the number is free, or that nothing below it is in use.
package struct TableEntry: Sendable, Equatable {
  package static let byteCount = 8
  package let rawValue: UInt64

  package init(rawValue: UInt64) { self.rawValue = rawValue }

  package init(slot: SlotNumber, check: UInt32) {
    rawValue = UInt64(check) << 32 | UInt64(slot.rawValue)
  }

  package static var none: TableEntry { TableEntry(rawValue: 0) }

  package var slot: SlotNumber { SlotNumber(UInt32(truncatingIfNeeded: rawValue)) }
  package var check: UInt32 { UInt32(truncatingIfNeeded: rawValue >> 32) }
  package var isNone: Bool { slot == .none }
}

package enum TablePage {
  /// The greatest height of a table: 4 levels address 2^32 pages at the smallest page size.
  package static let maximumHeight = 4

  /// Returns the number of entries of a table page of this content size.
  package static func entryCount(pageByteCount: Int) -> Int {
    (pageByteCount - PageHeader.byteCount) / TableEntry.byteCount
  }

  /// Returns the number of page numbers that a table of this height has entries for.
  package static func reach(height: Int, entryCount: Int) -> UInt64 {
    var reach: UInt64 = 1
    for _ in 0..<height { reach *= UInt64(entryCount) }
    return height == 0 ? 0 : reach
  }

  package static func entryOffset(_ index: Int) -> Int {
    PageHeader.byteCount + index * TableEntry.byteCount
  }

  /// Returns the rule that a page breaks as a table page, or nil if it is valid.
  package static func ruleBroken(_ page: Bytes) -> String? {
    Int(page[PageHeader.levelOffset]) < maximumHeight ? nil : "table level too high"
  }
}
