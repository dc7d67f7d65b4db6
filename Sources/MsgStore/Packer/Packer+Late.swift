import PageFile

/// Packs messages that came late, by rule 4 of `Packer`.
extension Packer {
  /// Packs the loose messages around a position, up to the segments before and behind them.
  ///
  /// Does nothing if no segment is behind them: they are the newest, or will be packed with those.
  /// Some may be too long to be packed and are looked at in vain, so the number of messages looked
  /// at is bounded.
  func packLate(
    _ number: UInt32, around position: MessagePosition, atLeast countMin: Int,
    atMost maximumCount: Int
  ) throws(StoreError) {
    let prefix = KeyEncoding.key(number)
    let middle = KeyEncoding.key(number, position)
    // Without the unwritten messages, which come behind all others.
    var cursor = MessageCursor(view)
    _ = try cursor.seek(middle.bytes)
    var count = 0
    while count < maximumCount, try cursor.previous(), cursor.isIn(prefix.bytes), !cursor.isPacked {
      count += 1
    }
    var run = MessageRun()
    var cells: [TakenCell] = []
    if count < maximumCount {
      if cursor.isAtMessage, cursor.isIn(prefix.bytes) {
        let fullByteCount = maximumSegmentByteCount(keyByteCount: middle.count) * 3 / 4
        if cursor.recordByteCount < fullByteCount {
          cells.append(try cursor.takeSegment(to: &run))
        }
      }
      _ = try cursor.nextCell()
    }
    let end = KeyEncoding.key(number, MessagePosition.firstPending)
    let packedCount = run.count
    var key = ByteBuffer()
    var record = ByteBuffer(capacity: 256)
    while run.count < packedCount + maximumCount, cursor.isAtMessage, !cursor.isPacked {
      key.removeAll()
      record.removeAll()
      try cursor.appendKey(to: &key)
      guard key.bytes.compare(to: end.bytes) < 0 else { return }
      try cursor.appendRecord(to: &record)
      run.append(key.bytes, record.bytes)
      cells.append(TakenCell(key: key.bytes.array(), isSegment: false))
      _ = try cursor.next()
    }
    guard run.count - packedCount >= countMin, cursor.isAtMessage, cursor.isIn(prefix.bytes),
      run.isAscending(0..<run.count)
    else { return }
    let encoder = segmentEncoder()
    var packed: [PackedCell] = []
    _ = pack(run, with: encoder, to: &packed)
    memory.packedByteCount += run.byteCount
    try replaceCells(cells, with: packed)
  }
}
