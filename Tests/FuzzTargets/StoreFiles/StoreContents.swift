import PageFile

/// What the trees of a store hold, as far as it can be read, and its words.
struct StoreContents: Equatable {
  struct Cell: Equatable {
    let key: [UInt8]
    /// Empty if it was too much to read.
    var value: [UInt8]
  }

  struct Tree: Equatable {
    /// In the order of keys.
    var cells: [Cell] = []
    var isWhole = true

    /// Where a key is or would be.
    private func place(of key: [UInt8]) -> (index: Int, isThere: Bool) {
      let index = cells.firstIndex { !$0.key.lexicographicallyPrecedes(key) } ?? cells.count
      return (index, index < cells.count && cells[index].key == key)
    }

    mutating func put(_ key: [UInt8], _ value: [UInt8]) {
      let (index, isThere) = place(of: key)
      if isThere { cells.remove(at: index) }
      cells.insert(Cell(key: key, value: value), at: index)
    }

    mutating func remove(_ key: [UInt8]) {
      let (index, isThere) = place(of: key)
      if isThere { cells.remove(at: index) }
    }
  }

  /// Only trees that have a root.
  var trees: [Int: Tree] = [:]
  var words: [UInt64]

  /// Whether everything could be read.
  var isWhole: Bool { trees.values.allSatisfy(\.isWhole) }

  /// Values are read up to this many bytes in all: chains that run in circles make a few pages look
  /// like gigabytes, each value of them within its limit.
  private static let maximumValueByteCount = 4 << 20

  /// Reads everything with cursors, forwards and backwards.
  ///
  /// Both ways lead past the same pages, so what one of them finds the other does too.
  init(_ source: PageSource) throws(BrokenPromise) {
    words = (0..<Words.count).map { source.word($0) }
    var byteCountLeft = Self.maximumValueByteCount
    for number in 0..<Roots.maximumCount where source.root(of: TreeNumber(number)) != .none {
      var tree = Tree()
      do throws(PageFileError) {
        try Self.walk(source, number, isForwards: true) { (key, cursor) throws(PageFileError) in
          tree.cells.append(Cell(key: key, value: []))
          guard cursor.valueByteCount <= byteCountLeft else { return }
          var value = ByteBuffer()
          try cursor.appendValue(to: &value)
          byteCountLeft -= value.count
          tree.cells[tree.cells.count - 1].value = value.bytes.array()
        }
      } catch {
        tree.isWhole = false
      }
      trees[number] = tree
      try Self.promiseOrder(tree.cells)
      var backwards: [[UInt8]] = []
      do throws(PageFileError) {
        try Self.walk(source, number, isForwards: false) { key, _ in backwards.append(key) }
      } catch {
        try promise(!tree.isWhole, "tree \(number) can be read forwards only: \(error)")
        continue
      }
      try promise(
        !tree.isWhole || backwards.reversed().elementsEqual(tree.cells.lazy.map(\.key)),
        "tree \(number) reads otherwise backwards")
    }
  }

  private static func walk(
    _ source: PageSource, _ tree: Int, isForwards: Bool,
    _ body: (_ key: [UInt8], borrowing Cursor) throws(PageFileError) -> Void
  ) throws(PageFileError) {
    try source.enter()
    defer { source.leave() }
    var cursor = Cursor(source, TreeNumber(tree))
    var isAtCell = isForwards ? try cursor.first() : try cursor.last()
    while isAtCell {
      var key = ByteBuffer()
      cursor.appendKey(to: &key)
      try body(key.bytes.array(), cursor)
      isAtCell = isForwards ? try cursor.next() : try cursor.previous()
    }
  }

  private static func promiseOrder(_ cells: [Cell]) throws(BrokenPromise) {
    for (cell, next) in zip(cells, cells.dropFirst()) {
      try promise(cell.key.lexicographicallyPrecedes(next.key), "keys do not ascend")
    }
  }

  /// Whether every key is found by looking for it, and has the value that the cursor showed.
  ///
  /// For a store that a check finds nothing wrong with.
  func promiseLookups(_ source: PageSource) throws(BrokenPromise) {
    for (number, tree) in trees {
      for cell in tree.cells.prefix(50) {
        let found: [UInt8]?
        do throws(PageFileError) {
          found = try source.value(of: cell.key, tree: number)
        } catch {
          throw BrokenPromise("a key that the cursor showed is not found: \(error)")
        }
        let isSame = cell.value.isEmpty ? found != nil : found == cell.value
        try promise(isSame, "a key has another value than the cursor showed")
      }
    }
  }
}
