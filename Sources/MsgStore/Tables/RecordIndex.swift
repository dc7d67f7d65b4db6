package import PageFile

/// An index: keys that follow from a record alone, by which it is found beside its own place.
///
/// Writers change the keys with `CellRun.change`, and `check` counts them again by the same
/// function.
package protocol RecordIndex {
  associatedtype Record
  /// The tree that the keys lie in: the index tree, unless the index says another one.
  static var tree: TreeNumber { get }
  /// True if several records may have one key, whose value is their number; else values are empty.
  static var isCounted: Bool { get }

  /// Runs `body` on each key of a record, on none twice.
  static func forEachKey(
    of record: Record, _ body: (borrowing ByteBuffer) throws(StoreError) -> Void
  ) throws(StoreError)
}

extension RecordIndex {
  package static var tree: TreeNumber { Schema.index }
}

extension CellRun {
  /// Appends the changes by which the keys of an index follow a change of a record.
  ///
  /// - Parameters:
  ///   - old: The record before the change; nil if there was none.
  ///   - new: The record after it; nil if it is removed.
  mutating func change<I: RecordIndex>(
    _ index: I.Type, from old: I.Record?, to new: I.Record?
  ) throws(StoreError) {
    let start = count
    if let old {
      try index.forEachKey(of: old) { (key) throws(StoreError) in
        index.isCounted ? appendCount(-1, of: key.bytes) : appendRemoval(of: key.bytes)
      }
    }
    let end = count
    guard let new else { return }
    try index.forEachKey(of: new) { (key) throws(StoreError) in
      for place in start..<min(end, count) where self.key(place).compare(to: key.bytes) == 0 {
        // The key stays.
        return drop(place)
      }
      index.isCounted ? appendCount(1, of: key.bytes) : append(key.bytes, .empty)
    }
  }
}
