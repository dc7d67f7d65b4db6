package import PageFile

/// An index: keys that follow from a record alone, by which it is found beside its own place.
///
/// Writers change the keys with `CellRun.change`, and `check` counts them again by the same
/// function. The values are empty.
package protocol Index {
  associatedtype Record

  /// Runs `body` on each key of a record, on none twice.
  static func forEachKey(
    of record: Record, _ body: (borrowing ByteBuffer) throws(StoreError) -> Void
  ) throws(StoreError)
}

extension CellRun {
  /// Appends the changes by which the keys of an index follow a change of a record.
  ///
  /// - Parameters:
  ///   - old: The record before the change; nil if there was none.
  ///   - new: The record after it; nil if it is removed.
  func change<I: Index>(
    _ index: I.Type, from old: I.Record?, to new: I.Record?
  ) throws(StoreError) {
    let start = count
    if let old {
      try index.forEachKey(of: old) { (key) throws(StoreError) in appendRemoval(of: key.bytes) }
    }
    guard let new else { return }
    try index.forEachKey(of: new) { (key) throws(StoreError) in
      for place in start..<count where value(place) == nil {
        guard self.key(place).compare(to: key.bytes) == 0 else { continue }
        // The key stays.
        return drop(place)
      }
      append(key.bytes, .empty)
    }
  }
}
