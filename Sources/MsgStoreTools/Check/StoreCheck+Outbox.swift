import MsgStore
import PageFile

/// Rule 12.
extension StoreCheck {
  func outbox(_ view: StoreView) throws(StoreError) {
    let totals = try view.within { () throws(StoreError) in try view.outbox.totals() }
    var recount = OutboxRecount()
    do throws(StoreError) {
      try view.within { () throws(StoreError) in try steps(totals, &recount, view) }
    } catch {
      try reportDamage(error)
    }
    try walk(Schema.work, view) { (key, value) throws(StoreError) in
      // Those of the store's own work begin with 0.
      guard key.count > 0, key[0] >= OutboxKey.entryPrefix else { return }
      switch key[0] {
      case OutboxKey.entryPrefix:
        guard let ordinal = OutboxKey.ordinal(key, byteCount: 9) else {
          return report("outbox: a key of \(key.count) bytes is none of an entry")
        }
        try entry(ordinal, value, totals, &recount, view)
      case OutboxKey.listPrefix, OutboxKey.lanePrefix, OutboxKey.messagePrefix:
        try indexed(key, value, view)
      case OutboxKey.duePrefix: try due(key, value, view)
      case OutboxKey.laneRecordPrefix: try lane(key, value, &recount, view)
      case OutboxKey.totalsPrefix where key.count == 1: break
      // Looked at before.
      case OutboxKey.sweepPrefix, OutboxKey.releasePrefix, OutboxKey.decisionPrefix: break
      default: report("outbox: a key of \(key.count) bytes is none")
      }
    }
    for conversation in Set(recount.lanes.keys).union(recount.stopped).sorted() {
      report("outbox: the lane of conversation \(conversation) is missing")
    }
    if recount.counts != totals.counts {
      report("outbox: there are \(recount.counts.total) entries; the totals say otherwise")
    }
  }

