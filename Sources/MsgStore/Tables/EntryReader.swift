package import PageFile

/// A reader of the outbox.
package struct EntryReader {
  let view: StoreView

  init(_ view: StoreView) { self.view = view }

  package func entry(_ ordinal: UInt64) throws(StoreError) -> OutboxRecord? {
    let key = OutboxKey.entry(ordinal)
    var value = ByteBuffer(capacity: 128)
    guard try view.value(of: key.bytes, in: Schema.work, appendTo: &value) else { return nil }
    return try record(value.bytes, ordinal)
  }

  package func record(_ bytes: Bytes, _ ordinal: UInt64) throws(StoreError) -> OutboxRecord {
    guard let record = OutboxRecord(bytes) else {
      throw view.corrupt(Schema.work, "outbox entry \(ordinal): malformed record")
    }
    return record
  }

  /// Returns an entry that an index refers to.
  ///
  /// - Throws: `corruptRecord` if it is missing.
  package func indexedEntry(_ ordinal: UInt64) throws(StoreError) -> OutboxRecord {
    guard let record = try entry(ordinal) else {
      throw view.corrupt(Schema.work, "outbox entry \(ordinal): missing")
    }
    return record
  }

  package func totals() throws(StoreError) -> OutboxTotals {
    let key = OutboxKey.totals()
    var value = ByteBuffer()
    guard try view.value(of: key.bytes, in: Schema.work, appendTo: &value) else {
      return OutboxTotals()
    }
    guard let totals = OutboxTotals(value.bytes) else {
      throw view.corrupt(Schema.work, "outbox totals: malformed record")
    }
    return totals
  }

  package func lane(_ conversation: UInt32) throws(StoreError) -> OutboxLane {
    let key = OutboxKey.laneRecord(conversation)
    var value = ByteBuffer()
    guard try view.value(of: key.bytes, in: Schema.work, appendTo: &value) else {
      return OutboxLane()
    }
    guard let lane = OutboxLane(value.bytes) else {
      throw view.corrupt(Schema.work, "lane of conversation \(conversation): malformed record")
    }
    return lane
  }

  /// Returns the ordinals at the end of the keys that have a prefix, in order.
  package func ordinals(
    _ prefix: borrowing ByteBuffer, maximumCount: Int = .max
  ) throws(StoreError) -> [UInt64] {
    var found: [UInt64] = []
    let byteCount = prefix.count + 8
    try view.forEachCell(with: prefix, in: Schema.work) { (key, _) throws(StoreError) in
      guard let ordinal = OutboxKey.ordinal(key, byteCount: byteCount) else {
        throw view.corrupt(Schema.work, "outbox entry: malformed key (\(key.count) bytes)")
      }
      found.append(ordinal)
      return found.count < maximumCount
    }
    return found
  }

  /// Returns the ordinals of a conversation's entries from one on.
  ///
  /// Returns one more than `maximumCount` if there are more, so that the caller can tell.
  func ordinals(
    in conversation: UInt32, from first: UInt64, maximumCount: Int
  ) throws(StoreError) -> [UInt64] {
    var found: [UInt64] = []
    var cursor = Cursor(view.source, Schema.work)
    let start = OutboxKey.listed(conversation, first)
    let prefix = start.bytes.slice(0, start.count - 8)
    try storage { () throws(PageFileError) in _ = try cursor.seek(start.bytes) }
    var key = ByteBuffer()
    while cursor.isAtCell, cursor.keyHasPrefix(prefix), found.count <= maximumCount {
      key.removeAll()
      cursor.appendKey(to: &key)
      guard let ordinal = OutboxKey.ordinal(key.bytes, byteCount: start.count) else {
        throw view.corrupt(Schema.work, "outbox entry: malformed key (\(key.count) bytes)")
      }
      found.append(ordinal)
      try storage { () throws(PageFileError) in _ = try cursor.next() }
    }
    return found
  }

  /// Returns the entries of a message, in the order in which they were entered.
  package func entries(
    of id: MessageID, in conversation: UInt32
  ) throws(StoreError) -> [(ordinal: UInt64, record: OutboxRecord)] {
    let prefix = OutboxKey.message(conversation, id)
    var found: [(UInt64, OutboxRecord)] = []
    for ordinal in try ordinals(prefix) {
      found.append((ordinal, try indexedEntry(ordinal)))
    }
    return found
  }

  /// Returns all entries of a conversation, in the order in which they were entered.
  func entries(
    in conversation: UInt32
  ) throws(StoreError) -> [(ordinal: UInt64, record: OutboxRecord)] {
    let prefix = OutboxKey.listed(conversation)
    var found: [(UInt64, OutboxRecord)] = []
    for ordinal in try ordinals(prefix) {
      found.append((ordinal, try indexedEntry(ordinal)))
    }
    return found
  }

  /// Returns the time at which the first entry is due, or nil if no entry is.
  ///
  /// If no entry is due but work in steps is left, returns 0: there is something to do now.
  func firstDueTime() throws(StoreError) -> Int64? {
    var found: Int64?
    try forEachDue(from: .min) { (time, _) in
      found = time
      return false
    }
    if found == nil, try totals().hasSteps { return 0 }
    return found
  }

  /// Runs `body` on the entries due from a time on, in the order of their times, until it returns
  /// false.
  func forEachDue(
    from time: Int64, _ body: (Int64, UInt64) -> Bool
  ) throws(StoreError) {
    var cursor = Cursor(view.source, Schema.work)
    var key = OutboxKey.due(time, 0)
    try storage { () throws(PageFileError) in _ = try cursor.seek(key.bytes) }
    while cursor.isAtCell {
      key.removeAll()
      cursor.appendKey(to: &key)
      guard key.bytes[0] == OutboxKey.duePrefix else { return }
      guard let due = OutboxKey.dueParts(key.bytes) else {
        throw view.corrupt(Schema.work, "due entry: malformed key (\(key.count) bytes)")
      }
      guard body(due.time, due.ordinal) else { return }
      try storage { () throws(PageFileError) in _ = try cursor.next() }
    }
  }

  /// Runs `body` on all entries from an ordinal on, in the order in which they were entered, until
  /// it returns false.
  func forEachEntry(
    from first: UInt64 = 0, _ body: (UInt64, OutboxRecord) throws(StoreError) -> Bool
  ) throws(StoreError) {
    var cursor = Cursor(view.source, Schema.work)
    var key = OutboxKey.entry(first)
    var value = ByteBuffer(capacity: 128)
    try storage { () throws(PageFileError) in _ = try cursor.seek(key.bytes) }
    while cursor.isAtCell {
      key.removeAll()
      value.removeAll()
      cursor.appendKey(to: &key)
      guard key.bytes[0] == OutboxKey.entryPrefix else { return }
      guard let ordinal = OutboxKey.ordinal(key.bytes, byteCount: 9) else {
        throw view.corrupt(Schema.work, "outbox entry: malformed key (\(key.count) bytes)")
      }
      try view.append(cursor, to: &value)
      guard try body(ordinal, try record(value.bytes, ordinal)) else { return }
      try storage { () throws(PageFileError) in _ = try cursor.next() }
    }
  }

  /// Returns the entry that a lane has to hand out next, and its time.
  ///
  /// Returns nil if the lane has no such entry until something else happens.
  package func nextDue(
    _ conversation: UInt32, _ lane: OutboxLane
  ) throws(StoreError) -> OutboxLane.Due? {
    if lane.isStopped { return nil }
    var next = lane.creation
    if next == 0 {
      let prefix = OutboxKey.lane(conversation)
      guard let first = try ordinals(prefix, maximumCount: 1).first else { return nil }
      next = first
    }
    let record = try indexedEntry(next)
    // The server does not know the conversation before it is created.
    guard record.isActive else { return nil }
    if case .send(let id) = record.subject, !record.isRunning,
      try hasUploads(id, in: conversation)
    {
      return nil
    }
    return OutboxLane.Due(ordinal: next, time: record.dueTime)
  }

  private func hasUploads(_ id: MessageID, in conversation: UInt32) throws(StoreError) -> Bool {
    for (_, record) in try entries(of: id, in: conversation) {
      if case .upload = record.subject { return true }
    }
    return false
  }
}

