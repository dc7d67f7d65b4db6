import MsgStore
import PageFile

/// Rule 12: the outbox.
extension StoreCheck {
  func outbox(_ view: StoreView) throws(StoreError) {
    let totals = view.source.outboxTotals
    var recount = OutboxRecount()
    do throws(StoreError) {
      try view.within { () throws(StoreError) in try steps(totals, &recount, view) }
    } catch {
      try reportDamage(error)
    }
    try walk(Schema.work, view) { (key, value) throws(StoreError) in
      // Keys of the store's own work begin with 0.
      guard key.count > 0, key[0] >= OutboxKey.entryPrefix else { return }
      switch key[0] {
      case OutboxKey.entryPrefix:
        guard let ordinal = OutboxKey.ordinal(key, byteCount: 9) else {
          return report("outbox: malformed entry key (\(key.count) bytes)")
        }
        try entry(ordinal, value, totals, &recount, view)
      case OutboxKey.conversationPrefix where key.count == 5:
        try lane(key, value, &recount, view)
      case OutboxKey.conversationPrefix, OutboxKey.schedulePrefix:
        try indexed(key, value, view)
      case OutboxKey.duePrefix: try due(key, value, view)
      // Checked by `steps`.
      case OutboxKey.sweepPrefix, OutboxKey.releasePrefix, OutboxKey.decisionPrefix: break
      default: report("outbox: malformed key (\(key.count) bytes)")
      }
    }
    for conversation in Set(recount.lanes.keys).union(recount.stopped).sorted() {
      report("outbox: lane of conversation \(conversation): missing")
    }
    if recount.counts != totals.counts {
      report("outbox: totals disagree with the entries (found \(recount.counts.total))")
    }
  }

  /// Checks that an entry is valid and is in all indexes it belongs in.
  private func entry(
    _ ordinal: UInt64, _ value: Bytes, _ totals: OutboxTotals, _ recount: inout OutboxRecount,
    _ view: StoreView
  ) throws(StoreError) {
    let name = "outbox: entry \(ordinal)"
    guard let record = OutboxRecord(value) else { return report("\(name): malformed record") }
    if ordinal == 0 || ordinal >= totals.nextOrdinal {
      report("\(name): ordinal is not below the next one (\(totals.nextOrdinal))")
    }
    if case .running(let lease, _, _) = record.state, lease >= totals.nextLease {
      report("\(name): lease \(lease) is not below the next one (\(totals.nextLease))")
    }
    recount.add(record, ordinal)
    let number = record.conversation
    if recount.swept.contains(number) {
      try indexed(record, ordinal, name, view)
      return
    }
    if number == 0 {
      if !record.subject.isOfNoConversation { report("\(name): no conversation") }
    } else {
      if try !view.contains(KeyEncoding.key(number), in: Schema.conversations) {
        report("\(name): unknown conversation (\(number))")
      }
    }
    if case .receipt(let kind) = record.subject {
      if try !view.contains(PendingKey.key(kind, number), in: Schema.index) {
        report("\(name): no pending receipts (\(kind))")
      }
    }
    try indexed(record, ordinal, name, view)
    if let message = record.subject.message {
      try blocking(ordinal, record, message, view)
    }
  }

  private func indexed(
    _ record: OutboxRecord, _ ordinal: UInt64, _ name: String, _ view: StoreView
  ) throws(StoreError) {
    try EntryIndex.forEachKey(of: (ordinal, record)) { (key) throws(StoreError) in
      if try !view.contains(key, in: Schema.work) {
        report("\(name): missing from an index (prefix \(key.bytes[0]))")
      }
    }
  }

  /// Checks the flag by which an entry waits for another.
  private func blocking(
    _ ordinal: UInt64, _ record: OutboxRecord, _ message: MessageID, _ view: StoreView
  ) throws(StoreError) {
    if record.isRunning { return }
    // The preparation of a file is recorded nowhere else.
    if case .upload = record.subject { return }
    var isBlocked = false
    do throws(StoreError) {
      for (number, other) in try view.outbox.entries(of: message, in: record.conversation) {
        switch (record.subject, other.subject) {
        case (.send, .upload): isBlocked = isBlocked || other.isAside
        case (.send, _): break
        // A message may be sent again under the name of one whose retraction is pending. It then
        // follows the retraction.
        case (_, .send) where number > ordinal: break
        case (_, .send): isBlocked = isBlocked || other.isAside
        case (.retract, _): break
        case (_, .retract): isBlocked = true
        default: break
        }
      }
    } catch .corruptRecord {
      // Reported with the entry or the index.
      return
    }
    if isBlocked != record.isBlocked {
      report("outbox: entry \(ordinal): wrong blocked flag")
    }
  }

