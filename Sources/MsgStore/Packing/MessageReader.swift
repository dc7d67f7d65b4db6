package import PageFile

/// A reader of messages, whether they have cells of their own or lie in segments.
package struct MessageReader {
  let view: StoreView

  /// Looks up a message by any of its names.
  @inline(never)
  package func found(
    _ id: MessageID, in conversation: UInt32
  ) throws(StoreError) -> LocatedMessage? {
    guard let position = try view.ids.position(of: id, in: conversation) else { return nil }
    let message = try message(at: position, in: conversation)
    return (position, message, message.id(at: position))
  }

  /// Returns the position of the last message of a conversation at or before a position, or nil if
  /// no message is there.
  func lastPosition(
    upTo limit: MessagePosition, in conversation: UInt32
  ) throws(StoreError) -> MessagePosition? {
    var cursor = MessageCursor(view)
    let key = KeyEncoding.key(conversation, limit)
    if try !cursor.seek(key.bytes) {
      guard try cursor.previous(), cursor.isIn(key.bytes.slice(0, KeyEncoding.numberByteCount))
      else { return nil }
    }
    return try cursor.position()
  }

  /// Returns the position in the key of the message at the cursor.
  func position(_ cursor: borrowing Cursor) throws(StoreError) -> MessagePosition {
    var key = ByteBuffer()
    cursor.appendKey(to: &key, dropping: KeyEncoding.numberByteCount)
    guard let position = key.bytes.position else {
      throw view.corrupt(Schema.messages, "key does not decode to a position")
    }
    return position
  }
}

extension StoreView {
  package var messages: MessageReader { MessageReader(view: self) }
}

extension MessageReader {
  /// Unpacks the segment that contains a key, and returns its cell; nil if no segment does.
  ///
  /// - Parameter run: Receives the segment's messages.
  func segment(
    around key: Bytes, to run: inout MessageRun
  ) throws(StoreError) -> TakenCell? {
    var cursor = MessageCursor(view)
    let isEqual = try cursor.seek(key)
    guard cursor.isWithinSegment || isEqual && cursor.isPacked else { return nil }
    return try cursor.takeSegment(to: &run)
  }

  /// Unpacks a segment found by the caller, and returns the keys of the messages beside it.
  ///
  /// - Throws: `corruptRecord` if the segment, or a record beside it, is malformed.
  @discardableResult
  package func unpack(
    _ value: Bytes, at key: Bytes, to run: inout MessageRun
  ) throws(StoreError) -> [[UInt8]] {
    var segment = UnpackedSegment()
    guard let header = SegmentHeader(value), let number = key.bigEndianNumber(at: 0) else {
      throw view.corrupt(Schema.messages, "malformed segment header")
    }
    var dictionary = CompressionDictionary.none
    if case .lz4(let number) = header.coding {
      dictionary = try view.dictionaryTable.dictionary(number)
    }
    let position = key.dropFirst(KeyEncoding.numberByteCount)
    guard segment.unpack(value, at: position, with: dictionary) else {
      throw view.corrupt(Schema.messages, "malformed segment (\(header.count) messages)")
    }
    if header.hasBeside { try view.beside.apply(to: &segment, in: number) }
    segment.append(to: &run, in: number)
    return segment.besideKeys(in: number)
  }

  /// Returns true if there is a message at a position.
  package func hasMessage(at position: MessagePosition, in conversation: UInt32) throws(StoreError)
    -> Bool
  {
    let key = KeyEncoding.key(conversation, position)
    var cursor = MessageCursor(view)
    return try cursor.seek(key.bytes)
  }

  /// Appends the record at a position.
  ///
  /// Returns false if no message is there.
  func record(
    at position: MessagePosition, in conversation: UInt32, appendTo value: inout ByteBuffer
  ) throws(StoreError) -> Bool {
    let key = KeyEncoding.key(conversation, position)
    if position.place.isPending, view.hiding.time == nil {
      return try view.value(of: key.bytes, in: Schema.messages, appendTo: &value)
    }
    var cursor = MessageCursor(view)
    guard try cursor.seek(key.bytes) else { return false }
    try cursor.appendRecord(to: &value)
    return true
  }
}

