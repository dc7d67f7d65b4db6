import PageFile

/// A reader of the work that is left to be done in steps.
package struct WorkReader {
  let view: StoreView

  /// True if work is left.
  var hasWork: Bool {
    get throws(StoreError) {
      if try hasStoreWork { return true }
      return view.source.outboxTotals.hasSteps
    }
  }

  /// True if work is left other than that of the outbox, which lies behind it in the same tree.
  var hasStoreWork: Bool {
    get throws(StoreError) {
      if view.source.root(of: Schema.work) == .none { return false }
      var cursor = Cursor(view.source, Schema.work)
      try storage { () throws(PageFileError) in _ = try cursor.first() }
      let start = WorkRecord.keyStart
      return cursor.isAtCell && cursor.keyHasPrefix(start.bytes)
    }
  }

  /// Returns the oldest work that is left, or nil after the last.
  func first() throws(StoreError) -> (ordinal: UInt64, work: WorkRecord)? {
    var found: (ordinal: UInt64, work: WorkRecord)?
    try forEach { (ordinal, work) throws(StoreError) in
      found = (ordinal, work)
      return false
    }
    return found
  }

  /// Returns all work that is left, oldest first.
  package func work() throws(StoreError) -> [(ordinal: UInt64, work: WorkRecord)] {
    var found: [(ordinal: UInt64, work: WorkRecord)] = []
    try forEach { (ordinal, work) throws(StoreError) in
      found.append((ordinal, work))
      return true
    }
    return found
  }

  /// Runs `body` on the work that is left, oldest first, until it returns false.
  private func forEach(
    _ body: (_ ordinal: UInt64, _ work: WorkRecord) throws(StoreError) -> Bool
  ) throws(StoreError) {
    try view.forEachCell(with: WorkRecord.keyStart, in: Schema.work) {
      (key, value) throws(StoreError) in
      guard key.count == 8 else {
        throw view.corrupt(Schema.work, "malformed key (\(key.count) bytes)")
      }
      return try body(key.bigEndian64(at: 0), try view.decoded(value, at: key))
    }
  }
}

extension StoreView {
  package var work: WorkReader { WorkReader(view: self) }
}
