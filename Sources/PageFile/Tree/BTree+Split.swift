/// Splitting: where to divide a page so that the next writes find room where they need it.
///
/// Most values are appended: to the end of the tree, to the end of one thread among many, or, when
/// history is loaded backwards, before the beginning of one. Dividing in the middle would leave
/// half of every page empty for good.

/// A split, as its parent sees it: the parent's existing cell now leads to `left`, and a new cell
/// after it, keyed by `separator`, leads to `right`.
struct Split: ~Copyable {
  let left: PageNumber
  let separator: ByteBuffer
  let right: PageNumber
}

extension BTree {
  /// Divides a page that has no room for `cell`, which belongs at `index`.
  ///
  ///  - After the last cell: the page stays full, and a new page begins with the cell.
  ///  - Before the first cell, if a descending run continues there or the page's prefix ends:
  ///    likewise.
  ///  - Where an ascending run continues: at that point, so that the run has the rest of a page to
  ///    itself.
  ///  - Anywhere else: in the middle, by bytes.
  func split(
    _ editor: TreePageEditor, adding cell: Cell, at index: Int
  ) throws(PageFileError) -> Split {
    let page = editor.page
    if index == page.cellCount { return try splitBehind(page, cell) }
    if index == page.firstKeyIndex {
      let prefixEnds =
        cell.key.sharedByteCount(with: CellKey(page.prefix)) < page.prefixByteCount
      let isDescendingRun = page.cellOffset(index) == page.cellAreaStart
      if prefixEnds || isDescendingRun { return try splitBefore(editor, cell) }
    }
    var list = CellList(copying: page)
    list.insert(cell, at: index)
    let point = splitPoint(list, page, index)
    return try divide(list, at: point, editor)
  }

  private func splitPoint(_ list: borrowing CellList, _ page: TreePage, _ index: Int) -> Int {
    if page.isAscendingRun(at: index) {
      // The new cell stays behind its predecessors if they leave it room. If they do not, they take
      // up three quarters of the page, and the new cell has room in front of the rest.
      return list.fits(0..<index + 1) ? index + 1 : index
    }
    return list.middle()
  }

  /// Starts a new page after a full one, with the new cell in it.
  ///
  /// The new page guesses its prefix from the bytes that the keys of the full page share with the
  /// new key, so it need not be rewritten for each key that follows.
  private func splitBehind(_ page: TreePage, _ cell: Cell) throws(PageFileError) -> Split {
    let (number, bytes) = try allocate(level: page.level)
    let shared = cell.key.sharedByteCount(with: page.key(page.firstKeyIndex))
    let editor = TreePageEditor(formatting: bytes, prefix: cell.key, prefixByteCount: shared)
    let key = page.isLeaf ? cell.key : .none
    editor.put(Cell(key, cell.payload), at: 0)
    let separator = separator(page, page.key(page.cellCount - 1), cell.key)
    return Split(left: page.number, separator: separator, right: number)
  }

  /// Starts a new page before a full one, with the new cell in it.
  ///
  /// In a branch page the place before is that of the first child. That child moves to the new
  /// page, and the new child becomes the first of the full page.
  private func splitBefore(
    _ editor: TreePageEditor, _ cell: Cell
  ) throws(PageFileError) -> Split {
    let page = editor.page
    let (number, bytes) = try allocate(level: page.level)
    let shared = cell.key.sharedByteCount(with: page.key(page.cellCount - 1))
    let before = TreePageEditor(formatting: bytes, prefix: cell.key, prefixByteCount: shared)
    if page.isLeaf {
      before.put(cell, at: 0)
      let separator = separator(page, cell.key, page.key(0))
      return Split(left: number, separator: separator, right: page.number)
    }
    before.put(Cell(.none, .child(page.child(0))), at: 0)
    let separator = separator(page, .none, cell.key)
    let isReplaced = editor.replacePayload(at: 0, with: cell.payload)
    precondition(isReplaced, "replacing a child changed the size of its cell")
    return Split(left: number, separator: separator, right: page.number)
  }

  /// Writes the cells before `point` to the page and the others to a new one.
  private func divide(
    _ list: borrowing CellList, at point: Int, _ editor: TreePageEditor
  ) throws(PageFileError) -> Split {
    let page = editor.page
    let (number, bytes) = try allocate(level: page.level)
    let separator = separator(page, list.key(point - 1), list.key(point))
    list.write(0..<point, to: editor)
    list.write(point..<list.count, to: TreePageEditor(bytes))
    return Split(left: page.number, separator: separator, right: number)
  }

  /// Returns the key that separates two pages.
  ///
  /// For leaves it is the shortest prefix of the upper page's first key that is still above the
  /// lower page's last key. For branches it is the key that the upper page's first cell loses.
  func separator(_ page: TreePage, _ below: CellKey, _ above: CellKey) -> ByteBuffer {
    let byteCount = page.isLeaf ? below.sharedByteCount(with: above) + 1 : above.byteCount
    var separator = ByteBuffer(capacity: byteCount)
    above.append(first: byteCount, to: &separator)
    return separator
  }
}
