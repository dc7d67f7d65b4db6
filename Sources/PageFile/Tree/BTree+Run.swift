/// Changes of cells, to be made together in the order of their keys.
///
/// A class would cost an exclusivity check for each access.
package struct CellRun: ~Copyable {
  /// A change of one cell.
  package enum Action {
    case store(Bytes)
    case remove
    /// Adds to the number of a cell that counts, see `CellCount`.
    case count(Int)
  }

  private enum Kind {
    case store(byteCount: Int)
    case remove
    case count(Int)
  }

  private struct Change {
    var start: Int
    var keyByteCount: Int
    var kind: Kind
  }

  private var buffer: ByteBuffer
  private var changes: [Change] = []

  /// Creates an empty run with room for the keys and values of some cells.
  package init(capacity: Int = 4096) { buffer = ByteBuffer(capacity: capacity) }

  package var count: Int { changes.count }

  package func key(_ index: Int) -> Bytes {
    buffer.bytes.slice(changes[index].start, changes[index].keyByteCount)
  }

  package func action(_ index: Int) -> Action {
    let change = changes[index]
    switch change.kind {
    case .store(let byteCount):
      return .store(buffer.bytes.slice(change.start + change.keyByteCount, byteCount))
    case .remove: return .remove
    case .count(let difference): return .count(difference)
    }
  }

  /// Appends a cell to be stored.
  package mutating func append(_ key: Bytes, _ value: Bytes) {
    append(key, .store(byteCount: value.count))
    buffer.append(value)
  }

  /// Appends the key of a cell to be removed.
  package mutating func appendRemoval(of key: Bytes) { append(key, .remove) }

  /// Appends the key of a cell that counts, to whose number something is added.
  package mutating func appendCount(_ difference: Int, of key: Bytes) {
    append(key, .count(difference))
  }

  private mutating func append(_ key: Bytes, _ kind: Kind) {
    changes.append(Change(start: buffer.count, keyByteCount: key.count, kind: kind))
    buffer.append(key)
  }

  /// Drops one of the changes; the last one takes its place.
  package mutating func drop(_ index: Int) {
    changes.swapAt(index, changes.count - 1)
    changes.removeLast()
  }

  /// Puts the changes in the order of their keys.
  ///
  /// By insertion: a run that is out of order is short.
  package mutating func sort() {
    for index in changes.indices.dropFirst() {
      var place = index
      while place > 0, key(place).compare(to: key(place - 1)) < 0 {
        changes.swapAt(place, place - 1)
        place -= 1
      }
    }
  }

  /// Removes all changes but keeps the capacity.
  package mutating func removeAll() {
    buffer.removeAll()
    changes.removeAll(keepingCapacity: true)
  }
}

/// Changes of many cells, with one descent for all that belong to one leaf.
extension BTree {
  /// Makes the changes of a run, whose keys do not descend, as `insert` and `remove` do one after
  /// the other.
  ///
  /// Returns false if a key to be removed was absent, or a number malformed or already 0.
  ///
  /// - Throws: The errors of `insert` and `remove`. Some of the changes may have been made then.
  package func apply(_ run: borrowing CellRun) throws(PageFileError) -> Bool {
    try source.changing { () throws(PageFileError) in
      var (index, isRight) = (0, true)
      var number: ByteBuffer?
      while index < run.count { try changeLeaf(by: run, &index, &number, &isRight) }
      return isRight
    }
  }

  /// Makes the changes of a run, from an index on, that concern one leaf, up to the first for which
  /// the leaf has no room, and moves the index behind them.
  private func changeLeaf(
    by run: borrowing CellRun, _ index: inout Int, _ number: inout ByteBuffer?,
    _ isRight: inout Bool
  ) throws(PageFileError) {
    var key = run.key(index)
    BTree.checkKey(key)
    guard let (found, bound) = try placeAndBound(of: key) else {
      if case .store(let value)? = action(of: run, index, on: nil, &number) {
        try BTree.checkValue(value)
        _ = try put(key, value, at: nil)
      } else {
        isRight = false
      }
      index += 1
      return
    }
    var page = found.leaf
    var place = (index: found.index, isEqual: found.isEqual)
    var editor: TreePageEditor?
    let usedBefore = page.usedByteCount
    while true {
      switch action(of: run, index, on: place.isEqual ? (page, place.index) : nil, &number) {
      case .store(let value)?:
        guard try putInPlace(key, value, at: place, of: page, &editor) else {
          try BTree.checkValue(value)
          _ = try put(key, value, at: Place(of: key, in: editor?.page ?? page))
          index += 1
          return
        }
        place.index += 1
      case .remove? where place.isEqual:
        if let chain = page.chain(place.index) { try chain.free(in: source) }
        try edit(page, &editor).remove(at: place.index)
      default: isRight = false
      }
      index += 1
      if let editor { page = editor.page }
      guard index < run.count, case let next = run.key(index),
        Self.isBelow(next, bound, of: page)
      else { break }
      BTree.checkKey(next)
      let order = key.compare(to: next)
      assert(order <= 0, "run: keys descend")
      key = next
      // Mostly the run stays between two cells.
      place.isEqual = false
      if order == 0
        || place.index < page.cellCount && page.key(place.index).compare(to: CellKey(key)) <= 0
      {
        place = page.search(key)
      }
    }
    guard page.isToMerge(after: usedBefore) else { return }
    var path = TreePath()
    try descend(toward: key, to: page, &path)
    try shrink(page, up: &path)
  }

