/// Changes of cells, each of another key, to be made together in the order of their keys.
package final class CellRun {
  /// The change of one cell; nil for the byte count of a value removes the cell.
  private struct Change {
    var start: Int
    var keyByteCount: Int
    var valueByteCount: Int?
  }

  private var buffer: ByteBuffer
  private var changes: [Change] = []

  /// Creates an empty run with room for the keys and values of some cells.
  package init(capacity: Int = 4096) { buffer = ByteBuffer(capacity: capacity) }

  package var count: Int { changes.count }

  package func key(_ index: Int) -> Bytes {
    buffer.bytes.slice(changes[index].start, changes[index].keyByteCount)
  }

  /// Returns the value to store; nil if the cell is to be removed.
  package func value(_ index: Int) -> Bytes? {
    let change = changes[index]
    return change.valueByteCount.map {
      buffer.bytes.slice(change.start + change.keyByteCount, $0)
    }
  }

  /// Appends a cell to be stored.
  package func append(_ key: Bytes, _ value: Bytes) {
    changes.append(
      Change(start: buffer.count, keyByteCount: key.count, valueByteCount: value.count))
    buffer.append(key)
    buffer.append(value)
  }

  /// Appends the key of a cell to be removed.
  package func appendRemoval(of key: Bytes) {
    changes.append(Change(start: buffer.count, keyByteCount: key.count))
    buffer.append(key)
  }

  /// Drops one of the changes; the last one takes its place.
  package func drop(_ index: Int) {
    changes.swapAt(index, changes.count - 1)
    changes.removeLast()
  }

  /// Puts the changes in the order of their keys.
  ///
  /// By insertion: a run that is out of order is short.
  package func sort() {
    for index in changes.indices.dropFirst() {
      var place = index
      while place > 0, key(place).compare(to: key(place - 1)) < 0 {
        changes.swapAt(place, place - 1)
        place -= 1
      }
    }
  }

  /// Removes all changes but keeps the capacity.
  package func removeAll() {
    buffer.removeAll()
    changes.removeAll(keepingCapacity: true)
  }
}

/// Changes of many cells, with one descent for all that belong to one leaf.
extension BTree {
  /// Makes the changes of a run, whose keys ascend, as `insert` and `remove` do one after the
  /// other.
  ///
  /// Returns false if a key to be removed was absent.
  ///
  /// - Throws: The errors of `insert` and `remove`. Some of the changes may have been made then.
  package func apply(_ run: CellRun) throws(PageFileError) -> Bool {
    try source.changing { () throws(PageFileError) in
      var (index, wereThere) = (0, true)
      while index < run.count {
        index = try changeLeaf(by: run, index, &wereThere)
        guard index < run.count else { break }
        // The tree is empty, or the leaf is to be split, or a value lies outside of it.
        if let value = run.value(index) {
          _ = try insert(run.key(index), value)
        } else if try !remove(run.key(index)) {
          wereThere = false
        }
        index += 1
      }
      return wereThere
    }
  }

  /// Makes the changes of a run, from an index on, that concern one leaf and nothing beside it.
  ///
  /// Returns the index of the first other change.
  private func changeLeaf(
    by run: CellRun, _ start: Int, _ wereThere: inout Bool
  ) throws(PageFileError) -> Int {
    var key = run.key(start)
    BTree.checkKey(key)
    var bound = ByteBuffer(capacity: 0)
    guard var page = try leaf(for: key, below: &bound) else { return start }
    var place = page.search(key)
    var editor: TreePageEditor?
    var index = start
    while true {
      if let value = run.value(index) {
        guard
          Cell.fitsInline(
            keyByteCount: key.count, valueByteCount: value.count, pageSize: source.pageSize),
          try put(CellKey(key), value, at: place, of: page, &editor)
        else { return index }
        place.index += 1
      } else if place.isEqual {
        guard try remove(at: place.index, of: page, &editor) else { return index }
      } else {
        wereThere = false
      }
      index += 1
      guard index < run.count, case let next = run.key(index),
        bound.count == 0 || next.compare(to: bound.bytes) < 0
      else { return index }
      BTree.checkKey(next)
      assert(key.compare(to: next) < 0, "run: keys do not ascend")
      key = next
      if let editor { page = editor.page }
      // Mostly the run stays between two cells.
      place.isEqual = false
      if place.index < page.cellCount, page.key(place.index).compare(to: CellKey(next)) <= 0 {
        place = page.search(next)
      }
    }
  }

  /// Returns the leaf that holds a key or would hold it, nil if the tree is empty, and the separator
  /// above all keys of the leaf, empty for the last leaf.
  private func leaf(
    for key: Bytes, below bound: inout ByteBuffer
  ) throws(PageFileError) -> TreePage? {
    let root = source.root(of: tree)
    guard root != .none else { return nil }
    WalkCounter.note(tree, .write)
    var page = try source.treePage(root)
    while !page.isLeaf {
      let index = page.childIndex(for: key)
      if index + 1 < page.cellCount {
        bound.removeAll()
        page.key(index + 1).append(dropping: 0, to: &bound)
      }
      page = try source.treePage(page.child(index), level: page.level - 1)
    }
    return page
  }

  /// Stores a short value in a leaf.
  ///
  /// Returns false if that concerns other pages too; a cell that has grown is out of the leaf then.
  private func put(
    _ key: CellKey, _ value: Bytes, at place: (index: Int, isEqual: Bool), of leaf: TreePage,
    _ editor: inout TreePageEditor?
  ) throws(PageFileError) -> Bool {
    if place.isEqual {
      guard let stored = leaf.inlineValue(place.index) else { return false }
      if stored.compare(to: value) == 0 { return true }
      let editor = try edit(leaf, &editor)
      if editor.replacePayload(at: place.index, with: .value(value)) { return true }
      editor.remove(at: place.index)
    }
    let cell = Cell(key, .value(value))
    let editor = try edit(leaf, &editor)
    return !editor.page.isFull(behind: cell, at: place.index)
      && editor.insert(cell, at: place.index)
  }

  /// Removes a cell from a leaf.
  ///
  /// Returns false, with nothing changed, if that concerns other pages too.
  private func remove(
    at index: Int, of leaf: TreePage, _ editor: inout TreePageEditor?
  ) throws(PageFileError) -> Bool {
    guard leaf.chain(index) == nil,
      case let left = leaf.usedByteCount - leaf.cellByteCount(index) - Cell.pointerByteCount,
      leaf.cellCount > 1, left >= leaf.capacity / 4
    else { return false }
    try edit(leaf, &editor).remove(at: index)
    return true
  }

  private func edit(
    _ leaf: TreePage, _ editor: inout TreePageEditor?
  ) throws(PageFileError) -> TreePageEditor {
    if let editor { return editor }
    let new = try edit(leaf)
    editor = new
    return new
  }
}