  /// Checks that the entry of an index key exists and belongs there.
  private func indexed(_ key: Bytes, _ value: Bytes, _ view: StoreView) throws(StoreError) {
    guard key.count >= 14, value.count == 0,
      let ordinal = OutboxKey.ordinal(key, byteCount: key.count)
    else { return report("outbox: malformed index key (\(key.count) bytes)") }
    if try !isIndexed(key, ordinal, view) {
      report("outbox: entry \(ordinal): listed in a wrong index (prefix \(key[0]))")
    }
  }

  /// Returns true if an entry belongs under an index key, or if its record cannot be read.
  private func isIndexed(
    _ key: Bytes, _ ordinal: UInt64, _ view: StoreView
  ) throws(StoreError) -> Bool {
    do throws(StoreError) {
      guard let record = try view.outbox.entry(ordinal) else { return false }
      var isFound = false
      try EntryIndex.forEachKey(of: (ordinal, record)) { (other) throws(StoreError) in
        if other.bytes.compare(to: key) == 0 { isFound = true }
      }
      return isFound
    } catch .corruptRecord {
      return true
    }
  }

  private func due(_ key: Bytes, _ value: Bytes, _ view: StoreView) throws(StoreError) {
    guard let due = OutboxKey.timeParts(key), value.count == 0 else {
      return report("outbox: malformed due key (\(key.count) bytes)")
    }
    do throws(StoreError) {
      if let record = try view.outbox.entry(due.ordinal), record.subject.isInOrder {
        let lane = try view.outbox.lane(record.conversation)
        if lane.due == OutboxLane.Due(ordinal: due.ordinal, time: due.time) { return }
      } else if try isIndexed(key, due.ordinal, view) {
        return
      }
    } catch .corruptRecord {
      return
    }
    report("outbox: entry \(due.ordinal) is due at \(due.time) by the index alone")
  }

  private func lane(
    _ key: Bytes, _ value: Bytes, _ recount: inout OutboxRecount, _ view: StoreView
  ) throws(StoreError) {
    guard key.count == 5, let number = key.bigEndianNumber(at: 1), let lane = OutboxLane(value)
    else { return report("outbox: malformed lane record") }
    let name = "outbox: lane of conversation \(number)"
    let expected = recount.lanes.removeValue(forKey: number) ?? OutboxLane()
    if lane == OutboxLane() { report("\(name): empty") }
    if lane.counts != expected.counts { report("\(name): wrong entry counts") }
    if lane.isStopped != (recount.stopped.remove(number) != nil) {
      report("\(name): wrong stopped flag")
    }
    let isNewestRight =
      lane.creation == expected.creation && lane.readReceipt == expected.readReceipt
      && lane.deliveredReceipt == expected.deliveredReceipt
      && [expected.title, 0].contains(lane.title) && [expected.avatar, 0].contains(lane.avatar)
    if !isNewestRight { report("\(name): wrong newest entries") }
    do throws(StoreError) {
      if try view.outbox.nextDue(number, lane) != lane.due {
        report("\(name): wrong next entry")
      }
    } catch .corruptRecord(_, let reason) {
      report("\(name): \(reason)")
    }
    if let due = lane.due {
      if try !view.contains(OutboxKey.due(due.time, due.ordinal), in: Schema.work) {
        report("\(name): next entry missing from the due index")
      }
    }
  }
}

/// The lanes and totals as counted from the entries.
struct OutboxRecount {
  var counts = OutboxCounts()
  var lanes: [UInt32: OutboxLane] = [:]
  /// Conversations whose entries are being swept.
  var swept: Set<UInt32> = []
  /// The swept conversations that have become others; the totals count their entries, and no other
  /// swept ones.
  var merged: Set<UInt32> = []
  /// Lanes that are stopped.
  var stopped: Set<UInt32> = []

  mutating func add(_ record: OutboxRecord, _ ordinal: UInt64) {
    let number = record.conversation
    if !swept.contains(number) || merged.contains(number) { counts.add(1, record.state) }
    var lane = lanes[record.conversation] ?? OutboxLane()
    lane.counts.add(1, record.state)
    if lane[record.subject] != nil { lane[record.subject] = ordinal }
    lanes[record.conversation] = lane
  }
}
