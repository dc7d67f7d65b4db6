import PageFile

extension MessageCursor {
  /// Appends the message at the cursor if it lies in a segment and could be part of a run.
  ///
  /// Returns false and appends nothing if it could not. The cursor stays at the message.
  mutating func appendPacked(to builder: inout SliceBuilder) throws(StoreError) -> Bool {
    try loadRecords()
    guard case .unpacked(let index) = place else { return false }
    var last: Int64?
    return try builder.appendRun(
      segment, from: index, step: 1, limit: builder.count + 1, after: &last, hideTime) != index
  }

  /// Appends messages to a slice from the cursor on, for as long as they are plain and lie in one
  /// leaf or one segment.
  ///
  /// Moves past them.
  ///
  /// See `SliceBuilder.appendRun`.
  mutating func appendRun(
    to builder: inout SliceBuilder, step: Int, limit: Int, after last: inout Int64?
  ) throws(StoreError) {
    if case .alone = place {
      let start = cursor.cellIndex
      let end = try builder.appendRun(
        cursor.page, from: start, step: step, limit: limit, after: &last, hideTime)
      if end == start { return }
      if cursor.go(to: end) {
        arrive(fromEnd: step < 0)
        if let hideTime { _ = try passHidden(hideTime, isForward: step > 0) }
        return
      }
      _ = cursor.go(to: end - step)
    } else {
      try loadRecords()
      guard case .unpacked(let start) = place else { return }
      let end = try builder.appendRun(
        segment, from: start, step: step, limit: limit, after: &last, hideTime)
      place = .unpacked(index: end)
      if end >= 0, end < segment.rows.count {
        if let hideTime { _ = try passHidden(hideTime, isForward: step > 0) }
        return
      }
      place = .unpacked(index: end - step)
    }
    _ = step < 0 ? try previous() : try next()
  }
}