extension EntryReader {
  /// Returns the name of an entry's conversation, or nil if the entry has none.
  package func conversationName(of record: OutboxRecord) throws(StoreError) -> ConversationID? {
    record.conversation == 0 ? nil : try view.conversations.details(record.conversation).id
  }
}

extension StoreView {
  package var outbox: EntryReader { EntryReader(self) }
}

extension EntryReader {
  /// Returns true if an entry may be handed out as soon as it is due: it is active, and either the
  /// next of its lane or in no lane.
  package func isNext(_ record: OutboxRecord, _ ordinal: UInt64) throws(StoreError) -> Bool {
    guard record.isActive else { return false }
    if !record.subject.isInOrder { return true }
    return try lane(record.conversation).due?.ordinal == ordinal
  }
}

/// A deleted conversation whose entries are processed in steps.
package struct OutboxSweep: Hashable {
  package var conversation: UInt32
  /// The number of the conversation that takes over the entries still to be told, or 0 if none
  /// does.
  package var target: UInt32
}

extension EntryReader {
  /// Returns the deleted conversations whose entries are processed in steps.
  ///
  /// There are few, since only large conversations need steps.
  package func sweeps(maximumCount: Int = .max) throws(StoreError) -> [OutboxSweep] {
    var found: [OutboxSweep] = []
    var prefix = ByteBuffer()
    prefix.append(OutboxKey.sweepPrefix)
    try view.forEachCell(with: prefix, in: Schema.work) { (key, value) throws(StoreError) in
      guard key.count == 5, let number = key.bigEndianNumber(at: 1),
        let target = decodedTarget(value)
      else { throw view.corrupt(Schema.work, "outbox sweep: malformed record") }
      found.append(OutboxSweep(conversation: number, target: target))
      return found.count < maximumCount
    }
    return found
  }

