/// Sharing: a full leaf gives cells to a neighbour that has room, and is not split.
///
/// Leaves that were filled by appending are full. Each key that comes late, between others, would
/// split one of them and leave two halves; and as late keys are spread over the tree, nearly each
/// of them meets another full leaf. A half is room for many, once the neighbours can use it.
extension BTree {
  /// Puts a cell, which belongs at `index`, into a full leaf by dividing the leaf's cells and those
  /// of a neighbour evenly between the two.
  ///
  /// Returns false and changes nothing if the cell continues a run, which keeps its leaves full, or
  /// if no neighbour of the same parent has room: so much that the next cells do not share again at
  /// once. Cells of an eighth of a page are few, and hard to fit; for them less is enough.
  ///
  /// Reads two pages, and edits as many as a split: both leaves and their parent.
  func share(
    _ leaf: TreePageEditor, adding cell: Cell, at index: Int, up path: inout TreePath
  ) throws(PageFileError) -> Bool {
    let page = leaf.page
    guard index < page.cellCount, !page.isAscendingRun(at: index),
      index > 0 || page.cellOffset(0) != page.cellAreaStart, let level = path.pop()
    else { return false }
    let isLarge = 8 * cell.byteCount(dropping: 0) >= page.capacity
    let spare = page.capacity / (isLarge ? 16 : 4)
    for right in [level.index, level.index + 1] where right > 0 && right < level.page.cellCount {
      let isLower = right > level.index
      let number = level.page.child(isLower ? right : right - 1)
      let other = try source.treePage(number, level: 0)
      guard page.capacity - other.usedByteCount > spare, other.cellCount > 0 else { continue }
      let (lower, upper) = isLower ? (page, other) : (other, page)
      var list = CellList(copying: lower, .empty, upper)
      guard list.isAscending(at: lower.cellCount) else {
        throw .corruptPage(upper.number, reason: "the page holds keys outside its parent's bounds")
      }
      list.insert(cell, at: isLower ? index : lower.cellCount + index)
      guard let point = list.evenDivision(leaving: spare) else { continue }
      try divide(list, at: point, lower, upper, at: right, of: level.page, up: &path)
      return true
    }
    path.push(level.page, level.index)
    return false
  }

  /// Writes the cells before `point` to the lower of two leaves and the others to the upper one,
  /// which is the child at `right` of their parent.
  private func divide(
    _ list: borrowing CellList, at point: Int, _ lower: TreePage, _ upper: TreePage,
    at right: Int, of parent: TreePage, up path: inout TreePath
  ) throws(PageFileError) {
    let separator = separator(lower, list.key(point - 1), list.key(point))
    let number = upper.number
    list.write(0..<point, to: try edit(lower))
    list.write(point..<list.count, to: try edit(upper))
    let editor = try edit(parent)
    editor.remove(at: right)
    let key = CellKey(separator.bytes)
    try checkOrder(of: key, at: right, in: editor.page)
    try carry(try insert(Cell(key, .child(number)), at: right, editor), up: &path)
  }
}
