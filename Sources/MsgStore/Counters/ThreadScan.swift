import PageFile

/// Goes through the records of a conversation, looking at no text.
struct ThreadScan: ~Copyable {
  private let reader: StoreReader
  private var cursor: Cursor
  private let prefix: ByteBuffer
  private var value = ByteBuffer(capacity: 256)
  /// Whether the cursor stands at what comes next already.
  private var isAtNext: Bool

  /// From a position on, forwards.
  init(
    _ reader: StoreReader, _ conversation: UInt32, from position: Position
  ) throws(StoreError) {
    self.reader = reader
    prefix = KeyEncoding.key(conversation)
    cursor = Cursor(reader.source, Schema.messages)
    isAtNext = true
    let key = KeyEncoding.key(conversation, position)
    do throws(PageFileError) {
      _ = try cursor.seek(key.bytes)
    } catch {
      throw .storage(error)
    }
  }

  /// From behind a position on, forwards; backwards with `previous`.
  init(
    _ reader: StoreReader, _ conversation: UInt32, after position: Position
  ) throws(StoreError) {
    self.reader = reader
    prefix = KeyEncoding.key(conversation)
    cursor = Cursor(reader.source, Schema.messages)
    let key = KeyEncoding.key(conversation, position)
    do throws(PageFileError) {
      isAtNext = try !cursor.seek(key.bytes)
    } catch {
      throw .storage(error)
    }
  }

  /// The next record, or nil at the end of the thread; it lives until the next step.
  mutating func next() throws(StoreError) -> MessageRecord? {
    do throws(PageFileError) {
      if !isAtNext { _ = try cursor.next() }
    } catch {
      throw .storage(error)
    }
    isAtNext = false
    return try record()
  }

  /// The record before, or nil at the beginning of the thread; it lives until the next step.
  mutating func previous() throws(StoreError) -> MessageRecord? {
    do throws(PageFileError) {
      _ = try cursor.previous()
    } catch {
      throw .storage(error)
    }
    isAtNext = false
    return try record()
  }

  /// The position of the record.
  func position() throws(StoreError) -> Position { try reader.position(cursor) }

  private mutating func record() throws(StoreError) -> MessageRecord? {
    guard cursor.isAtCell, cursor.keyHasPrefix(prefix.bytes) else { return nil }
    value.removeAll()
    try reader.append(cursor, to: &value)
    guard let record = MessageRecord(value.bytes) else {
      throw reader.corrupt(
        Schema.messages, "message \"\(try position().id)\" is no record")
    }
    return record
  }
}