  /// Returns the number of the conversation that takes over a deleted conversation's entries still
  /// to be told, or 0 if none does.
  ///
  /// Returns nil if the conversation is not being swept.
  func sweepTarget(of conversation: UInt32) throws(StoreError) -> UInt32? {
    let key = OutboxKey.sweep(conversation)
    var value = ByteBuffer()
    guard try view.value(of: key.bytes, in: Schema.work, appendTo: &value) else { return nil }
    guard let target = decodedTarget(value.bytes) else {
      throw view.corrupt(Schema.work, "outbox sweep: malformed record")
    }
    return target
  }

  private func decodedTarget(_ value: Bytes) -> UInt32? {
    var reader = ByteReader(value)
    guard let target = reader.uint32(), reader.isAtEnd else { return nil }
    return target
  }

  /// Returns an entry with the conversation to which it belongs by now, or nil if it has nothing to
  /// tell any more.
  package func entryOnItsWay(_ record: OutboxRecord) throws(StoreError) -> OutboxRecord? {
    guard let target = try sweepTarget(of: record.conversation) else { return record }
    guard target != 0, record.subject.outlivesItsConversation else { return nil }
    var moved = record
    moved.conversation = target
    return moved
  }

  /// Returns true if the outbox has work left that is done in steps.
  package func hasSteps() throws(StoreError) -> Bool {
    var cursor = Cursor(view.source, Schema.work)
    var key = ByteBuffer()
    key.append(OutboxKey.sweepPrefix)
    try storage { () throws(PageFileError) in _ = try cursor.seek(key.bytes) }
    guard cursor.isAtCell else { return false }
    key.removeAll()
    cursor.appendKey(to: &key)
    return key.bytes[0] <= OutboxKey.decisionPrefix
  }

  /// Returns true if nothing in the order of a conversation may be handed out for now.
  func isLaneStopped(_ conversation: UInt32) throws(StoreError) -> Bool {
    for sweep in try sweeps() {
      if sweep.conversation == conversation || sweep.target == conversation { return true }
    }
    return try releases().contains { $0.release.conversation == conversation }
  }
}
