import PageFile
import Testing

/// Pages whose content is smaller than their slot; see `PageSize`.
struct ContentSizeTests {
  @Test func onlyPageSizesAndThoseOfSealedPagesAreContentSizes() {
    let allowed = Set(PageSize.allowed + PageSize.allowed.map { $0 - PageSize.sealByteCount })
    for byteCount in 0...40000 {
      #expect(PageSize.isContent(byteCount) == allowed.contains(byteCount), "\(byteCount)")
    }
    #expect(!PageSize.isContent(.max) && !PageSize.isContent(.min) && !PageSize.isContent(-1))
  }

  @Test func sealedTablePagesReachAllPageNumbersWithFourLevels() {
    let counts = PageSize.allowed.map {
      TablePage.entryCount(pageByteCount: $0 - PageSize.sealByteCount)
    }
    #expect(counts == [504, 1016, 2040, 4088])
    for count in counts {
      let reach = TablePage.reach(height: TablePage.maximumHeight, entryCount: count)
      #expect(reach > UInt64(UInt32.max))
    }
  }

  /// A leaf of one cell with its prefix at the end of the content passes the gate at each content
  /// size, and at no size beside it.
  @Test func theGateTakesAPageByItsContentSize() {
    for size in PageSize.allowed.flatMap({ [$0, $0 - PageSize.sealByteCount] }) {
      for byteCount in [size - 8, size, size + 8] {
        var buffer = ByteBuffer(capacity: byteCount)
        buffer.append(zeros: byteCount)
        let page = buffer.mutableBytes
        let cell: [UInt8] = [2, 7, 8, 2, 9]
        page[PageHeader.kindOffset] = PageKind.leaf.rawValue
        page.store(UInt16(1), at: PageHeader.cellCountOffset)
        page.store(UInt16(1), at: PageHeader.prefixByteCountOffset)
        let start = byteCount - 1 - cell.count
        page.store(UInt16(start), at: PageHeader.cellAreaStartOffset)
        page.store(UInt16(start), at: PageHeader.byteCount)
        Bytes.with(cell) { page.copy($0, to: start) }
        let broken = TreePage.ruleBroken(buffer.bytes)
        #expect(broken == (byteCount == size ? nil : "page size not allowed"))
      }
    }
  }

  @Test func theGateTakesAnOverflowPageByItsContentSize() {
    for size in PageSize.allowed.map({ $0 - PageSize.sealByteCount }) {
      var buffer = ByteBuffer(capacity: size)
      buffer.append(zeros: size)
      let page = buffer.mutableBytes
      page[PageHeader.kindOffset] = PageKind.overflow.rawValue
      let capacity = OverflowPage.capacity(pageSize: size)
      page.store(UInt16(capacity), at: 22)
      #expect(OverflowPage.ruleBroken(buffer.bytes) == nil)
      page.store(UInt16(capacity + 1), at: 22)
      #expect(OverflowPage.ruleBroken(buffer.bytes) == "byte count out of range")
    }
  }
}
