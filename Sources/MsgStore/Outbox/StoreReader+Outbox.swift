import PageFile

/// Looking into the outbox.
extension StoreReader {
  func outboxEntry(_ ordinal: UInt64) throws(StoreError) -> OutboxRecord? {
    let key = OutboxKey.entry(ordinal)
    var value = ByteBuffer(capacity: 128)
    guard try self.value(of: key.bytes, in: Schema.work, appendTo: &value) else { return nil }
    return try outboxRecord(value.bytes, ordinal)
  }

  func outboxRecord(_ bytes: Bytes, _ ordinal: UInt64) throws(StoreError) -> OutboxRecord {
    guard let record = OutboxRecord(bytes) else {
      throw corrupt(Schema.work, "entry \(ordinal) of the outbox is no record")
    }
    return record
  }

  /// An entry that an index leads to.
  func indexedOutboxEntry(_ ordinal: UInt64) throws(StoreError) -> OutboxRecord {
    guard let record = try outboxEntry(ordinal) else {
      throw corrupt(Schema.work, "entry \(ordinal) of the outbox is missing")
    }
    return record
  }

  func outboxTotals() throws(StoreError) -> OutboxTotals {
    let key = OutboxKey.totals()
    var value = ByteBuffer()
    guard try self.value(of: key.bytes, in: Schema.work, appendTo: &value) else {
      return OutboxTotals()
    }
    guard let totals = OutboxTotals(value.bytes) else {
      throw corrupt(Schema.work, "the totals of the outbox are no record")
    }
    return totals
  }

  func outboxLane(_ conversation: UInt32) throws(StoreError) -> OutboxLane {
    let key = OutboxKey.laneRecord(conversation)
    var value = ByteBuffer()
    guard try self.value(of: key.bytes, in: Schema.work, appendTo: &value) else {
      return OutboxLane()
    }
    guard let lane = OutboxLane(value.bytes) else {
      throw corrupt(Schema.work, "the lane of conversation \(conversation) is no record")
    }
    return lane
  }

  /// The ordinals that keys with a prefix end with, in their order.
  func outboxOrdinals(
    _ prefix: borrowing ByteBuffer, countMax: Int = .max
  ) throws(StoreError) -> [UInt64] {
    var found: [UInt64] = []
    let byteCount = prefix.count + 8
    try forEachCell(with: prefix, in: Schema.work) { (key, _) throws(StoreError) in
      guard let ordinal = OutboxKey.ordinal(key, byteCount: byteCount) else {
        throw corrupt(Schema.work, "an entry of the outbox has a key of \(key.count) bytes")
      }
      found.append(ordinal)
      return found.count < countMax
    }
    return found
  }

  /// The entries of a conversation from one on: one more than a count, so that it shows whether there
  /// are more.
  func outboxOrdinals(
    in conversation: UInt32, from first: UInt64, countMax: Int
  ) throws(StoreError) -> [UInt64] {
    var found: [UInt64] = []
    var cursor = Cursor(source, Schema.work)
    let start = OutboxKey.listed(conversation, first)
    let prefix = start.bytes.slice(0, start.count - 8)
    try storage { () throws(PageFileError) in _ = try cursor.seek(start.bytes) }
    var key = ByteBuffer()
    while cursor.isAtCell, cursor.keyHasPrefix(prefix), found.count <= countMax {
      key.removeAll()
      cursor.appendKey(to: &key)
      guard let ordinal = OutboxKey.ordinal(key.bytes, byteCount: start.count) else {
        throw corrupt(Schema.work, "an entry of the outbox has a key of \(key.count) bytes")
      }
      found.append(ordinal)
      try storage { () throws(PageFileError) in _ = try cursor.next() }
    }
    return found
  }

  /// What is waiting to be told of a message, in the order in which it was entered.
  func outboxEntries(
    of id: MessageID, in conversation: UInt32
  ) throws(StoreError) -> [(ordinal: UInt64, record: OutboxRecord)] {
    let prefix = OutboxKey.message(conversation, id)
    var found: [(UInt64, OutboxRecord)] = []
    for ordinal in try outboxOrdinals(prefix) {
      found.append((ordinal, try indexedOutboxEntry(ordinal)))
    }
    return found
  }

