import PageFile

/// Packs all messages of the store again as tightly as possible, a part in each commit.
///
/// See docs/message-format.md, M-10.
///
///  1. A long thread, whose end may be read often, keeps its newest messages loose. Of all other
///     threads every message is packed.
///  2. Cells that would not get smaller stay as they are, unless they were packed with an older
///     dictionary, or have messages beside them.
extension Packer {
  /// The number of messages that one commit packs at most, give or take a conversation; less if its
  /// time ends before.
  private static let maximumRepackCount = 2000
  /// The number of messages that are packed together at most.
  private static let maximumChunkCount = 1000
  private static let maximumChunkByteCount = 256 << 10

  /// Packs some of the messages from the cell with this key on.
  ///
  /// Returns the key to continue from; nil when nothing is left.
  func repack(from start: [UInt8]) throws(StoreError) -> [UInt8]? {
    guard rules.packs else { return nil }
    transaction.beginStep()
    let encoder = segmentEncoder()
    var next: [UInt8]? = start
    var count = 0
    while !transaction.isStepFull(count, of: Self.maximumRepackCount), let start = next {
      var chunk = try gather(from: start)
      next = chunk.next
      count += max(1, chunk.run.count)
      try store(&chunk, with: encoder)
    }
    return next
  }

  /// Neighbouring cells of one conversation that are packed together.
  private struct Chunk: ~Copyable {
    var run = MessageRun()
    var cells: [TakenCell] = []
    var byteCount = 0
    /// True if a segment was packed with another dictionary, or has messages beside it.
    var mustBePacked = false
    /// The key at which the next chunk begins.
    var next: [UInt8]?
    /// True if more messages of the conversation are to be packed behind the chunk.
    var isCut = false
  }

  /// Reads the cells of one chunk, from a key on.
  private func gather(from start: [UInt8]) throws(StoreError) -> Chunk {
    var chunk = Chunk()
    let newest = segmentEncoder().dictionary
    _ = try flushed()
    var cursor = try view.cursor(Schema.messages, from: start)
    var number: UInt32?
    var limit: MessagePosition?
    var key = ByteBuffer()
    var value = ByteBuffer()
    while cursor.isAtCell {
      key.removeAll()
      value.removeAll()
      cursor.appendKey(to: &key)
      guard let found = key.bytes.bigEndianNumber(at: 0),
        let position = key.bytes.dropFirst(KeyEncoding.numberByteCount).position
      else { throw view.corrupt(Schema.messages, "key does not decode to a position") }
      if number == nil {
        number = found
        limit = try firstLoose(in: found)
      }
      guard found == number, Self.isPacked(position, before: limit) else {
        chunk.next = try beginning(after: number ?? found, found, key.bytes)
        return chunk
      }
      let isFull =
        chunk.run.count >= Self.maximumChunkCount || chunk.byteCount >= Self.maximumChunkByteCount
      if !isFull { try view.append(cursor, to: &value) }
      let isSegment = Segment.isSegment(value.bytes)
      let canBePacked =
        isSegment
        || value.count < view.source.maximumPackedRecordByteCount
          && SegmentEncoder.canHold(key.bytes, value.bytes)
      if isFull || !canBePacked && chunk.run.count > 0 {
        chunk.next = key.bytes.array()
        chunk.isCut = isFull
        return chunk
      }
      guard canBePacked else {
        try storage { () throws(PageFileError) in _ = try cursor.next() }
        continue
      }
      var cell = TakenCell(key: key.bytes.array(), isSegment: isSegment)
      chunk.byteCount += key.count + value.count
      if isSegment {
        cell.besideKeys = try flushed().messages.unpack(
          value.bytes, at: key.bytes, to: &chunk.run)
        let used = SegmentHeader.dictionary(value.bytes)
        if used != newest || !cell.besideKeys.isEmpty { chunk.mustBePacked = true }
      } else {
        chunk.run.append(key.bytes, value.bytes)
      }
      chunk.cells.append(cell)
      try storage { () throws(PageFileError) in _ = try cursor.next() }
    }
    return chunk
  }

  /// Returns true if a message is packed in a thread whose loose messages begin at a limit.
  private static func isPacked(_ position: MessagePosition, before limit: MessagePosition?) -> Bool
  {
    guard let limit else { return !position.place.isPending }
    if StoreDefect.placesComparedAlone.isPlanted {
      return Place.precedes(position.place, limit.place)
    }
    return position < limit
  }

  /// Returns the key to continue from after a conversation: that of the found cell if it belongs to
  /// another one, otherwise the lowest key of the next number; nil after the last number.
  private func beginning(
    after number: UInt32, _ found: UInt32, _ key: Bytes
  ) throws(StoreError) -> [UInt8]? {
    if found != number { return key.array() }
    guard number < .max else { return nil }
    let next = KeyEncoding.key(number + 1)
    return next.bytes.array()
  }

  /// Returns the position of the first loose message of a long thread; nil for a short one.
  private func firstLoose(in number: UInt32) throws(StoreError) -> MessagePosition? {
    var conversations = Cursor(view.source, Schema.conversations)
    guard try transaction.isStored(number),
      try view.conversations.summary(number, &conversations).messageCount
        >= rules.packing.longThreadCount
    else { return nil }
    let end = KeyEncoding.key(number, MessagePosition.firstPending)
    let prefix = KeyEncoding.key(number)
    var cursor = try MessageCursor(flushed())
    _ = try cursor.seek(end.bytes)
    for _ in 0..<rules.packing.looseCount {
      guard try cursor.previous(), cursor.isIn(prefix.bytes), !cursor.isPacked else { break }
    }
    if !cursor.isAtMessage || !cursor.isIn(prefix.bytes) || cursor.isPacked {
      _ = try cursor.nextCell()
    }
    guard cursor.isAtMessage, cursor.isIn(prefix.bytes) else { return .firstPending }
    return try cursor.position()
  }

  /// Replaces the cells of a chunk by packed ones, subject to rule 2.
  private func store(
    _ chunk: inout Chunk, with encoder: SegmentEncoder
  ) throws(StoreError) {
    guard chunk.run.count > 0 else { return }
    guard chunk.run.isAscending(0..<chunk.run.count) else {
      let number = chunk.run.key(0).bigEndianNumber(at: 0) ?? 0
      throw view.corrupt(
        Schema.messages, "conversation \(number): cell within the keys of a segment")
    }
    var cells: [PackedCell] = []
    let byteCount = pack(chunk.run, with: encoder, to: &cells)
    guard byteCount < chunk.byteCount || chunk.mustBePacked else { return }
    // The last segment may be packed once more, together with the messages that follow it.
    if chunk.isCut, let last = cells.last, cells.count > 1 { chunk.next = last.key }
    try replaceCells(chunk.cells, with: cells)
  }
}