extension MessageReader {
  /// Returns the record of a message that must be there.
  ///
  /// - Throws: `corruptRecord` if it is not.
  func record(at position: MessagePosition, in conversation: UInt32) throws(StoreError)
    -> ByteBuffer
  {
    var value = ByteBuffer(capacity: 256)
    guard try record(at: position, in: conversation, appendTo: &value) else {
      throw view.corrupt(Schema.ids, "message \"\(position.id)\": missing at its place")
    }
    return value
  }

  /// Returns a message that must be there.
  ///
  /// - Throws: `corruptRecord` if it is not, or if its record is malformed.
  package func message(
    at position: MessagePosition, in conversation: UInt32
  ) throws(StoreError) -> StoredMessage {
    let value = try record(at: position, in: conversation)
    guard let record = MessageRecord(value.bytes),
      let message = StoredMessage(record, at: position.place)
    else {
      throw view.corrupt(Schema.messages, "message \"\(position.id)\": malformed record")
    }
    return message
  }

  /// Returns a message as the list of conversations shows it.
  package func last(
    _ message: StoredMessage, at position: MessagePosition, in conversation: UInt32
  ) throws(StoreError) -> ConversationSummary.Last {
    let isRetracted = message.traits.isRetracted
    var last = ConversationSummary.Last(
      position: position, sender: message.sender, status: message.status,
      text: isRetracted ? "" : message.text)
    last.isRetracted = isRetracted
    last.needsRecord = ConversationSummary.Last.needsRecord(message)
    if !isRetracted, message.traits.marks.contains(.attachments) {
      let id = message.id(at: position)
      last.attachment = try view.facts.attachments(of: id, in: conversation).first.map {
        PreviewAttachment(
          kind: $0.kind, fileName: $0.fileName ?? "", thumbnail: $0.thumbnailURL ?? "")
      }
    }
    return last
  }

  /// Returns the position of the last message of a conversation before a position, or nil if no
  /// message is there.
  func lastPosition(
    before limit: MessagePosition, in conversation: UInt32
  ) throws(StoreError) -> MessagePosition? {
    var cursor = MessageCursor(view)
    let key = KeyEncoding.key(conversation, limit)
    _ = try cursor.seek(key.bytes)
    guard try cursor.previous(), cursor.isIn(key.bytes.slice(0, KeyEncoding.numberByteCount)) else {
      return nil
    }
    return try cursor.position()
  }
}

extension MessageReader {
  /// Returns the position of the next message after one, or nil after the last one.
  func nextPosition(
    behind position: MessagePosition, in conversation: UInt32
  ) throws(StoreError) -> MessagePosition? {
    var scan = try ThreadScan(view, conversation, after: position)
    return try scan.next() == nil ? nil : try scan.position()
  }
}

extension MessageReader {
  /// Returns the position of the last message before a position that the counters have not let go;
  /// nil without one.
  ///
  /// Costs a step of a cursor for each message before it that has expired.
  func lastCounted(
    before limit: MessagePosition, in conversation: UInt32
  ) throws(StoreError) -> MessagePosition? {
    // Most threads have no such message, and then no record is read.
    if view.expiry.isUnused { return try lastPosition(before: limit, in: conversation) }
    var scan = try ThreadScan(view, conversation, after: limit)
    while let record = try scan.previous() {
      if !record.marks.contains(.expired) { return try scan.position() }
    }
    return nil
  }

  /// Returns the position of the last message that may hold the preview, or nil.
  ///
  /// Costs a step of a cursor for each pending message that failed or has expired.
  ///
  /// - Parameter newest: The newest acknowledged message that counts.
  func lastShown(
    newest: MessagePosition?, in conversation: UInt32
  ) throws(StoreError) -> MessagePosition? {
    var scan = try ThreadScan(view, conversation, after: .end)
    while let record = try scan.previousPending() {
      let isLetGo = record.flags.contains(.traits) && record.marks.contains(.expired)
      let isFailed = record.status == .failed
      if isLetGo { continue }
      let position = try scan.position()
      guard isFailed, let newest, position.place.time < newest.place.time,
        !StoreDefect.failedHoldsPreview.isPlanted
      else { return position }
    }
    return newest
  }
}