  /// The upper bound of the keys that are known to belong to a leaf.
  private enum Bound {
    /// No bound: the leaf is the last one.
    case none
    /// The separator above the leaf.
    case separator(TreePage, Int)
    /// The last key of the leaf itself.
    case lastKey
  }

  /// Returns true if a key that belongs to no leaf before this one lies below the leaf's bound.
  private static func isBelow(_ key: Bytes, _ bound: Bound, of leaf: TreePage) -> Bool {
    switch bound {
    case .none: true
    case .separator(let page, let index): page.key(index).compare(to: CellKey(key)) > 0
    case .lastKey:
      leaf.cellCount > 0 && leaf.key(leaf.cellCount - 1).compare(to: CellKey(key)) >= 0
    }
  }

  /// Returns the change of a cell, with the number that a cell that counts gets; nil if its number
  /// is malformed or would fall below 0.
  private func action(
    of run: borrowing CellRun, _ index: Int, on cell: (leaf: TreePage, index: Int)?,
    _ number: inout ByteBuffer?
  ) -> CellRun.Action? {
    guard case .count(let difference) = run.action(index) else { return run.action(index) }
    var count = 0
    if let cell {
      guard let stored = cell.leaf.inlineValue(cell.index).flatMap(CellCount.decode) else {
        return nil
      }
      count = Int(stored)
    }
    let (sum, isOverflow) = count.addingReportingOverflow(difference)
    if isOverflow || sum < 0 || sum == 0 && cell == nil { return nil }
    if sum == 0 { return .remove }
    var buffer = number.take() ?? ByteBuffer(capacity: 16)
    buffer.removeAll()
    CellCount.append(min(UInt64(sum), CellCount.maximum), to: &buffer)
    let value = buffer.bytes
    number = consume buffer
    return .store(value)
  }

  /// Returns the place of a key, and the bound of the keys of its leaf; nil if the tree is empty.
  private func placeAndBound(
    of key: Bytes
  ) throws(PageFileError) -> (place: Place, bound: Bound)? {
    if let place = try recentPlace(of: key) { return (place, recentBound(of: place.leaf)) }
    guard let (place, bounds) = try descend(to: key, .write) else { return nil }
    // Else keys of the run below the bound would not belong to the leaf.
    if let page = bounds.contradiction {
      throw .corruptPage(page, reason: "the page holds keys outside its parent's bounds")
    }
    guard let upper = bounds.upper else { return (place, Bound.none) }
    return (place, .separator(upper.page, upper.index))
  }

  /// Returns the bound of the keys of the recent leaf.
  private func recentBound(of leaf: TreePage) -> Bound {
    if leaf.number == source.root(of: tree) { return .none }
    guard let (parent, index) = recentParent(of: leaf), index + 1 < parent.cellCount
    else { return .lastKey }
    return .separator(parent, index + 1)
  }

  /// Stores a short value in a leaf that has room for it.
  ///
  /// Returns false otherwise; a cell that has grown is out of the leaf then.
  private func putInPlace(
    _ key: Bytes, _ value: Bytes, at place: (index: Int, isEqual: Bool), of leaf: TreePage,
    _ editor: inout TreePageEditor?
  ) throws(PageFileError) -> Bool {
    let fits = Cell.fitsInline(
      keyByteCount: key.count, valueByteCount: value.count, pageSize: source.pageSize)
    guard fits else { return false }
    if place.isEqual {
      guard let stored = leaf.inlineValue(place.index) else { return false }
      if stored.compare(to: value) == 0 { return true }
      let editor = try edit(leaf, &editor)
      if editor.replacePayload(at: place.index, with: .value(value)) { return true }
      editor.remove(at: place.index)
    }
    let cell = Cell(CellKey(key), .value(value))
    let editor = try edit(leaf, &editor)
    return !editor.page.isFull(behind: cell, at: place.index)
      && editor.insert(cell, at: place.index)
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
