package import PageFile

/// Looking into the outbox.
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
      throw view.corrupt(Schema.work, "entry \(ordinal) of the outbox is no record")
    }
    return record
  }

  /// An entry that an index leads to.
  package func indexedEntry(_ ordinal: UInt64) throws(StoreError) -> OutboxRecord {
    guard let record = try entry(ordinal) else {
      throw view.corrupt(Schema.work, "entry \(ordinal) of the outbox is missing")
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
      throw view.corrupt(Schema.work, "the totals of the outbox are no record")
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
      throw view.corrupt(Schema.work, "the lane of conversation \(conversation) is no record")
    }
    return lane
  }

  /// The ordinals that keys with a prefix end with, in their order.
  package func ordinals(
    _ prefix: borrowing ByteBuffer, countMax: Int = .max
  ) throws(StoreError) -> [UInt64] {
    var found: [UInt64] = []
    let byteCount = prefix.count + 8
    try view.forEachCell(with: prefix, in: Schema.work) { (key, _) throws(StoreError) in
      guard let ordinal = OutboxKey.ordinal(key, byteCount: byteCount) else {
        throw view.corrupt(Schema.work, "an entry of the outbox has a key of \(key.count) bytes")
      }
      found.append(ordinal)
      return found.count < countMax
    }
    return found
  }

  /// The entries of a conversation from one on: one more than a count, so that it shows whether there
  /// are more.
  func ordinals(
    in conversation: UInt32, from first: UInt64, countMax: Int
  ) throws(StoreError) -> [UInt64] {
    var found: [UInt64] = []
    var cursor = Cursor(view.source, Schema.work)
    let start = OutboxKey.listed(conversation, first)
    let prefix = start.bytes.slice(0, start.count - 8)
    try storage { () throws(PageFileError) in _ = try cursor.seek(start.bytes) }
    var key = ByteBuffer()
    while cursor.isAtCell, cursor.keyHasPrefix(prefix), found.count <= countMax {
      key.removeAll()
      cursor.appendKey(to: &key)
      guard let ordinal = OutboxKey.ordinal(key.bytes, byteCount: start.count) else {
        throw view.corrupt(Schema.work, "an entry of the outbox has a key of \(key.count) bytes")
      }
      found.append(ordinal)
      try storage { () throws(PageFileError) in _ = try cursor.next() }
    }
    return found
  }

  /// What is waiting to be told of a message, in the order in which it was entered.
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

  /// All entries of a conversation, in the order in which they were entered.
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

  /// When the first entry is due; nil: none is.
  ///
  /// What is done in steps goes on where nothing is due: then there is something to do now.
  func firstDueTime() throws(StoreError) -> Int64? {
    var found: Int64?
    try forEachDue(from: .min) { (time, _) in
      found = time
      return false
    }
    if found == nil, try totals().hasSteps { return 0 }
    return found
  }

  /// Runs `body` on what is due from some time on, in the order of times, until it returns false.
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
        throw view.corrupt(Schema.work, "what is due has a key of \(key.count) bytes")
      }
      guard body(due.time, due.ordinal) else { return }
      try storage { () throws(PageFileError) in _ = try cursor.next() }
    }
  }

  /// Runs `body` on all entries from one on, in the order in which they were entered, until it returns
  /// false.
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
        throw view.corrupt(Schema.work, "an entry of the outbox has a key of \(key.count) bytes")
      }
      try view.append(cursor, to: &value)
      guard try body(ordinal, try record(value.bytes, ordinal)) else { return }
      try storage { () throws(PageFileError) in _ = try cursor.next() }
    }
  }

  /// What a lane has to hand out next, and when; nil: nothing before something else has happened.
  package func nextDue(
    _ conversation: UInt32, _ lane: OutboxLane
  ) throws(StoreError) -> OutboxLane.Due? {
    if lane.isStopped { return nil }
    var next = lane.creation
    if next == 0 {
      let prefix = OutboxKey.lane(conversation)
      guard let first = try ordinals(prefix, countMax: 1).first else { return nil }
      next = first
    }
    let record = try indexedEntry(next)
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
    for (_, record) in try entries(of: id, in: conversation) {
      if case .upload = record.subject { return true }
    }
    return false
  }
}

extension EntryReader {
  /// The name of the conversation that an entry is about; nil where there is none.
  package func conversationName(of record: OutboxRecord) throws(StoreError) -> ConversationID? {
    record.conversation == 0 ? nil : try view.conversations.details(record.conversation).id
  }
}

extension StoreView {
  package var outbox: EntryReader { EntryReader(self) }
}

extension EntryReader {
  package func isNext(_ record: OutboxRecord, _ ordinal: UInt64) throws(StoreError) -> Bool {
    guard record.isActive else { return false }
    if !record.subject.isInOrder { return true }
    return try lane(record.conversation).due?.ordinal == ordinal
  }
}

/// A deleted conversation whose entries are gone through.
package struct OutboxSweep: Hashable {
  package var conversation: UInt32
  /// The number that gets what is still to be told; 0: there is nothing.
  package var target: UInt32
}

extension EntryReader {
  /// The deleted conversations whose entries are gone through: few, as only large ones are.
  package func sweeps(countMax: Int = .max) throws(StoreError) -> [OutboxSweep] {
    var found: [OutboxSweep] = []
    var prefix = ByteBuffer()
    prefix.append(OutboxKey.sweepPrefix)
    try view.forEachCell(with: prefix, in: Schema.work) { (key, value) throws(StoreError) in
      guard key.count == 5, let number = key.bigEndianNumber(at: 1),
        let target = decodedTarget(value)
      else { throw view.corrupt(Schema.work, "what is swept of the outbox is no record") }
      found.append(OutboxSweep(conversation: number, target: target))
      return found.count < countMax
    }
    return found
  }

  /// Who gets what is still to be told of a deleted conversation, 0: nobody; nil when it is none whose
  /// entries are gone through.
  func sweepTarget(of conversation: UInt32) throws(StoreError) -> UInt32? {
    let key = OutboxKey.sweep(conversation)
    var value = ByteBuffer()
    guard try view.value(of: key.bytes, in: Schema.work, appendTo: &value) else { return nil }
    guard let target = decodedTarget(value.bytes) else {
      throw view.corrupt(Schema.work, "what is swept of the outbox is no record")
    }
    return target
  }

  private func decodedTarget(_ value: Bytes) -> UInt32? {
    var reader = ByteReader(value)
    guard let target = reader.uint32(), reader.isAtEnd else { return nil }
    return target
  }

  /// An entry with the conversation that it is about by now; nil: there is nothing to tell any more.
  package func entryOnItsWay(_ record: OutboxRecord) throws(StoreError) -> OutboxRecord? {
    guard let target = try sweepTarget(of: record.conversation) else { return record }
    guard target != 0, record.subject.outlivesItsConversation else { return nil }
    var moved = record
    moved.conversation = target
    return moved
  }

  /// Whether the outbox has something left that is done in steps.
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

  /// Whether nothing of a conversation may be handed out in its order for now.
  func isLaneStopped(_ conversation: UInt32) throws(StoreError) -> Bool {
    for sweep in try sweeps() {
      if sweep.conversation == conversation || sweep.target == conversation { return true }
    }
    return try releases().contains { $0.release.conversation == conversation }
  }
}
