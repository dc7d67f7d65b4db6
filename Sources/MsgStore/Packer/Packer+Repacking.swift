import PageFile

/// Packing everything anew, some of it in each commit, as tightly as it goes.
///
/// See docs/message-format.md, M-10.
///
///  1. A thread that is long, and so may be read at its end often, keeps its newest messages in cells
///     of their own; of all others nothing is left out.
///  2. What would not get smaller stays as it is, unless it was packed with an older dictionary.
extension Packer {
  /// How many messages one commit packs at most, give or take a conversation; it may have no time for so
  /// many.
  private static let repackCountMax = 2000
  /// How many messages are put together at once.
  private static let chunkCountMax = 1000
  private static let chunkByteCountMax = 256 << 10

  /// Packs some of the messages whose cells have this key or follow it.
  ///
  /// Returns the key to go on from; nil when nothing is left.
  func repack(from start: [UInt8]) throws(StoreError) -> [UInt8]? {
    guard rules.packs else { return nil }
    transaction.beginStep()
    let encoder = segmentEncoder(.high)
    var next: [UInt8]? = start
    var count = 0
    while !transaction.isStepFull(count, of: Self.repackCountMax), let start = next {
      var chunk = try gather(from: start)
      next = chunk.next
      count += max(1, chunk.run.count)
      try store(&chunk, with: encoder)
    }
    return next
  }

  /// Neighbouring cells of one conversation.
  private struct Chunk: ~Copyable {
    var run = MessageRun()
    var cells: [(key: [UInt8], isSegment: Bool)] = []
    var byteCount = 0
    var hasOtherDictionary = false
    /// Where the next chunk begins.
    var next: [UInt8]?
    /// Whether more of the conversation is to be packed behind it.
    var isCut = false
  }

  /// Reads cells from a key on, as many as are packed together.
  private func gather(from start: [UInt8]) throws(StoreError) -> Chunk {
    var chunk = Chunk()
    let newest = segmentEncoder(.high).dictionary
    _ = try flushed()
    var cursor = try view.cursor(Schema.messages, from: start)
    var number: UInt32?
    var limit: Position?
    var key = ByteBuffer()
    var value = ByteBuffer()
    while cursor.isAtCell {
      key.removeAll()
      value.removeAll()
      cursor.appendKey(to: &key)
      guard let found = key.bytes.bigEndianNumber(at: 0),
        let position = key.bytes.dropFirst(KeyEncoding.numberByteCount).position
      else { throw view.corrupt(Schema.messages, "a key is no position") }
      if number == nil {
        number = found
        limit = try firstLoose(in: found)
      }
      guard found == number, Self.isPacked(position, before: limit) else {
        chunk.next = try beginning(after: number ?? found, found, key.bytes)
        return chunk
      }
      let isFull =
        chunk.run.count >= Self.chunkCountMax || chunk.byteCount >= Self.chunkByteCountMax
      if !isFull { try view.append(cursor, to: &value) }
      let isSegment = Segment.isSegment(value.bytes)
      let canBePacked =
        isSegment
        || value.count < view.source.packedRecordByteCountMax
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
      chunk.cells.append((key.bytes.array(), isSegment))
      chunk.byteCount += key.count + value.count
      if isSegment {
        try flushed().messages.unpack(value.bytes, at: key.bytes, to: &chunk.run)
        if let used = SegmentHeader.dictionary(value.bytes), used != newest {
          chunk.hasOtherDictionary = true
        }
      } else {
        chunk.run.append(key.bytes, value.bytes)
      }
      try storage { () throws(PageFileError) in _ = try cursor.next() }
    }
    return chunk
  }

  /// Whether a message is packed where those from a limit on have cells of their own.
  private static func isPacked(_ position: Position, before limit: Position?) -> Bool {
    guard let limit else { return !position.place.isPending }
    if StoreDefect.placesComparedAlone.isPlanted {
      return Place.precedes(position.place, limit.place)
    }
    return position < limit
  }

  /// The key that the next conversation begins at, or that of a cell that belongs to it.
  private func beginning(
    after number: UInt32, _ found: UInt32, _ key: Bytes
  ) throws(StoreError) -> [UInt8]? {
    if found != number { return key.array() }
    guard number < .max else { return nil }
    let next = KeyEncoding.key(number + 1)
    return next.bytes.array()
  }

  /// The first of the messages of a long thread that keep cells of their own; nil in a short one.
  private func firstLoose(in number: UInt32) throws(StoreError) -> Position? {
    var conversations = Cursor(view.source, Schema.conversations)
    guard try transaction.isStored(number),
      try view.conversations.summary(number, &conversations).messageCount
        >= rules.packing.longThreadCount
    else { return nil }
    let end = KeyEncoding.key(number, Position.firstPending)
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

  /// Rule 2.
  private func store(
    _ chunk: inout Chunk, with encoder: SegmentEncoder
  ) throws(StoreError) {
    guard chunk.run.count > 0 else { return }
    guard chunk.run.isAscending(0..<chunk.run.count) else {
      let number = chunk.run.key(0).bigEndianNumber(at: 0) ?? 0
      throw view.corrupt(
        Schema.messages, "a cell of conversation \(number) lies in a segment")
    }
    var cells: [PackedCell] = []
    let byteCount = pack(chunk.run, with: encoder, to: &cells)
    guard byteCount < chunk.byteCount || chunk.hasOtherDictionary else { return }
    // The last segment may be packed once more, with what follows it.
    if chunk.isCut, let last = cells.last, cells.count > 1 { chunk.next = last.key }
    try replaceCells(chunk.cells, with: cells)
  }
}
