package import PageFile

/// Packing what has settled, as threads grow.
///
/// See docs/message-format.md, M-8.
///
///  1. A thread keeps its newest messages in cells of their own, where they cost least to add, to
///     change and to read. When twice as many have gathered the older half is packed: a bounded step
///     of the commit that brought the last of them.
///  2. A thread of which one transaction has brought at least half came from elsewhere: all of it is
///     packed, as it may never grow again.
///  3. A segment is packed anew with what follows it while it is not full.
///  4. Late messages gather before or between segments, as when somebody reads back what comes from a
///     server. They are packed when there are as many together, at a place that got one of them.
struct Packer: TransactionPart {
  let transaction: Transaction

  init(_ transaction: Transaction) { self.transaction = transaction }

  /// The most that one step looks at.
  private static let stepCountMax = 1024
  private static let stepByteCountMax = 256 << 10

  /// Packs what has settled in the conversations that have grown, and writes the rest.
  func packGrown() throws(StoreError) {
    let sizes = rules.packing
    for conversation in memory.touched where conversation.placedCount > 0 {
      let (count, late) = (conversation.placedCount, conversation.latePosition)
      (conversation.placedCount, conversation.latePosition) = (0, nil)
      guard rules.packs else { continue }
      let messageCount = conversation.summary.messageCount
      let effort: BlockCompressor.Effort = count >= Self.bulkCount ? .high : .fast
      let isWhole = count >= 2 && count * 2 >= messageCount
      let isChecked =
        messageCount / sizes.checkedEvery != (messageCount - count) / sizes.checkedEvery
      if let late, isWhole || isChecked {
        try packLate(
          conversation.number, around: late, atLeast: isWhole ? 2 : 2 * sizes.stepCount,
          atMost: max(4 * sizes.stepCount, count), effort)
      }
      if isWhole {
        try pack(conversation, keeping: 0, atLeast: 2, effort)
      } else if messageCount >= sizes.looseCount + sizes.stepCount, isChecked {
        try pack(conversation, keeping: sizes.looseCount, atLeast: sizes.stepCount, effort)
      }
    }
    _ = try flushed()
  }

  /// How many messages a transaction brings for which nobody waits one by one.
  private static let bulkCount = 16

  /// Packs the messages of a thread that are not, but for the newest.
  private func pack(
    _ conversation: OpenConversation, keeping keptCount: Int, atLeast countMin: Int,
    _ effort: BlockCompressor.Effort
  ) throws(StoreError) {
    let thread = memory.unwritten.take(from: conversation)
    defer { if let thread { memory.unwritten.recycle(thread) } }
    let newCount = thread?.run.count ?? 0
    // The tree as it is, without those.
    let end = KeyEncoding.key(conversation.number, Position.firstPending)
    let prefix = KeyEncoding.key(conversation.number)
    var cursor = MessageCursor(view)
    _ = try cursor.seek(end.bytes)
    var count = 0
    var byteCount = 0
    var isAtSegment = false
    while count < keptCount + Self.stepCountMax, byteCount < Self.stepByteCountMax,
      try cursor.previous(), cursor.isIn(prefix.bytes)
    {
      isAtSegment = cursor.isPacked
      if isAtSegment { break }
      count += 1
      byteCount += cursor.recordByteCount
    }
    let packedCount = count + newCount - keptCount
    guard packedCount >= countMin else {
      if let thread { try UnwrittenMessages.write(thread.run, 0..<newCount, to: view.source) }
      return
    }
    var run = MessageRun()
    var cells: [(key: [UInt8], isSegment: Bool)] = []
    if isAtSegment {
      let (isFull, key) = try cursor.packedCell(
        fullAt: segmentByteCountMax(keyByteCount: end.count + 20) * 3 / 4)
      if !isFull {
        var cell = ByteBuffer()
        try cursor.appendSegment(to: &run, &cell)
        cells.append((key, true))
      }
      _ = try cursor.nextCell()
    } else if !cursor.isAtMessage || !cursor.isIn(prefix.bytes) {
      _ = try cursor.nextCell()
    }
    let encoder = segmentEncoder(effort)
    var packed: [PackedCell] = []
    var isDamaged = false
    func packRun() {
      // A cell may lie within a segment; then all is left as it is.
      if !run.isAscending(0..<run.count) { isDamaged = true }
      _ = pack(run, with: encoder, to: &packed)
      if encoder.dictionary == 0 { memory.plainByteCount += run.byteCount }
      run.removeAll()
    }
    var key = ByteBuffer()
    var record = ByteBuffer(capacity: 256)
    for _ in 0..<min(count, packedCount) {
      if cursor.recordByteCount >= view.source.packedRecordByteCountMax {
        packRun()
      } else {
        key.removeAll()
        record.removeAll()
        try cursor.appendKey(to: &key)
        try cursor.appendRecord(to: &record)
        run.append(key.bytes, record.bytes)
        cells.append((key.bytes.array(), false))
      }
      _ = try cursor.next()
    }
    let newPackedCount = max(0, packedCount - count)
    if let thread {
      for index in 0..<newPackedCount {
        if thread.run.record(index).count >= view.source.packedRecordByteCountMax {
          packRun()
          try UnwrittenMessages.write(thread.run, index..<index + 1, to: view.source)
        } else {
          run.append(thread.run.key(index), thread.run.record(index))
        }
      }
    }
    packRun()
    if isDamaged {
      if let thread { try UnwrittenMessages.write(thread.run, 0..<newCount, to: view.source) }
      return
    }
    try replaceCells(cells, with: packed)
    if let thread {
      try UnwrittenMessages.write(thread.run, newPackedCount..<newCount, to: view.source)
    }
  }

