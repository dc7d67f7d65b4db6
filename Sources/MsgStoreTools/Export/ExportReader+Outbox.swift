package import MsgStore
import PageFile

/// Exports of the outbox.
extension StoreSnapshot {
  /// Calls `body` with each outbox entry in the order of entering.
  ///
  /// Entries that no longer hold, which would be passed over when their turn comes, are left out.
  package func forEachExportedEntry(_ body: (ExportedEntry) throws -> Void) throws {
    let prefix = KeyEncoding.prefix(OutboxKey.entryPrefix)
    try view.exports.forEach(with: prefix, in: Schema.work) { (key, value) throws(StoreError) in
      guard key.count == 8 else {
        throw view.corrupt(Schema.work, "outbox: malformed entry key")
      }
      let stored: OutboxRecord = try view.decoded(value, at: key)
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

  /// Returns true if an entry has something to tell, now or once a retraction is undone.
  func holds(_ record: OutboxRecord) throws(StoreError) -> Bool {
    guard let id = record.subject.message else {
      if case .setConversationField(let time, let name) = record.subject {
        return try view.conversations.ownFields(record.conversation)[name]?.time == time
      }
      if case .setMemberField(let member, let time, let name) = record.subject {
        return try view.directory.ownFields(member)[name]?.time == time
      }
      guard case .receipt(let kind) = record.subject else { return true }
      let name = try view.conversations.details(record.conversation).id
      return try !view.pendingReceipts.pendingReceipts(in: name, kind, as: .mark).isEmpty
    }
    guard let (position, message, own) = try view.messages.found(id, in: record.conversation) else {
      // The message may have been deleted here since.
      if case .retract = record.subject { return true }
      return false
    }
    if message.traits.marks.contains(.retracted) { return false }
    let isOnItsWay = position.place.isPending && !message.status.isServerKnowledge
    switch record.subject {
    case .send: return isOnItsWay
    case .upload(_, let attachment):
      let key = FactKey.key(record.conversation, own, attachment: attachment)
      guard isOnItsWay else { return false }
      return try view.facts.attachmentRecord(key.bytes) != nil
    case .edit(_, let time): return message.traits.pendingEdits.contains(time)
    case .setMessageField(_, let time, let name):
      return message.traits.ownFields[name]?.time == time
    case .retract: return message.traits.marks.contains(.hidden)
    default: return true
    }
  }
}
