import PageFile

/// Packs older messages into segments as threads grow.
///
/// See docs/message-format.md, M-8.
///
///  1. A thread keeps its newest messages loose, where they cost least to add, change, and read.
///     When twice as many have gathered, the older half is packed: a bounded step of the commit
///     that brought the last of them.
///  2. A thread of which one transaction brought at least half came from elsewhere. All of it is
///     packed, as it may never grow again.
///  3. A segment that is not full is packed again together with the messages that follow it.
///  4. Late messages gather before or between segments, as when history is fetched backwards from a
///     server. They are packed when as many are together, at a place that received one of them.
///     A run of them is packed as it comes (`ReceivedRuns`).
struct Packer: TransactionPart {
  let transaction: Transaction

  /// The limits on the messages that one step looks at.
  private static let maximumStepCount = 1024
  private static let maximumStepByteCount = 256 << 10

  /// Packs the messages that are due for packing in conversations that have grown, and writes the
  /// rest.
  func packGrown() throws(StoreError) {
    let sizes = rules.packing
    for conversation in memory.touched where conversation.placedCount > 0 {
      let (count, late) = (conversation.placedCount, conversation.latePosition)
      (conversation.placedCount, conversation.latePosition) = (0, nil)
      guard rules.packs else { continue }
      let messageCount = conversation.summary.messageCount
      let isWhole = count >= 2 && count * 2 >= messageCount
      let isChecked =
        messageCount / sizes.checkedEvery != (messageCount - count) / sizes.checkedEvery
      if let late, isWhole || isChecked {
        try packLate(
          conversation.number, around: late, atLeast: isWhole ? 2 : 2 * sizes.stepCount,
          atMost: max(4 * sizes.stepCount, count))
      }
      if isWhole {
        try pack(conversation, keeping: 0, atLeast: 2)
      } else if messageCount >= sizes.looseCount + sizes.stepCount, isChecked {
        try pack(conversation, keeping: sizes.looseCount, atLeast: sizes.stepCount)
      }
    }
    try memory.unwritten.flush(to: view.source)
  }

  /// Packs the loose messages of a thread, except the newest.
  private func pack(
    _ conversation: OpenConversation, keeping keptCount: Int, atLeast countMin: Int
  ) throws(StoreError) {
    let thread = memory.unwritten.take(from: conversation)
    defer { if let thread { memory.unwritten.recycle(thread) } }
    let newCount = thread?.run.count ?? 0
    // The tree as it is, without the unwritten messages.
    let end = KeyEncoding.key(conversation.number, MessagePosition.firstPending)
    let prefix = KeyEncoding.key(conversation.number)
    var cursor = MessageCursor(view)
    _ = try cursor.seek(end.bytes)
    let (count, isAtSegment) = try stepBack(
      &cursor, overLooseMessagesOf: prefix, atMost: keptCount + Self.maximumStepCount)
    let packedCount = count + newCount - keptCount
    guard packedCount >= countMin else {
      if let thread { try UnwrittenMessages.write(thread.run, 0..<newCount, to: view.source) }
      return
    }
    var repacking = Repacking()
    if isAtSegment {
      try repacking.takeSegment(
        at: &cursor, fullAt: maximumSegmentByteCount(keyByteCount: end.count + 20) * 3 / 4)
      _ = try cursor.nextCell()
    } else if !cursor.isAtMessage || !cursor.isIn(prefix.bytes) {
      _ = try cursor.nextCell()
    }
    let encoder = segmentEncoder()
    for _ in 0..<min(count, packedCount) {
      if cursor.recordByteCount >= view.source.maximumPackedRecordByteCount {
        packRun(of: &repacking, with: encoder)
      } else {
        try repacking.takeMessage(at: &cursor)
      }
      _ = try cursor.next()
    }
    let newPackedCount = max(0, packedCount - count)
    if let thread {
      for index in 0..<newPackedCount {
        if thread.run.record(index).count >= view.source.maximumPackedRecordByteCount {
          packRun(of: &repacking, with: encoder)
          try UnwrittenMessages.write(thread.run, index..<index + 1, to: view.source)
        } else {
          repacking.run.append(thread.run.key(index), thread.run.record(index))
        }
      }
    }
    packRun(of: &repacking, with: encoder)
    if repacking.isDamaged {
      if let thread { try UnwrittenMessages.write(thread.run, 0..<newCount, to: view.source) }
      return
    }
    try replaceCells(repacking.cells, with: repacking.packed)
    if let thread {
      try UnwrittenMessages.write(thread.run, newPackedCount..<newCount, to: view.source)
    }
  }