  /// The most bytes of a segment with a key of so many.
  func segmentByteCountMax(keyByteCount: Int) -> Int {
    min(
      view.source.valueByteCountMax(keyByteCount: keyByteCount),
      rules.packing.segmentByteCountMax)
  }

  /// A cell in the making.
  struct PackedCell {
    let key: [UInt8]
    let value: [UInt8]
    let isSegment: Bool
  }

  /// Makes the cells of a run: segments as full as can be, and a last one that may be less.
  ///
  /// Returns how many bytes they have.
  func pack(
    _ run: borrowing MessageRun, with encoder: SegmentEncoder, to cells: inout [PackedCell]
  ) -> Int {
    var byteCount = 0
    var start = 0
    var value = ByteBuffer(capacity: 4096)
    while start < run.count {
      value.removeAll()
      let key = run.key(start)
      let limit = segmentByteCountMax(keyByteCount: key.count)
      let count = encoder.encodeMost(of: run, from: start, limit: limit, to: &value)
      if count == 1 { value.append(run.record(start)) }
      cells.append(
        PackedCell(key: key.array(), value: value.bytes.array(), isSegment: count > 1))
      byteCount += key.count + value.count
      start += count
    }
    return byteCount
  }

  /// Stores other cells of the same messages; a message that has a cell of its own before and after
  /// keeps it.
  ///
  /// Both are in the order of their keys.
  func replaceCells(
    _ old: [(key: [UInt8], isSegment: Bool)], with new: [PackedCell]
  ) throws(StoreError) {
    var index = 0
    var kept: Set<Int> = []
    for cell in old {
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

extension SegmentEncoder {
  /// Adds a segment of as many messages as go into so many bytes; returns how many those are.
  ///
  /// 1: the message has to have a cell of its own, and nothing is added.
  package func encodeMost(
    of run: borrowing MessageRun, from start: Int, limit: Int, to value: inout ByteBuffer
  ) -> Int {
    // What the last segments took of what their records have tells about how many go into this one;
    // more than twice as many are not looked at.
    let predictedWeight = limit * 256 / max(1, sizeOf256)
    var weights: [Int] = []
    weights.reserveCapacity(64)
    var sum = 0
    for index in start..<min(run.count, start + Segment.countMax) {
      let record = run.record(index)
      guard Self.canHold(run.key(index), record) else { break }
      sum += Self.weight(record)
      weights.append(sum)
      if weights.count > 1, sum > 2 * predictedWeight { break }
    }
    var countMax = weights.count
    guard countMax > 1 else { return 1 }
    func predictedCount() -> Int {
      let weight = limit * 256 / max(1, sizeOf256)
      return max(2, weights.firstIndex { $0 > weight } ?? countMax)
    }
    var best = ByteBuffer(capacity: 0)
    var bestCount = 1
    var count = min(countMax, predictedCount())
    for _ in 0..<Self.attemptCountMax {
      var attempt = ByteBuffer(capacity: limit)
      let isEncoded = encode(run, start..<start + count, to: &attempt)
      let fits = isEncoded && attempt.count <= limit
      if isEncoded { sizeOf256 = max(1, attempt.count * 256 / weights[count - 1]) }
      if fits, count > bestCount {
        bestCount = count
        swap(&best, &attempt)
      }
      if fits, count == countMax || best.count * 5 >= limit * 4 { break }
      if !fits { countMax = count - 1 }
      if countMax <= bestCount { break }
      let next = isEncoded ? predictedCount() : count / 2
      count = max(bestCount + 1, min(countMax, next))
    }
    // Even few that are long may be too much.
    if bestCount == 1, countMax >= 2 {
      var attempt = ByteBuffer(capacity: limit)
      if encode(run, start..<start + 2, to: &attempt), attempt.count <= limit {
        bestCount = 2
        swap(&best, &attempt)
      }
    }
    value.append(best.bytes)
    return bestCount
  }

  private static let attemptCountMax = 4

  /// What a message is likely to take beside its record's bytes: its share of the columns.
  private static func weight(_ record: Bytes) -> Int { 12 + record.count }
}

extension PageSource {
  /// From how many bytes on a record is not packed: it would hardly find room in a segment.
  var packedRecordByteCountMax: Int { 2 * valueByteCountMax(keyByteCount: 40) }
}

extension Transaction {
  var packer: Packer { Packer(self) }
}
