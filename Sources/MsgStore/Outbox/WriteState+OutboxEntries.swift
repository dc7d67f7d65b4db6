import PageFile

/// The entries of the outbox, and the indexes and counts that go with them.
///
/// All changes go through `enter`, `replace(entry:)` and `remove(entry:)`; they keep right what
/// docs/message-format.md, O-1 … O-9, says.
extension WriteState {
  /// What is kept of all entries together.
  var outbox: OutboxTotals {
    get throws(StoreError) {
      if let known = memory.outbox { return known }
      let totals = try reader.outboxTotals()
      memory.outbox = totals
      return totals
    }
  }

  private func setOutbox(_ totals: OutboxTotals) {
    memory.outbox = totals
    isOutboxChanged = true
  }

  func setHolding(totals isHolding: Bool) throws(StoreError) {
    var totals = try outbox
    totals.isHolding = isHolding
    setOutbox(totals)
    noteOutboxChange()
  }

  /// The number of a lease that nobody has had.
  func takeLease() throws(StoreError) -> UInt64 {
    var totals = try outbox
    let lease = totals.nextLease
    guard lease < .max else { throw .numbersExhausted(what: "lease") }
    totals.nextLease = lease + 1
    setOutbox(totals)
    return lease
  }

  /// Writes the totals where they have changed.
  func writeOutboxTotals() throws(StoreError) {
    guard isOutboxChanged, let totals = memory.outbox else { return }
    isOutboxChanged = false
    let key = OutboxKey.totals()
    var value = ByteBuffer()
    totals.append(to: &value)
    try insert(key.bytes, value.bytes, in: Schema.work)
  }

  /// Whether nothing waits to go out: then nobody has to look for anything.
  var isOutboxEmpty: Bool {
    get throws(StoreError) { try outbox.counts.total == 0 }
  }

  /// Whether what the local member does is entered.
  var entersOutbox: Bool { rules.outbox.isOn && localMember != nil }

  /// Enters something that the server has to be told.
  @discardableResult
  func enter(
    _ subject: OutboxSubject, of conversation: UInt32, isHeld: Bool? = nil
  ) throws(StoreError) -> UInt64 {
    var record = OutboxRecord(
      subject, of: conversation, token: .random(), created: clock().microseconds)
    let isHolding = try outbox.isHolding
    if isHeld ?? (isHolding && !subject.isReceipt) { record.state = .held }
    return try enter(record)
  }

  /// Puts an entry behind all others.
  @discardableResult
  func enter(_ record: OutboxRecord) throws(StoreError) -> UInt64 {
    var totals = try outbox
    let ordinal = totals.nextOrdinal
    guard ordinal < .max else { throw .numbersExhausted(what: "entry of the outbox") }
    totals.nextOrdinal = ordinal + 1
    setOutbox(totals)
    try put(record, at: ordinal)
    return ordinal
  }

  /// Puts an entry where there is none.
  func put(_ record: OutboxRecord, at ordinal: UInt64) throws(StoreError) {
    hasAdded = true
    try list(record, at: ordinal)
    try write(record, at: ordinal)
    var lane = try reader.outboxLane(record.conversation)
    if lane[record.subject] != nil { lane[record.subject] = ordinal }
    try count(1, record, &lane)
    try index(record, at: ordinal, &lane)
    try settle(record.conversation, &lane)
    try unblock(record)
  }

  /// Puts an entry in the stead of what it was.
  func replace(
    entry ordinal: UInt64, _ old: OutboxRecord, with new: OutboxRecord
  ) throws(StoreError) {
    guard new != old else { return }
    try write(new, at: ordinal)
    var lane = try reader.outboxLane(new.conversation)
    if new.state != old.state {
      try count(-1, old, &lane)
      try count(1, new, &lane)
    }
    if new.isActive != old.isActive || new.dueTime != old.dueTime {
      try unindex(old, at: ordinal, &lane)
      try index(new, at: ordinal, &lane)
    }
    try settle(new.conversation, &lane)
    if new.isAside != old.isAside { try unblock(new) }
  }

  /// Takes an entry out.
  func remove(entry ordinal: UInt64, _ known: OutboxRecord) throws(StoreError) {
    // Read only now: one that was taken out before may have unblocked it.
    let record = known.isBlocked ? try reader.indexedOutboxEntry(ordinal) : known
    let key = OutboxKey.entry(ordinal)
    try remove(key.bytes, in: Schema.work)
    try unlist(record, at: ordinal)
    var lane = try reader.outboxLane(record.conversation)
    if lane[record.subject] == ordinal { lane[record.subject] = 0 }
    try count(-1, record, &lane)
    try unindex(record, at: ordinal, &lane)
    try settle(record.conversation, &lane)
    try unblock(record)
  }

  /// Takes all entries of a conversation out.
  func removeEntries(in conversation: UInt32) throws(StoreError) {
    if try isOutboxEmpty { return }
    for (ordinal, record) in try reader.outboxEntries(in: conversation) {
      try remove(entry: ordinal, record)
    }
  }

  private func write(_ record: OutboxRecord, at ordinal: UInt64) throws(StoreError) {
    noteOutboxChange()
    let key = OutboxKey.entry(ordinal)
    var value = ByteBuffer(capacity: 128)
    record.append(to: &value)
    try insert(key.bytes, value.bytes, in: Schema.work)
  }

