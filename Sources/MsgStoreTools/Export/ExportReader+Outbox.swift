package import MsgStore
import PageFile

/// Reading the outbox, so that it can be restored.
extension StoreSnapshot {
  /// What waits to go out, in the order in which it was entered.
  ///
  /// What does not hold any more, and would be passed over when its turn comes, is left out.
  package func forEachExportedEntry(_ body: (ExportedEntry) throws -> Void) throws {
    // While a store of an earlier version is being raised, not all that waits is entered: a file
    // without entries says that all of it is to be.
    let isRaised = try within { (view) throws(StoreError) in
      try view.source.value(of: .raisedFrom) == nil
    }
    guard isRaised else { return }
    var prefix = ByteBuffer()
    prefix.append(OutboxKey.entryPrefix)
    try view.exports.forEach(with: prefix, in: Schema.work) { (key, value) throws(StoreError) in
      guard key.count == 8 else {
        throw view.corrupt(Schema.work, "an entry of the outbox has a key of another length")
      }
      let stored = try view.outbox.record(value, key.bigEndian64(at: 0))
      guard let record = try view.outbox.entryOnItsWay(stored) else { return nil }
      return try view.exports.holds(record) ? try view.exports.exported(record) : nil
    } _: {
      try body($0)
    }
  }
}

extension ExportReader {
  func exported(_ record: OutboxRecord) throws(StoreError) -> ExportedEntry {
    try ExportedEntry(record, in: try view.outbox.conversationName(of: record), member: view.member)
  }

  /// Whether there is still something to tell, now or when a message is not to be taken back any more.
  func holds(_ record: OutboxRecord) throws(StoreError) -> Bool {
    guard let id = record.subject.message else {
      guard case .receipt(let kind) = record.subject else { return true }
      let name = try view.conversations.details(record.conversation).id
      return try !view.pendingReceipts.pendingReceipts(in: name, kind, as: .mark).isEmpty
    }
    guard let (position, message, own) = try view.messages.found(id, in: record.conversation) else {
      // It may have been deleted here since.
      if case .unsend = record.subject { return true }
      return false
    }
    if message.traits.marks.contains(.unsent) { return false }
    let isOnItsWay = position.place.isPending && !message.status.isServerKnowledge
    switch record.subject {
    case .send: return isOnItsWay
    case .upload(_, let attachment):
      let key = FactKey.key(record.conversation, own, attachment: attachment)
      guard isOnItsWay else { return false }
      return try view.facts.attachmentRecord(key.bytes) != nil
    case .edit(_, let time): return message.traits.pendingEdits.contains(time)
    case .unsend: return message.traits.marks.contains(.hidden)
    default: return true
    }
  }
}
