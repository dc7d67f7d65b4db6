import PageFile

/// A walk through the records of a conversation that decodes no text.
struct ThreadScan: ~Copyable {
  private let view: StoreView
  private var cursor: MessageCursor
  private let prefix: ByteBuffer
  private var value = ByteBuffer(capacity: 256)
  /// True if the cursor is already at the next record.
  private var isAtNext: Bool

  /// Begins at a position, forwards.
  init(
    _ view: StoreView, _ conversation: UInt32, from position: MessagePosition
  ) throws(StoreError) {
    self.view = view
    prefix = KeyEncoding.key(conversation)
    cursor = MessageCursor(view)
    isAtNext = true
    let key = KeyEncoding.key(conversation, position)
    _ = try cursor.seek(key.bytes)
  }

  /// Begins after a position, forwards, or before it, backwards with `previous`.
  init(
    _ view: StoreView, _ conversation: UInt32, after position: MessagePosition
  ) throws(StoreError) {
    self.view = view
    prefix = KeyEncoding.key(conversation)
    cursor = MessageCursor(view)
    let key = KeyEncoding.key(conversation, position)
    isAtNext = try !cursor.seek(key.bytes)
  }

  /// Returns the next record, or nil at the end of the thread.
  ///
  /// It is valid until the next step.
  mutating func next() throws(StoreError) -> MessageRecord? {
    if !isAtNext { _ = try cursor.next() }
    isAtNext = false
    return try record()
  }

  /// Returns the head and the first position of the segment that comes next, if its messages follow
  /// each other there and nothing of it was unpacked yet.
  mutating func segmentAhead() throws(StoreError) -> (head: SegmentHeader, first: MessagePosition)?
  {
    if !isAtNext { _ = try cursor.next() }
    isAtNext = true
    guard cursor.isAtMessage, cursor.isIn(prefix.bytes) else { return nil }
    return try cursor.segmentAhead()
  }

  /// Passes over the segment that `segmentAhead` has returned.
  mutating func passSegment() throws(StoreError) {
    _ = try cursor.nextCell()
    isAtNext = true
  }

  /// Returns the previous record, or nil at the beginning of the thread.
  ///
  /// It is valid until the next step.
  mutating func previous() throws(StoreError) -> MessageRecord? {
    _ = try cursor.previous()
    isAtNext = false
    return try record()
  }

  /// Returns the previous record if its message is pending; nil otherwise, and then nothing was
  /// unpacked.
  mutating func previousPending() throws(StoreError) -> MessageRecord? {
    _ = try cursor.previous()
    isAtNext = false
    guard cursor.isAtMessage, try cursor.isPending(in: prefix.bytes) else { return nil }
    return try record()
  }

  /// Returns the position of the record.
  mutating func position() throws(StoreError) -> MessagePosition { try cursor.position() }

  private mutating func record() throws(StoreError) -> MessageRecord? {
    guard cursor.isAtMessage, cursor.isIn(prefix.bytes) else { return nil }
    guard let record = try cursor.record(&value) else {
      throw view.corrupt(
        Schema.messages, "message \"\(try position().id)\": malformed record")
    }
    return record
  }
}