  /// Moves a cursor back to the first of the loose messages at the end of a thread.
  ///
  /// Returns the number of messages passed, and whether the cursor met a segment.
  private func stepBack(
    _ cursor: inout MessageCursor, overLooseMessagesOf prefix: borrowing ByteBuffer,
    atMost maximumCount: Int
  ) throws(StoreError) -> (count: Int, isAtSegment: Bool) {
    var count = 0
    var byteCount = 0
    while count < maximumCount, byteCount < Self.maximumStepByteCount,
      try cursor.previous(), cursor.isIn(prefix.bytes)
    {
      if cursor.isPacked { return (count, true) }
      count += 1
      byteCount += cursor.recordByteCount
    }
    return (count, false)
  }

  /// The cells taken from a thread, and the segments that are to replace them.
  private struct Repacking: ~Copyable {
    var cells: [TakenCell] = []
    var packed: [PackedCell] = []
    /// Messages taken, and not yet in a segment.
    var run = MessageRun()
    /// In a damaged store a cell may lie within a segment; then nothing is replaced.
    var isDamaged = false
    private var key = ByteBuffer()
    private var record = ByteBuffer(capacity: 256)

    mutating func takeSegment(
      at cursor: inout MessageCursor, fullAt byteCount: Int
    ) throws(StoreError) {
      if cursor.recordByteCount >= byteCount { return }
      cells.append(try cursor.takeSegment(to: &run))
    }

    mutating func takeMessage(at cursor: inout MessageCursor) throws(StoreError) {
      key.removeAll()
      record.removeAll()
      try cursor.appendKey(to: &key)
      try cursor.appendRecord(to: &record)
      run.append(key.bytes, record.bytes)
      cells.append(TakenCell(key: key.bytes.array(), isSegment: false))
    }
  }

  private func packRun(of repacking: inout Repacking, with encoder: SegmentEncoder) {
    if !repacking.run.isAscending(0..<repacking.run.count) { repacking.isDamaged = true }
    _ = pack(repacking.run, with: encoder, to: &repacking.packed)
    memory.packedByteCount += repacking.run.byteCount
    repacking.run.removeAll()
  }

  /// Returns the size limit of a segment in bytes, for a key of this size.
  func maximumSegmentByteCount(keyByteCount: Int) -> Int {
    min(
      view.source.maximumValueByteCount(keyByteCount: keyByteCount),
      rules.packing.maximumSegmentByteCount)
  }

  /// A cell to be stored.
  struct PackedCell {
    let key: [UInt8]
    let value: [UInt8]
    let isSegment: Bool
  }

  /// Packs a run into cells: segments as full as possible, the last one possibly less full.
  ///
  /// Returns the size of their keys and values in bytes.
  func pack(
    _ run: borrowing MessageRun, with encoder: SegmentEncoder, to cells: inout [PackedCell]
  ) -> Int {
    var byteCount = 0
    var start = 0
    var value = ByteBuffer(capacity: 4096)
    while start < run.count {
      value.removeAll()
      let key = run.key(start)
      let limit = maximumSegmentByteCount(keyByteCount: key.count)
      let count = encoder.encodeMost(of: run, from: start, limit: limit, to: &value)
      if count == 1 { value.append(run.record(start)) }
      cells.append(
        PackedCell(key: key.array(), value: value.bytes.array(), isSegment: count > 1))
      byteCount += key.count + value.count
      start += count
    }
    return byteCount
  }

  /// Replaces cells by other cells with the same messages.
  ///
  /// A message that has a cell of its own before and after keeps that cell.
  ///
  /// Both lists must be in key order.
  func replaceCells(
    _ old: [TakenCell], with new: [PackedCell]
  ) throws(StoreError) {
    var index = 0
    var kept: Set<Int> = []
    for cell in old {
      try removeBeside(cell)
      while index < new.count, new[index].key.lexicographicallyPrecedes(cell.key) { index += 1 }
      if index < new.count, new[index].key == cell.key {
        if !cell.isSegment, !new[index].isSegment { kept.insert(index) }
        continue
      }
      try Bytes.with(cell.key) { (key) throws(StoreError) in
        try transaction.remove(key, in: Schema.messages)
      }
    }
    for (index, cell) in new.enumerated() where !kept.contains(index) {
      try Bytes.with(cell.key) { (key) throws(StoreError) in
        try Bytes.with(cell.value) { (value) throws(StoreError) in
          try transaction.insert(stored: key, value, in: Schema.messages)
        }
      }
    }
  }
}

extension PageSource {
  /// The record size in bytes from which on a record is not packed, as it would hardly fit a
  /// segment.
  var maximumPackedRecordByteCount: Int { 2 * maximumValueByteCount(keyByteCount: 40) }
}

extension Transaction {
  var packer: Packer { Packer(transaction: self) }
}
