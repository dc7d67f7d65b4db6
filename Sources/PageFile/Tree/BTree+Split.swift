/// Splitting: where to divide a page so that what is written next finds room where it is needed.
///
/// Most of what is stored is appended: to the end of the tree, to the end of one thread among many,
/// or, when history is loaded backwards, before the beginning of one. Dividing in the middle would
/// leave half of every page empty for good.

/// What a parent has to be told: its cell leads to `left` from now on, and a new cell behind it, with
/// `separator` as its key, to `right`.
struct Split: ~Copyable {
  let left: PageNumber
  let separator: ByteBuffer
  let right: PageNumber
}

extension BTree {
  /// Divides a page that has no room for `cell`, which belongs at `index`.
  ///
  ///  - Behind the last cell: the page stays full and a new one begins with the cell.
  ///  - Before the first one, where a descending run goes on or the page's prefix ends: likewise.
  ///  - Where an ascending run goes on: there, so that the run has the rest of a page to itself.
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
      // The new cell stays behind its predecessors when these leave it room. If they do not, they take
      // three quarters of the page, and there is room for it before the rest.
      return list.fits(0..<index + 1) ? index + 1 : index
    }
    return list.middle()
  }

  /// The new page guesses its prefix from what the keys of the full one share with the new key, so it
  /// need not be written anew for each key that follows.
  private func splitBehind(_ page: TreePage, _ cell: Cell) throws(PageFileError) -> Split {
    let (number, bytes) = try allocate(level: page.level)
    let shared = cell.key.sharedByteCount(with: page.key(page.firstKeyIndex))
    let editor = TreePageEditor(formatting: bytes, prefix: cell.key, prefixByteCount: shared)
    let key = page.isLeaf ? cell.key : .none
    editor.put(Cell(key, cell.payload), at: 0)
    let separator = separator(page, page.key(page.cellCount - 1), cell.key)
    return Split(left: page.number, separator: separator, right: number)
  }

  /// The new page takes the place before the full one.
  ///
  /// In a branch page that is the place of its first child, which moves; the new child follows as
  /// the first of the full page.
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
    precondition(isReplaced, "one child takes as much room as another")
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

  /// What separates two pages: for leaves the shortest beginning of the upper one's first key that is
  /// still above the lower one's last; for branches the key that the upper one's first cell loses.
  private func separator(_ page: TreePage, _ below: CellKey, _ above: CellKey) -> ByteBuffer {
    let byteCount = page.isLeaf ? below.sharedByteCount(with: above) + 1 : above.byteCount
    var separator = ByteBuffer(capacity: byteCount)
    above.append(first: byteCount, to: &separator)
    return separator
  }
}
