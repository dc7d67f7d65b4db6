/// Merging: a page less than a quarter full is combined with a neighbour.
///
/// If neither neighbour has room, nothing is moved. The neighbours are then more than three
/// quarters full, so two pages together waste no more than pages split in the middle do, and the
/// small page is freed with its last cell. Evening out the pages would write two of them and save
/// none.
extension BTree {
  /// Merges the child at `index` with its left or right neighbour, if both fit into one page with
  /// some room to spare.
  ///
  /// Returns the index of the parent's cell to be removed, whose page is freed. Returns nil if no
  /// pair fits.
  func merge(
    _ page: TreePage, at index: Int, of parent: TreePage
  ) throws(PageFileError) -> Int? {
    for right in [index, index + 1] where right > 0 && right < parent.cellCount {
      let other = right == index ? right - 1 : right
      let neighbour = try source.treePage(parent.child(other), level: page.level)
      let (lower, upper) = right == index ? (neighbour, page) : (page, neighbour)
      if try merge(lower, upper, at: right, of: parent) { return right }
    }
    return nil
  }

  private func merge(
    _ lower: TreePage, _ upper: TreePage, at right: Int, of parent: TreePage
  ) throws(PageFileError) -> Bool {
    // Quick rejection: the prefix shared by both pages is hardly ever longer than their own.
    let room = lower.capacity - TreePageEditor.spareByteCount(capacity: lower.capacity)
    guard lower.usedByteCount + upper.usedByteCount <= room else { return false }
    var separator = ByteBuffer()
    let key = parent.key(right)
    key.append(first: key.byteCount, to: &separator)
    let list = CellList(copying: lower, separator.bytes, upper)
    let all = 0..<list.count
    guard list.byteCount(of: all) <= room else { return false }
    guard lower.cellCount > 0, upper.cellCount > 0, list.isAscending(at: lower.cellCount) else {
      throw .corruptPage(upper.number, reason: "the page holds keys outside its parent's bounds")
    }
    let editor = try edit(lower)
    list.write(all, to: editor)
    try source.free(upper.number)
    return true
  }
}
