package import PageFile

/// The known sequence numbers of a conversation: those of messages that are or were here, and those
/// for which the server says that there is no message.
///
/// See docs/message-format.md, Q-1 … Q-4. They are kept as runs that neither touch nor overlap. The
/// newest run is in the summary, so that a message that comes in order changes nothing else. The
/// others have cells in the conversations tree:
///
///     conversation's number (4), 0x08, first sequence (8) → last sequence (8)
package struct KnownSequences {
  let view: StoreView
  package let conversation: UInt32
  /// The run above all others, or nil if no number is known.
  package let newest: ClosedRange<Int64>?

  package init(view: StoreView, conversation: UInt32, newest: ClosedRange<Int64>?) {
    self.view = view
    self.conversation = conversation
    self.newest = newest
  }

  package static let keySuffix: UInt8 = 8
  package static let keyByteCount = 13

  /// Returns the common prefix of the keys of a conversation's runs.
  @inline(never)
  static func prefix(_ conversation: UInt32) -> ByteBuffer {
    KeyEncoding.key(conversation).appending(keySuffix)
  }

  static func key(_ conversation: UInt32, _ first: Int64) -> ByteBuffer {
    prefix(conversation).appending(KeyEncoding.flipped(first))
  }

  /// Decodes the run of an entry.
  ///
  /// Returns nil if the bytes are not a valid entry.
  package static func run(_ key: Bytes, _ value: Bytes) -> ClosedRange<Int64>? {
    guard key.count == keyByteCount, key[KeyEncoding.numberByteCount] == keySuffix,
      value.count == 8
    else { return nil }
    let first = KeyEncoding.unflipped(key.bigEndian64(at: KeyEncoding.numberByteCount + 1))
    let last = Int64(bitPattern: value.uint64(at: 0))
    return first <= last ? first...last : nil
  }

  /// Returns the last run that begins at or below a number.
  package func run(from number: Int64) throws(StoreError) -> ClosedRange<Int64>? {
    if let newest, newest.lowerBound <= number { return newest }
    return try olderRun(from: number)
  }

  /// Returns the last of the older runs, all but the newest, that begins at or below a number.
  func olderRun(from number: Int64) throws(StoreError) -> ClosedRange<Int64>? {
    var cursor = Cursor(view.source, Schema.conversations)
    try seek(&cursor, number)
    return try run(at: cursor)
  }

  /// Returns the first run that begins at or above a number.
  package func run(atOrAbove number: Int64) throws(StoreError) -> ClosedRange<Int64>? {
    var cursor = Cursor(view.source, Schema.conversations)
    let key = Self.key(conversation, number)
    try storage { () throws(PageFileError) in _ = try cursor.seek(key.bytes) }
    if let run = try run(at: cursor) { return run }
    return newest.flatMap { $0.lowerBound >= number ? $0 : nil }
  }

  /// Runs `body` on the last run that begins at or below a number and on all runs above it, until
  /// it returns false.
  func forEachRun(
    from number: Int64, _ body: (ClosedRange<Int64>) -> Bool
  ) throws(StoreError) {
    var cursor = Cursor(view.source, Schema.conversations)
    try seek(&cursor, number)
    // The number is below the conversation's first run: begin with that one.
    if try run(at: cursor) == nil {
      let key = Self.key(conversation, number)
      try storage { () throws(PageFileError) in _ = try cursor.seek(key.bytes) }
    }
    while let run = try run(at: cursor) {
      guard body(run) else { return }
      try storage { () throws(PageFileError) in _ = try cursor.next() }
    }
    if let newest { _ = body(newest) }
  }

  private func seek(_ cursor: inout Cursor, _ number: Int64) throws(StoreError) {
    let key = Self.key(conversation, number)
    try storage { () throws(PageFileError) in
      if try !cursor.seek(key.bytes) { _ = try cursor.previous() }
    }
  }

  /// Returns the run at the cursor, or nil if the cursor is at no run of the conversation.
  private func run(at cursor: borrowing Cursor) throws(StoreError) -> ClosedRange<Int64>? {
    let prefix = Self.prefix(conversation)
    guard cursor.isAtCell, cursor.keyHasPrefix(prefix.bytes) else { return nil }
    var key = ByteBuffer()
    var value = ByteBuffer()
    cursor.appendKey(to: &key)
    try view.append(cursor, to: &value)
    guard let run = Self.run(key.bytes, value.bytes) else {
      throw view.corrupt(
        Schema.conversations, "conversation \(conversation): malformed run of sequences")
    }
    return run
  }
}

