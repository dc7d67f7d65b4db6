/// The cells of one page or of several neighbours, listed to be rewritten: when freed bytes are
/// collected, when the prefix changes, and when pages are split or merged.
///
/// The pages are copied first, because one of them is usually the target. The copy and the list
/// cost allocations. That is acceptable because a rewrite happens once in many insertions.
package struct CellList: ~Copyable {
  private var copy: ByteBuffer
  private var cells: [Cell] = []
  private let isLeaf: Bool
  private let pageSize: Int

  package init(copying page: TreePage) {
    copy = ByteBuffer(capacity: page.bytes.count)
    isLeaf = page.isLeaf
    pageSize = page.bytes.count
    copy.append(page.bytes)
    appendCells(of: TreePage(copy.bytes))
  }

  /// Lists the cells of two neighbours.
  ///
  /// `separator` is the parent's key between them; on branch pages the right page's first cell gets
  /// it back as its key. The caller keeps its bytes alive.
  package init(copying left: TreePage, _ separator: Bytes, _ right: TreePage) {
    pageSize = left.bytes.count
    isLeaf = left.isLeaf
    copy = ByteBuffer(capacity: 2 * pageSize)
    copy.append(left.bytes)
    copy.append(right.bytes)
    appendCells(of: TreePage(copy.bytes.slice(0, pageSize)))
    let seam = cells.count
    appendCells(of: TreePage(copy.bytes.slice(pageSize, pageSize)))
    if !isLeaf { cells[seam] = Cell(CellKey(separator), cells[seam].payload) }
  }

  /// Lists the cells of a run of neighbours.
  ///
  /// `separators` returns the parent's key before each page but the first. The caller keeps the
  /// bytes of those keys alive.
  package init(copying pages: [TreePage], _ separators: (Int) -> CellKey) {
    pageSize = pages[0].bytes.count
    isLeaf = pages[0].isLeaf
    copy = ByteBuffer(capacity: pages.count * pageSize)
    for page in pages { copy.append(page.bytes) }
    for index in pages.indices {
      let seam = cells.count
      appendCells(of: TreePage(copy.bytes.slice(index * pageSize, pageSize)))
      if !isLeaf && index > 0 { cells[seam] = Cell(separators(index), cells[seam].payload) }
    }
  }

  private mutating func appendCells(of page: TreePage) {
    cells.reserveCapacity(cells.count + page.cellCount + 1)
    for index in 0..<page.cellCount {
      // The first key of a branch page is empty: not even the prefix is part of it.
      let key = index < page.firstKeyIndex ? .none : page.key(index)
      cells.append(Cell(key, .copied(page.payload(index))))
    }
  }

  package var count: Int { cells.count }

  /// Inserts a cell; the caller keeps its bytes alive.
  package mutating func insert(_ cell: Cell, at index: Int) { cells.insert(cell, at: index) }

  /// Replaces a range of cells; the caller keeps the bytes of the new ones alive.
  package mutating func replace(_ range: Range<Int>, with others: [Cell]) {
    cells.replaceSubrange(range, with: others)
  }

  package func key(_ index: Int) -> CellKey { cells[index].key }

  /// Returns true if the keys around the cell at `index` ascend.
  ///
  /// Where two pages meet, only the parent's separators guarantee it.
  package func isAscending(at index: Int) -> Bool {
    let isAboveLower = cells[index - 1].key.compare(to: cells[index].key) < 0
    guard !isLeaf && index + 1 < count else { return isAboveLower }
    return isAboveLower && cells[index].key.compare(to: cells[index + 1].key) < 0
  }

  /// Returns the length of the prefix that all keys of a page with these cells share.
  ///
  /// A branch page's first cell has no key and is left out.
  private func prefixByteCount(of range: Range<Int>) -> Int {
    let first = range.lowerBound + (isLeaf ? 0 : 1)
    guard first < range.upperBound else { return 0 }
    return cells[first].key.sharedByteCount(with: cells[range.upperBound - 1].key)
  }

  /// Returns the bytes that these cells take on a page of their own: prefix, pointers and cells.
  package func byteCount(of range: Range<Int>) -> Int {
    let prefix = prefixByteCount(of: range)
    return range.reduce(prefix) { $0 + byteCount($1, in: range, prefix) }
  }

  @inline(never)
  private func byteCount(_ index: Int, in range: Range<Int>, _ prefixByteCount: Int) -> Int {
    written(index, in: range).byteCount(dropping: prefixByteCount) + Cell.pointerByteCount
  }

  /// Returns a cell as it is written to a page that holds the range.
  ///
  /// The first cell of a branch page loses its key.
  private func written(_ index: Int, in range: Range<Int>) -> Cell {
    let isKeyless = !isLeaf && index == range.lowerBound
    return isKeyless ? Cell(.none, cells[index].payload) : cells[index]
  }

  package func fits(_ range: Range<Int>) -> Bool {
    byteCount(of: range) <= TreePage.capacity(pageSize: pageSize)
  }

  /// Divides the cells among pages, filling each page as far as possible.
  package func filledPages() -> [Range<Int>] {
    let capacity = TreePage.capacity(pageSize: pageSize)
    var pages: [Range<Int>] = []
    var start = 0
    while start < count {
      var page = start..<start + 1
      var prefix = prefixByteCount(of: page)
      var used = byteCount(of: page)
      while page.upperBound < count {
        let longer = start..<page.upperBound + 1
        let longerPrefix = prefixByteCount(of: longer)
        // The prefix shrinks a few times at most; only then are all cells measured again.
        used =
          longerPrefix == prefix
          ? used + byteCount(page.upperBound, in: longer, prefix) : byteCount(of: longer)
        if used > capacity { break }
        (page, prefix) = (longer, longerPrefix)
      }
      pages.append(page)
      start = page.upperBound
    }
    return pages
  }

  /// Returns the index at which to divide the cells so that both parts take about the same room.
  package func middle() -> Int {
    let all = 0..<count
    let prefix = prefixByteCount(of: all)
    let half = byteCount(of: all) / 2
    var sum = prefix
    for index in 0..<count {
      let byteCount = byteCount(index, in: all, prefix)
      if sum + byteCount / 2 > half { return max(1, index) }
      sum += byteCount
    }
    return count - 1
  }

  /// Returns the index that divides the cells into two pages of about the same room, or nil if they
  /// leave fewer bytes free than demanded, or need more than two pages.
  package func evenDivision(leaving freeByteCount: Int) -> Int? {
    let capacity = TreePage.capacity(pageSize: pageSize)
    let middle = middle()
    // Of large cells the one in the middle may fit on one side only.
    for point in [middle, middle - 1, middle + 1] where point > 0 && point < count {
      let lower = byteCount(of: 0..<point)
      let upper = byteCount(of: point..<count)
      if lower <= capacity, upper <= capacity, lower + upper <= 2 * capacity - freeByteCount {
        return point
      }
    }
    return nil
  }

  /// Writes a page of these cells, with the longest prefix that they share.
  ///
  /// The cell with the highest key goes to the high end, the opposite of the layout that ascending
  /// insertions produce; see `TreePage.isAscendingRun`.
  package func write(_ range: Range<Int>, to editor: TreePageEditor) {
    let prefix = prefixByteCount(of: range)
    editor.format(prefix: cells[range.upperBound - 1].key, prefixByteCount: prefix)
    for index in range.reversed() {
      editor.put(written(index, in: range), at: 0)
    }
  }
}
