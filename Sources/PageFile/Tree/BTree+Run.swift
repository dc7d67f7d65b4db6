/// Cells in ascending order of their keys, to be stored together.
package final class CellRun {
  private var buffer = ByteBuffer(capacity: 4096)
  private var cells: [(start: Int, keyByteCount: Int, valueByteCount: Int)] = []

  package init() {}

  package var count: Int { cells.count }

  package func key(_ index: Int) -> Bytes {
    buffer.bytes.slice(cells[index].start, cells[index].keyByteCount)
  }

  package func value(_ index: Int) -> Bytes {
    let cell = cells[index]
    return buffer.bytes.slice(cell.start + cell.keyByteCount, cell.valueByteCount)
  }

  /// Appends a cell, whose key must be above all others.
  package func append(_ key: Bytes, _ value: Bytes) {
    cells.append((buffer.count, key.count, value.count))
    buffer.append(key)
    buffer.append(value)
  }
}

/// Insertion of many cells, with one descent for all that go to one leaf.
extension BTree {
  /// Stores all values of a run under their keys, as `insert` does one after the other.
  ///
  /// - Throws: The errors of `insert`. Some of the cells may have been stored then.
  package func insert(_ run: CellRun) throws(PageFileError) {
    try source.changing { () throws(PageFileError) in
      var index = 0
      while index < run.count {
        index = try fillLeaf(from: run, index)
        guard index < run.count else { return }
        // The cell splits its leaf, replaces another one, or has a long value.
        _ = try insert(run.key(index), run.value(index))
        index += 1
      }
    }
  }

  /// Inserts the cells of a run, from an index on, that belong to one leaf and have room there.
  ///
  /// Returns the index of the first other cell.
  private func fillLeaf(from run: CellRun, _ start: Int) throws(PageFileError) -> Int {
    let root = source.root(of: tree)
    guard root != .none else { return start }
    let key = run.key(start)
    BTree.checkKey(key)
    WalkCounter.note(tree, .write)
    // The separator above all keys of the leaf, empty for the last leaf.
    var bound = ByteBuffer(capacity: 0)
    var page = try source.treePage(root)
    while !page.isLeaf {
      let index = page.childIndex(for: key)
      if index + 1 < page.cellCount {
        bound.removeAll()
        page.key(index + 1).append(dropping: 0, to: &bound)
      }
      page = try source.treePage(page.child(index), level: page.level - 1)
    }
    var place = page.search(key)
    guard !place.isEqual else { return start }
    let editor = try edit(page)
    var index = start
    while true {
      let (key, value) = (run.key(index), run.value(index))
      let cell = Cell(CellKey(key), .value(value))
      guard
        Cell.fitsInline(
          keyByteCount: key.count, valueByteCount: value.count, pageSize: source.pageSize),
        !editor.page.isFull(behind: cell, at: place.index), editor.insert(cell, at: place.index)
      else { return index }
      index += 1
      guard index < run.count, case let next = run.key(index),
        bound.count == 0 || next.compare(to: bound.bytes) < 0
      else { return index }
      BTree.checkKey(next)
      assert(key.compare(to: next) < 0, "run: keys do not ascend")
      // Mostly the run stays between two cells.
      place.index += 1
      let page = editor.page
      if place.index < page.cellCount, page.key(place.index).compare(to: CellKey(next)) <= 0 {
        place = page.search(next)
        if place.isEqual { return index }
      }
    }
  }
}
