/// One link of an overflow chain: a part of a value that is too long for a leaf.
///
/// See docs/page-file-format.md, P-13.
///
///     offset  size  field
///         22     2  byte count: bytes of the value in this link
///         24     4  next page number, 0 at the end of the chain
///         28     4  zero
///         32     …  the bytes; zeros after them
///
/// Every link but the last is full, so the length of a value determines its number of links.
package struct OverflowPage {
  package let bytes: Bytes

  package init(_ bytes: Bytes) { self.bytes = bytes }

  private static let byteCountOffset = 22
  private static let nextOffset = 24
  private static let reservedOffset = 28

  /// Returns the number of value bytes that one link of this content size holds.
  package static func capacity(pageSize: Int) -> Int { pageSize - PageHeader.byteCount }

  /// Returns the number of links of a value.
  package static func linkCount(valueByteCount: Int, pageSize: Int) -> Int {
    let capacity = capacity(pageSize: pageSize)
    return (valueByteCount + capacity - 1) / capacity
  }

  package var next: PageNumber { PageNumber(bytes.uint32(at: OverflowPage.nextOffset)) }
  package var content: Bytes {
    bytes.slice(PageHeader.byteCount, Int(bytes.uint16(at: OverflowPage.byteCountOffset)))
  }

  /// Writes a part of a value into a new page.
  package static func write(_ content: Bytes, to page: MutableBytes) {
    page.store(UInt16(content.count), at: byteCountOffset)
    page.copy(content, to: PageHeader.byteCount)
  }

  /// Sets the next link of a page.
  package static func setNext(_ next: PageNumber, of page: MutableBytes) {
    page.store(next.rawValue, at: nextOffset)
  }

  /// Returns the rule that a page breaks, or nil if it is valid.
  ///
  /// Accepts any bytes of any length.
  package static func ruleBroken(_ page: Bytes) -> String? {
    guard PageSize.isContent(page.count) else { return "page size not allowed" }
    guard page[PageHeader.kindOffset] == PageKind.overflow.rawValue else {
      return "not an overflow page"
    }
    guard page[PageHeader.levelOffset] == 0 else { return "overflow page: level above 0" }
    guard page.uint32(at: reservedOffset) == 0 else { return "reserved header bytes are not zero" }
    let byteCount = Int(page.uint16(at: byteCountOffset))
    let capacity = page.count &- PageHeader.byteCount
    guard byteCount > 0, byteCount <= capacity else { return "byte count out of range" }
    let next = page.uint32(at: nextOffset)
    guard next == 0 || byteCount == capacity else {
      return "overflow link before the last is not full"
    }
    guard next == 0 || next != page.uint32(at: PageHeader.numberOffset) else {
      return "overflow link points to itself"
    }
    return nil
  }
}
