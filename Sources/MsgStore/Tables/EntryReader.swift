package import PageFile

/// A reader of the outbox.
package struct EntryReader {
  let view: StoreView

  @inline(never)
  package func entry(_ ordinal: UInt64) throws(StoreError) -> OutboxRecord? {
    try view.record(OutboxKey.entry(ordinal))
  }

  /// Returns an entry that an index refers to.
  ///
  /// - Throws: `corruptRecord` if it is missing.
  @inline(never)
  package func indexedEntry(_ ordinal: UInt64) throws(StoreError) -> OutboxRecord {
    guard let record = try entry(ordinal) else {
      throw view.corrupt(Schema.work, "outbox entry \(ordinal): missing")
    }
    return record
  }

  package func lane(_ conversation: UInt32) throws(StoreError) -> OutboxLane {
    try view.record(OutboxKey.lane(conversation)) ?? OutboxLane()
  }

  /// Returns the ordinals at the end of the keys that have a prefix, in order.
  @inline(never)
  package func ordinals(
    _ prefix: borrowing ByteBuffer, maximumCount: Int = .max
  ) throws(StoreError) -> [UInt64] {
    try ordinals(from: prefix, sharing: prefix.count, maximumCount)
  }

  @inline(never)
  private func ordinals(
    from start: borrowing ByteBuffer, sharing byteCount: Int, _ maximumCount: Int
  ) throws(StoreError) -> [UInt64] {
    var found: [UInt64] = []
    try view.forEachCell(with: start, sharing: byteCount, in: Schema.work) {
      (key, _) throws(StoreError) in
      guard let ordinal = OutboxKey.ordinal(key, byteCount: byteCount + 8) else {
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
    let count = maximumCount == .max ? maximumCount : maximumCount + 1
    var found: [UInt64] = []
    for isInOrder in [true, false] {
      let start = OutboxKey.listed(conversation, isInOrder: isInOrder, first)
      found += try ordinals(from: start, sharing: start.count - 8, count)
    }
    found = found.sorted()
    for (one, next) in zip(found, found.dropFirst()) where one == next {
      throw view.corrupt(Schema.work, "outbox entry \(one): listed twice")
    }
    return Array(found.prefix(count))
  }

  /// Returns the ordinals of the active entries of a conversation's order behind one of them.
  func ordinals(
    inLane conversation: UInt32, behind ordinal: UInt64, maximumCount: Int
  ) throws(StoreError) -> [UInt64] {
    guard maximumCount > 0, ordinal < .max else { return [] }
    let start = OutboxKey.listed(conversation, isInOrder: true, ordinal + 1)
    return try ordinals(from: start, sharing: start.count - 8, maximumCount)
  }

  /// Returns the entries of a message, in the order in which they were entered.
  @inline(never)
  package func entries(
    of id: MessageID, in conversation: UInt32
  ) throws(StoreError) -> [(ordinal: UInt64, record: OutboxRecord)] {
    try entries(at: try ordinals(OutboxKey.message(conversation, id)))
  }

  private func entries(
    at ordinals: [UInt64]
  ) throws(StoreError) -> [(ordinal: UInt64, record: OutboxRecord)] {
    var found: [(UInt64, OutboxRecord)] = []
    for ordinal in ordinals {
      found.append((ordinal, try indexedEntry(ordinal)))
    }
    return found
  }

  /// Returns all entries of a conversation, in the order in which they were entered.
  func entries(
    in conversation: UInt32
  ) throws(StoreError) -> [(ordinal: UInt64, record: OutboxRecord)] {
    try entries(at: try ordinals(in: conversation, from: 0, maximumCount: .max))
  }

  /// Returns the scheduled entries whose time is at or before a given one, the earliest first.
  func scheduled(
    until limit: Int64, maximumCount: Int
  ) throws(StoreError) -> [(time: Int64, ordinal: UInt64)] {
    var found: [(time: Int64, ordinal: UInt64)] = []
    let prefix = KeyEncoding.prefix(OutboxKey.schedulePrefix)
    try view.forEachCell(with: prefix, in: Schema.work) { (key, _) throws(StoreError) in
      guard let parts = OutboxKey.timeParts(key, OutboxKey.schedulePrefix) else {
        throw view.corrupt(Schema.work, "scheduled entry: malformed key (\(key.count) bytes)")
      }
      guard parts.time <= limit else { return false }
      found.append(parts)
      return found.count < maximumCount
    }
    return found
  }

  /// Returns the time at which the first entry is due or scheduled, or nil if no entry is.
  ///
  /// If work in steps is left, returns 0 or less: there is something to do now. Throws
  /// `corruptRecord` if the index has an entry and the counts have none: it would be due for ever,
  /// since what hands out looks at the counts first. Entries of deleted conversations are not
  /// counted, and go in steps.
  func firstTime() throws(StoreError) -> Int64? {
    let totals = view.source.outboxTotals
    var due: Int64?
    try forEachDue(from: .min) { (time, _) in
      due = time
      return false
    }
    let scheduled = try scheduled(until: .max, maximumCount: 1).first?.time
    let first = [due, scheduled].compactMap { $0 }.min()
    if totals.hasSteps { return min(first ?? 0, 0) }
    let isDueUncounted = due != nil && totals.counts.total == 0
    guard !isDueUncounted, scheduled == nil || totals.counts.held > 0 else {
      throw view.corrupt(Schema.work, "outbox: an entry is in the index, and none is counted")
    }
    return first
  }

  /// Returns an entry whose wait or lease has ended, although it seems to end later than any can,
  /// because the clock was set back.
  ///
  /// No pause that the server did not ask for is longer than `OutboxOptions.maximumDelay`, and
  /// nothing else lasts longer than the longest lease. Of the entries in between, the first few are
  /// looked at.
  func seemingDue(at now: Int64) throws(StoreError) -> (time: Int64, ordinal: UInt64)? {
    let (end, isOverflow) = now.addingReportingOverflow(OutboxOptions.leaseRange.upperBound)
    guard !isOverflow, end < .max else { return nil }
    let pauseEnd = now + OutboxOptions.maximumDelay
    var found: [(time: Int64, ordinal: UInt64)] = []
    try forEachDue(from: pauseEnd + 1) { (time, ordinal) in
      found.append((time, ordinal))
      return time <= end && found.count < Self.maximumWaitedCount
    }
    for entry in found {
      if entry.time > end { return entry }
      if try indexedEntry(entry.ordinal).isInOwnPause { return entry }
    }
    guard found.count == Self.maximumWaitedCount else { return nil }
    var last: (time: Int64, ordinal: UInt64)?
    try forEachDue(from: end + 1) { (time, ordinal) in
      last = (time, ordinal)
      return false
    }
    return last
  }

  /// The number of entries with times that are looked at to find one that may go.
  static var maximumWaitedCount: Int { 64 }

  /// Runs `body` on the entries due from a time on, in the order of their times, until it returns
  /// false.
  func forEachDue(
    from time: Int64, _ body: (Int64, UInt64) -> Bool
  ) throws(StoreError) {
    let start = OutboxKey.due(time, 0)
    try view.forEachCell(with: start, sharing: 1, in: Schema.work) { (key, _) throws(StoreError) in
      guard let due = OutboxKey.timeParts(key) else {
        throw view.corrupt(Schema.work, "due entry: malformed key (\(key.count) bytes)")
      }
      return body(due.time, due.ordinal)
    }
  }

  /// Runs `body` on all entries from an ordinal on, in the order in which they were entered, until
  /// it returns false.
  func forEachEntry(
    from first: UInt64 = 0, _ body: (UInt64, OutboxRecord) throws(StoreError) -> Bool
  ) throws(StoreError) {
    let start = OutboxKey.entry(first)
    try view.forEachCell(with: start, sharing: 1, in: Schema.work) {
      (key, value) throws(StoreError) in
      guard let ordinal = OutboxKey.ordinal(key, byteCount: 9) else {
        throw view.corrupt(Schema.work, "outbox entry: malformed key (\(key.count) bytes)")
      }
      return try body(ordinal, view.decoded(value, at: key))
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
      let first = try ordinals(
        OutboxKey.listed(conversation, isInOrder: true), maximumCount: 1
      ).first
      guard let first else { return nil }
      next = first
    }
    if next == 0 { throw view.corrupt(Schema.work, "outbox entry 0: listed") }
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

  /// Returns true if a message waits for its uploads.
  func hasUploads(_ id: MessageID, in conversation: UInt32) throws(StoreError) -> Bool {
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
  package var outbox: EntryReader { EntryReader(view: self) }
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

/// A conversation whose entries are moved in steps, because it was deleted or has become another.
package struct OutboxSweep: Equatable, FieldRecord {
  package var conversation: UInt32 = 0
  /// The number of the conversation that takes over the entries still to be told, or 0 if none
  /// does.
  package internal(set) var target: UInt32 = 0
  /// True if the conversation has become the target: all of its entries go over, each with the
  /// message that it is about.
  package internal(set) var isMerge = false

  package init() {}

  package init(of conversation: UInt32, to target: UInt32, isMerge: Bool) {
    self.conversation = conversation
    self.target = target
    self.isMerge = isMerge
  }

  package mutating func visit(_ fields: inout (some FieldVisitor & ~Copyable)) {
    fields.fixed(&target, "number of the conversation that gets what is still to be told; 0: none")
    fields.lastMark(&isMerge, "1 if the conversation has become that one")
  }

  /// Returns an entry in the form in which it goes over; nil if it has nothing to tell any more.
  @inline(never)
  package func kept(_ record: OutboxRecord) -> OutboxRecord? {
    if isMerge {
      // Entered again if the other conversation has something to tell.
      if record.subject.isReceipt || record.subject == .createConversation { return nil }
    } else if target == 0 || !record.subject.outlivesItsConversation {
      return nil
    }
    var moved = record
    moved.conversation = target
    return moved
  }
}

extension EntryReader {
  /// Returns the conversations whose entries are moved in steps.
  ///
  /// There are few, since only large conversations need steps.
  package func sweeps(maximumCount: Int = .max) throws(StoreError) -> [OutboxSweep] {
    var found: [OutboxSweep] = []
    let prefix = KeyEncoding.prefix(OutboxKey.sweepPrefix)
    try view.forEachCell(with: prefix, in: Schema.work) { (key, value) throws(StoreError) in
      guard key.count == 5, let number = key.bigEndianNumber(at: 1) else {
        throw view.corrupt(Schema.work, "outbox sweep: malformed key (\(key.count) bytes)")
      }
      var sweep: OutboxSweep = try view.decoded(value, at: key, in: Schema.work, "outbox sweep")
      sweep.conversation = number
      found.append(sweep)
      return found.count < maximumCount
    }
    return found
  }

  /// Returns how the entries of a conversation are moved in steps, or nil if they are not.
  @inline(never)
  package func sweep(of conversation: UInt32) throws(StoreError) -> OutboxSweep? {
    let found: OutboxSweep? = try view.record(
      OutboxKey.sweep(conversation), in: Schema.work, "outbox sweep")
    guard var sweep = found else { return nil }
    sweep.conversation = conversation
    return sweep
  }

  /// Returns an entry with the conversation to which it belongs by now, or nil if it has nothing to
  /// tell any more.
  package func entryOnItsWay(_ record: OutboxRecord) throws(StoreError) -> OutboxRecord? {
    guard let sweep = try sweep(of: record.conversation) else { return record }
    return sweep.kept(record)
  }

  /// Returns true if the outbox has work left that is done in steps.
  @inline(never)
  package func hasSteps() throws(StoreError) -> Bool {
    var cursor = Cursor(view.source, Schema.work)
    let start = KeyEncoding.prefix(OutboxKey.sweepPrefix)
    let end = KeyEncoding.prefix(OutboxKey.decisionPrefix + 1)
    try storage { () throws(PageFileError) in _ = try cursor.seek(start.bytes) }
    return cursor.isAtCell && cursor.compareKey(to: end.bytes) < 0
  }

  /// Returns true if nothing in the order of a conversation may be handed out for now.
  func isLaneStopped(_ conversation: UInt32) throws(StoreError) -> Bool {
    for sweep in try sweeps() {
      if sweep.conversation == conversation || sweep.target == conversation { return true }
    }
    return try releases().contains { $0.release.conversation == conversation }
  }
}
