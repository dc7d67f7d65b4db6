import PageFile

/// Changes cells of the messages tree, some of which hold many messages.
///
/// A segment in which a message is added, changed, or removed is packed again; what no longer fits
/// into one becomes two. See docs/message-format.md, M-9.
extension Packer {
  /// Stores the record of a message at its place, replacing the record there, if any.
  func writeRecord(
    _ record: Bytes, at position: MessagePosition, in conversation: UInt32
  ) throws(StoreError) {
    let key = KeyEncoding.key(conversation, position)
    if position.place.isPending {
      return try transaction.insert(stored: key.bytes, record, in: Schema.messages)
    }
    if memory.unwritten.isFull { _ = try flushed() }
    if let open = memory.conversations[conversation],
      memory.unwritten.set(key.bytes, record, in: open)
    {
      return
    }
    var cursor = MessageCursor(view)
    let isEqual = try cursor.seek(key.bytes)
    guard cursor.isWithinSegment || isEqual && cursor.isPacked else {
      memory.conversations[conversation]?.latePosition = position
      return try transaction.insert(stored: key.bytes, record, in: Schema.messages)
    }
    if isEqual, try putBeside(key.bytes, record, at: &cursor) { return }
    var run = MessageRun()
    let cell = try cursor.takeSegment(to: &run)
    run.set(key.bytes, record)
    try replaceSegment(cell, with: run)
  }

  /// Stores the record of a packed message beside its segment.
  ///
  /// Returns false if the segment has to be packed again: since its content is to be erased, or the
  /// record is too long for a segment, or too many messages lie beside it already.
  private func putBeside(
    _ key: Bytes, _ record: Bytes, at cursor: inout MessageCursor
  ) throws(StoreError) -> Bool {
    guard !view.source.isErasing || StoreDefect.erasedBeside.isPlanted,
      record.count < view.source.maximumPackedRecordByteCount,
      SegmentEncoder.canHold(key, record), try cursor.hasRoomBeside(for: key)
    else { return false }
    var cell = ByteBuffer()
    var value = ByteBuffer()
    let isUnmarked = try cursor.appendMarked(to: &value, &cell)
    try transaction.insert(stored: key, record, in: Schema.beside)
    if isUnmarked {
      try transaction.insert(stored: cell.bytes, value.bytes, in: Schema.messages)
    }
    return true
  }

  /// Removes the record of a message, which must be there.
  func removeRecord(at position: MessagePosition, in conversation: UInt32) throws(StoreError) {
    let key = KeyEncoding.key(conversation, position)
    if position.place.isPending { return try transaction.remove(key.bytes, in: Schema.messages) }
    if let open = memory.conversations[conversation],
      memory.unwritten.remove(key.bytes, from: open)
    {
      return
    }
    var run = MessageRun()
    guard let cell = try view.messages.segment(around: key.bytes, to: &run) else {
      return try transaction.remove(key.bytes, in: Schema.messages)
    }
    let found = run.search(key.bytes)
    guard found.isEqual else { throw view.corrupt(Schema.messages, "missing entry") }
    run.remove(at: found.index)
    try replaceSegment(cell, with: run)
  }

  /// Replaces a segment with the messages of a run.
  func replaceSegment(
    _ cell: TakenCell, with run: borrowing MessageRun
  ) throws(StoreError) {
    let isKept = Bytes.with(cell.key) { run.count > 0 && run.key(0).compare(to: $0) == 0 }
    if !isKept {
      try Bytes.with(cell.key) { (key) throws(StoreError) in
        try transaction.remove(key, in: Schema.messages)
      }
    }
    try removeBeside(cell)
    try writeCells(run, 0..<run.count, with: segmentEncoder())
  }

  /// Removes the records beside a segment whose messages are packed again.
  func removeBeside(_ cell: TakenCell) throws(StoreError) {
    if StoreDefect.besideKept.isPlanted { return }
    for key in cell.besideKeys {
      if StoreDefect.lastBesideKept.isPlanted, cell.besideKeys.count > 1,
        key == cell.besideKeys.last
      {
        continue
      }
      try Bytes.with(key) { (key) throws(StoreError) in
        try transaction.remove(key, in: Schema.beside)
      }
    }
  }

  /// Returns an encoder that packs with the newest committed dictionary.
  ///
  /// The dictionary is read outside of the transaction, so that an unreadable one does not end the
  /// transaction; texts are then compressed without a dictionary.
  func segmentEncoder() -> SegmentEncoder {
    let localMember = transaction.localMember
    if let known = memory.encoder, known.localMember == localMember { return known }
    let new = SegmentEncoder(transaction.newestDictionary(), localMember: localMember)
    memory.encoder = new
    return new
  }

  /// Stores messages in as few cells as hold them, halving each range that is too large for one.
  private func writeCells(
    _ run: borrowing MessageRun, _ range: Range<Int>, with encoder: SegmentEncoder
  ) throws(StoreError) {
    guard let first = range.first else { return }
    if range.count == 1 {
      return try transaction.insert(stored: run.key(first), run.record(first), in: Schema.messages)
    }
    if let single = range.first(where: { !SegmentEncoder.canHold(run.key($0), run.record($0)) }) {
      try writeCells(run, range.lowerBound..<single, with: encoder)
      try writeCells(run, single..<single + 1, with: encoder)
      return try writeCells(run, single + 1..<range.upperBound, with: encoder)
    }
    var value = ByteBuffer(capacity: 4096)
    if encoder.encode(run, range, to: &value),
      value.count <= maximumSegmentByteCount(keyByteCount: run.key(first).count)
    {
      return try transaction.insert(run.key(first), value.bytes, in: Schema.messages)
    }
    let middle = range.lowerBound + range.count / 2
    try writeCells(run, range.lowerBound..<middle, with: encoder)
    try writeCells(run, middle..<range.upperBound, with: encoder)
  }
}
