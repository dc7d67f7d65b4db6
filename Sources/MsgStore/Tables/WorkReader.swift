import PageFile

/// A reader of the work that is left to be done in steps.
package struct WorkReader {
  let view: StoreView

  init(_ view: StoreView) { self.view = view }

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
    var cursor = Cursor(view.source, Schema.work)
    var key = ByteBuffer()
    var value = ByteBuffer()
    try storage { () throws(PageFileError) in _ = try cursor.first() }
    let start = WorkRecord.keyStart
    while cursor.isAtCell, cursor.keyHasPrefix(start.bytes) {
      key.removeAll()
      value.removeAll()
      cursor.appendKey(to: &key)
      try view.append(cursor, to: &value)
      guard key.count == 8, let work = WorkRecord(value.bytes) else {
        throw view.corrupt(Schema.work, "malformed work record")
      }
      found.append((key.bytes.bigEndian64(at: 0), work))
      try storage { () throws(PageFileError) in _ = try cursor.next() }
    }
    return found
  }
}

extension StoreView {
  package var work: WorkReader { WorkReader(self) }
}
