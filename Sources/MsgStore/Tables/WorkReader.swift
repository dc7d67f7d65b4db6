import PageFile

/// A reader of the work that is left to be done in steps.
package struct WorkReader {
  let view: StoreView

  /// True if work is left.
  var hasWork: Bool {
    get throws(StoreError) {
      if try hasStoreWork { return true }
      return try view.outbox.totals().hasSteps
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

  /// Returns all work that is left, oldest first.
  package func work() throws(StoreError) -> [(ordinal: UInt64, work: WorkRecord)] {
    var found: [(ordinal: UInt64, work: WorkRecord)] = []
    try view.forEachCell(with: WorkRecord.keyStart, in: Schema.work) {
      (key, value) throws(StoreError) in
      guard key.count == 8 else {
        throw view.corrupt(Schema.work, "malformed key (\(key.count) bytes)")
      }
      found.append((key.bigEndian64(at: 0), try view.decoded(value, at: key)))
      return true
    }
    return found
  }
}

extension StoreView {
  package var work: WorkReader { WorkReader(view: self) }
}