  private func count(
    _ change: Int, _ record: OutboxRecord, _ lane: inout OutboxLane
  ) throws(StoreError) {
    var totals = try outbox
    totals.counts.add(change, record.state)
    setOutbox(totals)
    lane.counts.add(change, record.state)
  }

  // MARK: Indexes

  /// The indexes that every entry is in.
  private func list(_ record: OutboxRecord, at ordinal: UInt64) throws(StoreError) {
    let listed = OutboxKey.listed(record.conversation, ordinal)
    try insert(listed.bytes, .empty, in: Schema.work)
    guard let message = record.subject.message else { return }
    let key = OutboxKey.message(record.conversation, message, ordinal)
    try insert(key.bytes, .empty, in: Schema.work)
  }

  private func unlist(_ record: OutboxRecord, at ordinal: UInt64) throws(StoreError) {
    noteOutboxChange()
    let listed = OutboxKey.listed(record.conversation, ordinal)
    try remove(listed.bytes, in: Schema.work)
    guard let message = record.subject.message else { return }
    let key = OutboxKey.message(record.conversation, message, ordinal)
    try remove(key.bytes, in: Schema.work)
  }

  /// The indexes that an active entry is in: its lane, or what is due for what goes in no order.
  private func index(
    _ record: OutboxRecord, at ordinal: UInt64, _ lane: inout OutboxLane
  ) throws(StoreError) {
    guard record.isActive else { return }
    if record.subject.isInOrder {
      let key = OutboxKey.lane(record.conversation, ordinal)
      try insert(key.bytes, .empty, in: Schema.work)
    } else {
      let key = OutboxKey.due(record.dueTime, ordinal)
      try insert(key.bytes, .empty, in: Schema.work)
    }
  }

  private func unindex(
    _ record: OutboxRecord, at ordinal: UInt64, _ lane: inout OutboxLane
  ) throws(StoreError) {
    guard record.isActive else { return }
    if record.subject.isInOrder {
      let key = OutboxKey.lane(record.conversation, ordinal)
      try remove(key.bytes, in: Schema.work)
    } else {
      let key = OutboxKey.due(record.dueTime, ordinal)
      try remove(key.bytes, in: Schema.work)
    }
  }

  /// Sees which entry of a lane is next, and writes the lane.
  func settle(_ conversation: UInt32, _ lane: inout OutboxLane) throws(StoreError) {
    let due = try nextDue(conversation, lane)
    if due != lane.due {
      if let old = lane.due {
        let key = OutboxKey.due(old.time, old.ordinal)
        try remove(key.bytes, in: Schema.work)
      }
      if let due {
        let key = OutboxKey.due(due.time, due.ordinal)
        try insert(key.bytes, .empty, in: Schema.work)
      }
      lane.due = due
    }
    let key = OutboxKey.laneRecord(conversation)
    if lane == OutboxLane() {
      _ = try storage { () throws(PageFileError) in
        try BTree(reader.source, Schema.work).remove(key.bytes)
      }
      return
    }
    var value = ByteBuffer()
    lane.append(to: &value)
    try insert(key.bytes, value.bytes, in: Schema.work)
  }

  private func settle(_ conversation: UInt32) throws(StoreError) {
    var lane = try reader.outboxLane(conversation)
    try settle(conversation, &lane)
  }

  private func nextDue(
    _ conversation: UInt32, _ lane: OutboxLane
  ) throws(StoreError) -> OutboxLane.Due? {
    let prefix = OutboxKey.lane(conversation)
    guard let first = try reader.outboxOrdinals(prefix, countMax: 1).first else { return nil }
    // The server does not know the conversation before.
    if lane.creation != 0, lane.creation != first { return nil }
    let record = try reader.indexedOutboxEntry(first)
    if case .send(let id) = record.subject, !record.isRunning,
      try hasUploads(id, in: conversation)
    {
      return nil
    }
    return OutboxLane.Due(ordinal: first, time: record.dueTime)
  }

  private func hasUploads(_ id: MessageID, in conversation: UInt32) throws(StoreError) -> Bool {
    for (_, record) in try reader.outboxEntries(of: id, in: conversation) {
      if case .upload = record.subject { return true }
    }
    return false
  }

  // MARK: What waits for something else

  /// After an entry has stepped aside, come back or gone: has those that need it do so too.
  private func unblock(_ changed: OutboxRecord) throws(StoreError) {
    guard let id = changed.subject.message else { return }
    let conversation = changed.conversation
    let prefix = OutboxKey.message(conversation, id)
    var isUploadAside = false
    var isSendAside = false
    var isSendThere = false
    for ordinal in try reader.outboxOrdinals(prefix) {
      // Read only now: one before it may have changed it.
      let record = try reader.indexedOutboxEntry(ordinal)
      var new = record
      switch record.subject {
      case .upload:
        isUploadAside = isUploadAside || record.isAside
      case .send:
        isSendThere = true
        new.isBlocked = isUploadAside
        isSendAside = new.isAside
      default:
        new.isBlocked = isSendAside
      }
      try replace(entry: ordinal, record, with: new)
    }
    if case .upload = changed.subject, isSendThere { try settle(conversation) }
  }
}

extension OutboxSubject {
  var isReceipt: Bool { if case .receipt = self { true } else { false } }
}
