extension PatchMaker {
  /// Finds the longest run of cell pointers that lies two bytes further up or down than in the
  /// previous version of a page.
  ///
  /// Inserting a cell, removing one, or both, moves the pointers in between. Returns nil if no run
  /// is long enough to be worth a move, or if one of the two is not a tree page.
  static func movedPointers(from base: Bytes, to page: Bytes) -> PagePatch.Move? {
    let kind = page[PageHeader.kindOffset]
    guard kind == base[PageHeader.kindOffset],
      kind == PageKind.leaf.rawValue || kind == PageKind.branch.rawValue
    else { return nil }
    let (before, after) = (pointersEnd(base), pointersEnd(page))
    let shared = min(before, after)
    let start = page.slice(0, shared).firstDifference(
      from: base.slice(0, shared), at: TreePage.pointersOffset)
    // Pointers begin at even offsets, but two pointers may differ only in the second byte.
    let first = start & ~1
    let width = Cell.pointerByteCount
    let up = sharedByteCount(base, first, before, page, first + width, after)
    let down = sharedByteCount(base, first + width, before, page, first, after)
    guard max(up, down) >= movedByteCountMin else { return nil }
    return up >= down
      ? PagePatch.Move(source: first, target: first + width, byteCount: up)
      : PagePatch.Move(source: first + width, target: first, byteCount: down)
  }

  /// Returns the offset at which the cell pointers of a page end.
  private static func pointersEnd(_ page: Bytes) -> Int {
    let count = Int(page.uint16(at: PageHeader.cellCountOffset))
    return min(TreePage.pointersOffset + count * Cell.pointerByteCount, page.count)
  }

  /// Returns the number of equal bytes from an offset in one page and another offset in the other.
  private static func sharedByteCount(
    _ base: Bytes, _ source: Int, _ before: Int, _ page: Bytes, _ target: Int, _ after: Int
  ) -> Int {
    guard source < before && target < after else { return 0 }
    return base.slice(source, before - source).sharedPrefixByteCount(
      with: page.slice(target, after - target))
  }
}