  /// One entry: that it can be, and is in the indexes that it has to be in.
  private func entry(
    _ ordinal: UInt64, _ value: Bytes, _ totals: OutboxTotals, _ recount: inout OutboxRecount,
    _ view: StoreView
  ) throws(StoreError) {
    let name = "outbox: entry \(ordinal)"
    guard let record = OutboxRecord(value) else { return report("\(name) is no record") }
    if ordinal == 0 || ordinal >= totals.nextOrdinal {
      report("\(name) is not below \(totals.nextOrdinal)")
    }
    if case .running(let lease, _, _) = record.state, lease >= totals.nextLease {
      report("\(name) has lease \(lease), which is not below \(totals.nextLease)")
    }
    recount.add(record, ordinal)
    let number = record.conversation
    if recount.swept.contains(number) {
      try indexed(record, ordinal, name, view)
      return
    }
    if number == 0 {
      if record.subject.kind != .client { report("\(name) is about no conversation") }
    } else {
      let key = KeyEncoding.key(number)
      if try !contains(key.bytes, Schema.conversations, view) {
        report("\(name): unknown conversation (\(number))")
      }
    }
    if case .receipt(let kind) = record.subject {
      let key = ReceiptKey.pending(kind, number)
      if try !contains(key.bytes, Schema.receipts, view) {
        report("\(name) tells of receipts where there is nothing to tell: \(kind)")
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
    for bytes in record.indexKeys(ordinal) {
      var key = ByteBuffer()
      key.append(bytes)
      if try !contains(key.bytes, Schema.work, view) {
        report("\(name) is missing in an index: \(key.bytes[0])")
      }
    }
  }

  /// Whether an entry says rightly that it has to wait.
  private func blocking(
    _ ordinal: UInt64, _ record: OutboxRecord, _ message: MessageID, _ view: StoreView
  ) throws(StoreError) {
    if record.isRunning { return }
    // Whether a file was prepared is said nowhere else.
    if case .upload = record.subject { return }
    var isBlocked = false
    do throws(StoreError) {
      for (number, other) in try view.outbox.entries(of: message, in: record.conversation) {
        switch (record.subject, other.subject) {
        case (.send, .upload): isBlocked = isBlocked || other.isAside
        case (.send, _): break
        // A message that is sent again under the name of one that is still to be taken back is behind
        // that.
        case (_, .send) where number > ordinal: break
        case (_, .send): isBlocked = isBlocked || other.isAside
        case (.unsend, _): break
        case (_, .unsend): isBlocked = true
        default: break
        }
      }
    } catch .corruptRecord {
      // Reported with the entry or the index.
      return
    }
    if isBlocked != record.isBlocked {
      report("outbox: entry \(ordinal) says wrongly whether it has to wait for another")
    }
  }

  /// An index key: that there is such an entry, and that it belongs there.
  private func indexed(_ key: Bytes, _ value: Bytes, _ view: StoreView) throws(StoreError) {
    guard key.count >= 13, value.count == 0,
      let ordinal = OutboxKey.ordinal(key, byteCount: key.count)
    else { return report("outbox: an index has a key of \(key.count) bytes that is none") }
    if try !isIndexed(key, ordinal, view) {
      report("outbox: an index leads to entry \(ordinal), which does not belong there: \(key[0])")
    }
  }

  /// Whether an entry belongs under an index key; that of one that is no record cannot be said.
  private func isIndexed(
    _ key: Bytes, _ ordinal: UInt64, _ view: StoreView
  ) throws(StoreError) -> Bool {
    do throws(StoreError) {
      guard let record = try view.outbox.entry(ordinal) else { return false }
      let bytes = key.array()
      return record.indexKeys(ordinal).contains(bytes)
    } catch .corruptRecord {
      return true
    }
  }

  private func due(_ key: Bytes, _ value: Bytes, _ view: StoreView) throws(StoreError) {
    guard let due = OutboxKey.dueParts(key), value.count == 0 else {
      return report("outbox: what is due has a key of \(key.count) bytes that is none")
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
    report("outbox: entry \(due.ordinal) is due at \(due.time), and does not say so")
  }

  private func lane(
    _ key: Bytes, _ value: Bytes, _ recount: inout OutboxRecount, _ view: StoreView
  ) throws(StoreError) {
    guard key.count == 5, let number = key.bigEndianNumber(at: 1), let lane = OutboxLane(value)
    else { return report("outbox: the lane of a conversation is no record") }
    let name = "outbox: the lane of conversation \(number)"
    let expected = recount.lanes.removeValue(forKey: number) ?? OutboxLane()
    if lane == OutboxLane() { report("\(name) is empty") }
    if lane.counts != expected.counts { report("\(name) counts its entries wrongly") }
    if lane.isStopped != (recount.stopped.remove(number) != nil) {
      report("\(name) says wrongly whether it has to wait")
    }
    let isNewestRight =
      lane.creation == expected.creation && lane.readReceipt == expected.readReceipt
      && lane.deliveredReceipt == expected.deliveredReceipt
      && [expected.title, 0].contains(lane.title) && [expected.avatar, 0].contains(lane.avatar)
    if !isNewestRight { report("\(name) has other entries for the newest") }
    do throws(StoreError) {
      if try view.outbox.nextDue(number, lane) != lane.due {
        report("\(name) does not say what may be handed out next")
      }
    } catch .corruptRecord(_, let reason) {
      report("\(name): \(reason)")
    }
    if let due = lane.due {
      let key = OutboxKey.due(due.time, due.ordinal)
      if try !contains(key.bytes, Schema.work, view) {
        report("\(name) has something due that is not in its index")
      }
    }
  }
}

/// What the entries say of the lanes and the totals.
struct OutboxRecount {
  var counts = OutboxCounts()
  var lanes: [UInt32: OutboxLane] = [:]
  /// Deleted conversations whose entries are gone through: the totals do not have them.
  var swept: Set<UInt32> = []
  /// Lanes that wait.
  var stopped: Set<UInt32> = []

  mutating func add(_ record: OutboxRecord, _ ordinal: UInt64) {
    if !swept.contains(record.conversation) { counts.add(1, record.state) }
    var lane = lanes[record.conversation] ?? OutboxLane()
    lane.counts.add(1, record.state)
    if lane[record.subject] != nil { lane[record.subject] = ordinal }
    lanes[record.conversation] = lane
  }
}

extension OutboxRecord {
  /// The keys under which an entry is indexed by itself, whatever its lane does.
  fileprivate func indexKeys(_ ordinal: UInt64) -> [[UInt8]] {
    let listed = OutboxKey.listed(conversation, ordinal)
    var keys = [listed.bytes.array()]
    if let message = subject.message {
      let key = OutboxKey.message(conversation, message, ordinal)
      keys.append(key.bytes.array())
    }
    guard isActive else { return keys }
    let key =
      subject.isInOrder
      ? OutboxKey.lane(conversation, ordinal) : OutboxKey.due(dueTime, ordinal)
    keys.append(key.bytes.array())
    return keys
  }
}
