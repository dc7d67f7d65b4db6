package import PageFile

/// A walk over the cells of a tree whose keys have a prefix.
///
/// One copy of its code serves every kind of cell; a loop around a closure would be compiled for
/// each closure.
struct CellWalk: ~Copyable {
  private var cursor: Cursor
  private let start: Bytes
  private let prefix: Bytes
  private var isStarted = false
  private var keyBuffer = ByteBuffer()
  private var valueBuffer = ByteBuffer()

  /// Creates a walk that reads nothing yet.
  ///
  /// - Parameters:
  ///   - start: The key to begin at; valid for as long as the walk is used.
  ///   - byteCount: The byte count of the prefix if `start` goes on behind it, to the first cell.
  @inline(never)
  init(_ view: StoreView, _ tree: TreeNumber, from start: Bytes, sharing byteCount: Int?) {
    cursor = Cursor(view.source, tree)
    self.start = start
    prefix = start.slice(0, byteCount ?? start.count)
  }

  // Out of line: each caller would free the cursor and both buffers with code of its own.
  @inline(never)
  deinit {}

  /// Goes to the next cell, and copies it; returns false behind the last one.
  @inline(never)
  mutating func next() throws(StoreError) -> Bool {
    do throws(PageFileError) {
      if isStarted { _ = try cursor.next() } else { _ = try cursor.seek(start) }
      isStarted = true
      guard cursor.isAtCell, cursor.keyHasPrefix(prefix) else { return false }
      keyBuffer.removeAll()
      valueBuffer.removeAll()
      cursor.appendKey(to: &keyBuffer)
      try cursor.appendValue(to: &valueBuffer)
      return true
    } catch {
      try raise(error)
    }
  }

  /// The key of the current cell; valid until the next step.
  var key: Bytes { keyBuffer.bytes }
  /// The value of the current cell; valid until the next step.
  var value: Bytes { valueBuffer.bytes }
}

extension StoreView {
  /// Runs `body` on every cell whose key has a prefix, until it returns false.
  ///
  /// The bytes are valid only during the call. The tree must not be changed meanwhile.
  ///
  /// - Parameter byteCount: The byte count of the prefix if `start` goes on behind it, to the first
  ///   cell.
  @inline(__always)
  package func forEachCell(
    with start: borrowing ByteBuffer, sharing byteCount: Int? = nil, in tree: TreeNumber,
    _ body: (_ key: Bytes, _ value: Bytes) throws(StoreError) -> Bool
  ) throws(StoreError) {
    var walk = CellWalk(self, tree, from: start.bytes, sharing: byteCount)
    while try walk.next() {
      guard try body(walk.key, walk.value) else { return }
    }
  }
}
