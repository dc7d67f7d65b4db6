import PageFile

/// The records of new messages before others, which are packed as they come.
///
/// Pages of history that are fetched backwards are such runs. Packed at once, their messages never
/// get cells of their own, which would be read again and removed.
final class OlderRun {
  fileprivate var run = MessageRun()

  /// Appends a message after all others.
  func append(_ key: Bytes, _ record: Bytes) { run.append(key, record) }
}

extension Packer {
  /// Returns true if no message lies at two positions or between them.
  func isFree(
    from start: MessagePosition, to end: MessagePosition, in conversation: OpenConversation
  ) throws(StoreError) -> Bool {
    let endKey = KeyEncoding.key(conversation.number, end)
    if let unwritten = conversation.unwritten, unwritten.run.count > 0,
      unwritten.run.key(0).compare(to: endKey.bytes) <= 0
    {
      return false
    }
    // The tree as it is, without the unwritten messages.
    var cursor = MessageCursor(view)
    let startKey = KeyEncoding.key(conversation.number, start)
    let isEqual = try cursor.seek(startKey.bytes)
    guard !isEqual, !cursor.isWithinSegment else { return false }
    guard cursor.isAtMessage else { return true }
    var next = ByteBuffer()
    try cursor.appendKey(to: &next)
    return next.bytes.compare(to: endKey.bytes) > 0
  }

  /// Packs new messages whose places are free.
  func pack(_ older: OlderRun) throws(StoreError) {
    var packed: [PackedCell] = []
    _ = pack(older.run, with: segmentEncoder(), to: &packed)
    memory.packedByteCount += older.run.byteCount
    try replaceCells([], with: packed)
  }
}
