import PageFile

/// Finds the dictionaries that no segment names any more, so that they may be removed.
///
/// A dictionary that goes too early takes all messages with it that were packed with it. So the
/// segments themselves are asked, and not the work that should have packed them anew: a writer or
/// another compaction may have come between its steps.
///
///  1. Segments are packed with the newest dictionary, or with none. So a segment names an older one
///     only if it did so all the time, and a walk in steps, each at a moment of its own, meets it.
///  2. A dictionary that becomes an old one during the walk is left to the next compaction.
struct OldDictionaries: Sendable {
  /// The older dictionaries that no segment has named so far; nil before the first step.
  private(set) var unnamed: Set<UInt32>?
  /// Where the walk goes on.
  private var next: [UInt8] = []

  /// Cells that one step reads.
  private static let stepCellCount = 4096

  /// Reads on; false when nothing is left to read.
  mutating func step(_ view: StoreView) throws(StoreError) -> Bool {
    var unnamed: Set<UInt32>
    if let found = self.unnamed {
      unnamed = found
    } else {
      unnamed = Set(try view.dictionaryTable.dictionaryNumbers().dropLast())
    }
    defer { self.unnamed = unnamed }
    var cursor = try view.cursor(Schema.messages, from: next)
    var value = ByteBuffer()
    for _ in 0..<Self.stepCellCount {
      guard cursor.isAtCell, !unnamed.isEmpty else { return false }
      if let number = try Self.dictionary(of: cursor, view, &value),
        !StoreDefect.dictionaryDroppedEarly.isPlanted
      {
        unnamed.remove(number)
      }
      try storage { () throws(PageFileError) in _ = try cursor.next() }
    }
    guard cursor.isAtCell else { return false }
    var key = ByteBuffer()
    cursor.appendKey(to: &key)
    next = key.bytes.array()
    return true
  }

  /// The dictionary that a cell names; nil where it is no segment.
  private static func dictionary(
    of cursor: borrowing Cursor, _ view: StoreView, _ value: inout ByteBuffer
  ) throws(StoreError) -> UInt32? {
    value.removeAll()
    // What stands before the columns is in the first bytes, and no text is unpacked.
    let head: Bytes
    if let inline = cursor.inlineValue {
      head = inline
    } else {
      try view.append(cursor, to: &value)
      head = value.bytes
    }
    guard Segment.isSegment(head) else { return nil }
    guard let (_, coding) = SegmentHeader.beginning(head) else {
      throw view.corrupt(Schema.messages, "a segment is none")
    }
    return if case .lz4(let number) = coding { number } else { nil }
  }
}

extension StoreCore {
  /// Looks on for dictionaries that no segment names, and removes them at the end; false when nothing
  /// is left to do.
  func step(_ old: inout OldDictionaries) throws -> Bool {
    let begun = old
    let (new, isGoingOn) = try read { snapshot in
      // The closure may run again.
      var new = begun
      let isGoingOn = try snapshot.within { (view) throws(StoreError) in try new.step(view) }
      return (new, isGoingOn)
    }
    old = new
    if !isGoingOn, let unnamed = new.unnamed, !unnamed.isEmpty {
      try write(.relaxed) { writer in
        try writer.transaction.perform(
          try writer.transaction.dictionaryTable.remove(dictionaries: unnamed))
      }
    }
    return isGoingOn
  }
}

extension DictionaryTable {
  /// Removes dictionaries that no segment names; the newest stays.
  func remove(dictionaries numbers: Set<UInt32>) throws(StoreError) {
    let newest = try view.dictionaryTable.newestDictionary()
    var key = ByteBuffer()
    for number in numbers.sorted() where number < newest {
      let prefix = DictionaryPieces.prefix(number)
      while try flushed().firstKey(prefix.bytes, in: Schema.settings, to: &key) {
        try transaction.remove(key.bytes, in: Schema.settings)
      }
    }
  }
}
