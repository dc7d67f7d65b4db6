import PageFile

/// The segments of a store that do not fit the cells of its encrypted copy.
///
/// A page of an encrypted store holds 32 bytes less than one of the same size, and a cell 8 bytes
/// less. A segment has to lie in its cell, so of the few that are larger the messages are packed
/// again, into two segments.
struct SegmentFitting {
  private let view: StoreView
  private let copy: Database
  /// The numbers of cells that are looked at, and of segments that are packed again, in one step.
  private static let maximumCellCount = 10_000
  private static let maximumSegmentCount = 200

  /// Packs the segments of a moment again in its copy, where they do not fit.
  static func run(_ moment: borrowing ReadTransaction, in copy: Database, path: String) throws {
    let source = moment.source
    let limit = source.maximumValueByteCount(keyByteCount: 1)
    guard !copy.fitsInline(keyByteCount: 1, valueByteCount: limit) else { return }
    let view = StoreView(
      source: source, names: MemberNames(), dictionaries: Dictionaries(), isCommitted: true)
    let fitting = SegmentFitting(view: view, copy: copy)
    var core: StoreCore?
    var next: [UInt8]? = []
    while let start = next {
      var keys: [[UInt8]] = []
      next = try fitting.find(from: start, &keys)
      if keys.isEmpty { continue }
      // Made when it is needed: opening the store may bring it to a newer version.
      let opened = try core ?? fitting.open(path)
      try fitting.pack(keys, in: opened)
      core = opened
    }
  }

  private func open(_ path: String) throws(StoreError) -> StoreCore {
    var options = StoreOptions()
    options.worksInBackground = false
    return try StoreCore(copy, path: path, options)
  }

  /// Appends the keys of segments that are too large, and returns the key to go on from; nil at the
  /// end.
  private func find(
    from start: [UInt8], _ keys: inout [[UInt8]]
  ) throws(StoreError) -> [UInt8]? {
    try view.within { () throws(StoreError) in
      var cursor = try view.cursor(Schema.messages, from: start)
      var key = ByteBuffer()
      var cellCount = 0
      while cursor.isAtCell {
        key.removeAll()
        cursor.appendKey(to: &key)
        if cellCount == Self.maximumCellCount || keys.count == Self.maximumSegmentCount {
          return key.bytes.array()
        }
        cellCount += 1
        if let value = cursor.inlineValue, Segment.isSegment(value),
          !copy.fitsInline(keyByteCount: key.count, valueByteCount: value.count)
        {
          keys.append(key.bytes.array())
        }
        _ = try storage { () throws(PageFileError) in try cursor.next() }
      }
      return nil
    }
  }

  /// Packs the messages of segments again, in one commit of the copy.
  private func pack(_ keys: [[UInt8]], in core: StoreCore) throws {
    try core.write(.relaxed) { writer in
      for key in keys {
        var run = MessageRun()
        let cell = try take(key, to: &run)
        try writer.transaction.perform(
          try writer.transaction.packer.replaceSegment(cell, with: run))
      }
    }
  }

  private func take(_ key: [UInt8], to run: inout MessageRun) throws(StoreError) -> TakenCell {
    try view.within { () throws(StoreError) in
      var cursor = MessageCursor(view)
      let isThere = try Bytes.with(key) { (key) throws(StoreError) in try cursor.seek(key) }
      guard isThere, cursor.isPacked else { throw view.corrupt(Schema.messages, "segment is gone") }
      return try cursor.takeSegment(to: &run)
    }
  }
}