extension KnownSequences {
  /// Returns a sequence gap between two known numbers, or nil if there is no gap.
  ///
  /// Of several gaps it returns the one nearest to the given side.
  func missing(
    between lower: Int64, and upper: Int64, nearest side: Side
  ) throws(StoreError) -> ClosedRange<Int64>? {
    guard lower < upper else { return nil }
    switch side {
    case .upper:
      var last = upper - 1
      if let run = try run(from: upper), run.upperBound >= upper {
        guard run.lowerBound > lower else { return nil }
        last = run.lowerBound - 1
      }
      let known = max(lower, try run(from: last)?.upperBound ?? lower)
      return known < last ? known + 1...last : nil
    case .lower:
      var first = lower + 1
      if let run = try run(from: lower), run.upperBound >= lower {
        guard run.upperBound < upper else { return nil }
        first = run.upperBound + 1
      }
      let known = min(upper, try run(atOrAbove: first)?.lowerBound ?? upper)
      return first < known ? first...known - 1 : nil
    }
  }

  /// The side of a range from which a gap is looked for.
  enum Side {
    case lower, upper
  }
}

extension ClosedRange<Int64> {
  /// Returns true if no number lies between this run and another: they overlap, or one continues
  /// the other.
  package func touches(_ other: ClosedRange<Int64>) -> Bool {
    if StoreDefect.sequencesApart.isPlanted { return overlaps(other) }
    // If one run begins above the other's end, that end is not the greatest number, so adding 1
    // cannot overflow.
    return (lowerBound <= other.upperBound || lowerBound == other.upperBound + 1)
      && (other.lowerBound <= upperBound || other.lowerBound == upperBound + 1)
  }

  func union(_ other: ClosedRange<Int64>) -> ClosedRange<Int64> {
    Swift.min(lowerBound, other.lowerBound)...Swift.max(upperBound, other.upperBound)
  }

  /// Returns the numbers between this run and one above it, or nil if no number lies there.
  func gap(before other: ClosedRange<Int64>) -> ClosedRange<Int64>? {
    guard upperBound < other.lowerBound, upperBound + 1 < other.lowerBound else { return nil }
    return upperBound + 1...other.lowerBound - 1
  }
}

/// Reads the known sequence numbers and the gaps between them.
extension ConversationReader {
  package func knownSequences(of conversation: UInt32) throws(StoreError) -> KnownSequences {
    var cursor = Cursor(view.source, Schema.conversations)
    let summary = try summary(conversation, &cursor)
    return KnownSequences(view: view, conversation: conversation, newest: summary.sequences)
  }
}

extension KnownSequences {
  /// Returns the next gaps that begin above a number, at most `count`.
  func gaps(count: Int, after number: Int64?) throws(StoreError) -> [ClosedRange<Int64>] {
    let count = try count.validatedRequest()
    var gaps: [ClosedRange<Int64>] = []
    var previous: ClosedRange<Int64>?
    try forEachRun(from: number ?? .min) { run in
      if let gap = previous?.gap(before: run), number.map({ gap.lowerBound > $0 }) ?? true {
        gaps.append(gap)
      }
      previous = run
      return gaps.count < count
    }
    return gaps
  }

  /// Returns the next runs that begin above a number, at most `count`.
  package func runs(count: Int, after number: Int64?) throws(StoreError) -> [ClosedRange<Int64>] {
    let count = try count.validatedRequest()
    var runs: [ClosedRange<Int64>] = []
    try forEachRun(from: number ?? .min) { run in
      if number.map({ run.lowerBound > $0 }) ?? true { runs.append(run) }
      return runs.count < count
    }
    return runs
  }
}
