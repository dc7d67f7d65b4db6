import PageFile

/// A search for dictionaries that no segment refers to, so that they can be removed.
///
/// Removing a dictionary too early loses all messages packed with it. So the search asks the
/// segments themselves instead of trusting the repacking: a writer or another compaction may have
/// come between its steps.
///
///  1. Segments are packed with the newest dictionary, or with none. So a segment names an older
///     one only if it has done so all the time, and a walk in steps, each on its own snapshot,
///     meets it.
///  2. A dictionary that becomes an old one during the walk is left to the next compaction.
struct OldDictionaries: Sendable {
  /// The older dictionaries that no segment has named so far; nil before the first step.
  private(set) var unnamed: Set<UInt32>?
  /// The key at which the walk continues.
  private var next: [UInt8] = []

  /// The number of cells read in one step.
  private static let stepCellCount = 4096

  /// Reads the next cells; returns false at the end of the walk.
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

  /// Returns the number of the dictionary that a cell names, or nil if the cell is not a segment.
  private static func dictionary(
    of cursor: borrowing Cursor, _ view: StoreView, _ value: inout ByteBuffer
  ) throws(StoreError) -> UInt32? {
    value.removeAll()
    // The header lies in the first bytes, so no text is unpacked.
    let head: Bytes
    if let inline = cursor.inlineValue {
      head = inline
    } else {
      try view.append(cursor, to: &value)
      head = value.bytes
    }
    guard Segment.isSegment(head) else { return nil }
    guard let (_, coding) = SegmentHeader.beginning(head) else {
      throw view.corrupt(Schema.messages, "malformed segment header")
    }
    return if case .lz4(let number) = coding { number } else { nil }
  }
}

extension StoreCore {
  /// Continues the search, and removes the dictionaries found at its end; returns false once it is
  /// done.
  func step(_ old: inout OldDictionaries) throws -> Bool {
    let begun = old
    let (new, isGoingOn) = try read { snapshot in
      // The closure may run more than once.
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
  /// Removes dictionaries that no segment names; the newest one stays.
  func remove(dictionaries numbers: Set<UInt32>) throws(StoreError) {
    let newest = try view.dictionaryTable.newestDictionary()
    var key = ByteBuffer()
    for number in Array(numbers).sorted() where number < newest {
      let prefix = DictionaryPieces.prefix(number)
      while try flushed().firstKey(prefix.bytes, in: Schema.settings, to: &key) {
        try transaction.remove(key.bytes, in: Schema.settings)
      }
    }
  }
}