  /// All entries of a conversation, in the order in which they were entered.
  func outboxEntries(
    in conversation: UInt32
  ) throws(StoreError) -> [(ordinal: UInt64, record: OutboxRecord)] {
    let prefix = OutboxKey.listed(conversation)
    var found: [(UInt64, OutboxRecord)] = []
    for ordinal in try outboxOrdinals(prefix) {
      found.append((ordinal, try indexedOutboxEntry(ordinal)))
    }
    return found
  }

  /// When the first entry is due; nil: none is.
  ///
  /// What is done in steps goes on where nothing is due: then there is something to do now.
  func firstDueTime() throws(StoreError) -> Int64? {
    var found: Int64?
    try forEachDue(from: .min) { (time, _) in
      found = time
      return false
    }
    if found == nil, try outboxTotals().hasSteps { return 0 }
    return found
  }

  /// Runs `body` on what is due from some time on, in the order of times, until it returns false.
  func forEachDue(
    from time: Int64, _ body: (Int64, UInt64) -> Bool
  ) throws(StoreError) {
    var cursor = Cursor(source, Schema.work)
    var key = OutboxKey.due(time, 0)
    try storage { () throws(PageFileError) in _ = try cursor.seek(key.bytes) }
    while cursor.isAtCell {
      key.removeAll()
      cursor.appendKey(to: &key)
      guard key.bytes[0] == OutboxKey.duePrefix else { return }
      guard let due = OutboxKey.dueParts(key.bytes) else {
        throw corrupt(Schema.work, "what is due has a key of \(key.count) bytes")
      }
      guard body(due.time, due.ordinal) else { return }
      try storage { () throws(PageFileError) in _ = try cursor.next() }
    }
  }

  /// Runs `body` on all entries from one on, in the order in which they were entered, until it returns
  /// false.
  func forEachOutboxEntry(
    from first: UInt64 = 0, _ body: (UInt64, OutboxRecord) throws(StoreError) -> Bool
  ) throws(StoreError) {
    var cursor = Cursor(source, Schema.work)
    var key = OutboxKey.entry(first)
    var value = ByteBuffer(capacity: 128)
    try storage { () throws(PageFileError) in _ = try cursor.seek(key.bytes) }
    while cursor.isAtCell {
      key.removeAll()
      value.removeAll()
      cursor.appendKey(to: &key)
      guard key.bytes[0] == OutboxKey.entryPrefix else { return }
      guard let ordinal = OutboxKey.ordinal(key.bytes, byteCount: 9) else {
        throw corrupt(Schema.work, "an entry of the outbox has a key of \(key.count) bytes")
      }
      try append(cursor, to: &value)
      guard try body(ordinal, try outboxRecord(value.bytes, ordinal)) else { return }
      try storage { () throws(PageFileError) in _ = try cursor.next() }
    }
  }

  /// What a lane has to hand out next, and when; nil: nothing before something else has happened.
  func nextDue(
    _ conversation: UInt32, _ lane: OutboxLane
  ) throws(StoreError) -> OutboxLane.Due? {
    if lane.isStopped { return nil }
    var next = lane.creation
    if next == 0 {
      let prefix = OutboxKey.lane(conversation)
      guard let first = try outboxOrdinals(prefix, countMax: 1).first else { return nil }
      next = first
    }
    let record = try indexedOutboxEntry(next)
    // The server does not know the conversation before it is made.
    guard record.isActive else { return nil }
    if case .send(let id) = record.subject, !record.isRunning,
      try hasUploads(id, in: conversation)
    {
      return nil
    }
    return OutboxLane.Due(ordinal: next, time: record.dueTime)
  }

  private func hasUploads(_ id: MessageID, in conversation: UInt32) throws(StoreError) -> Bool {
    for (_, record) in try outboxEntries(of: id, in: conversation) {
      if case .upload = record.subject { return true }
    }
    return false
  }
}
