import PageFile

/// Reading the outbox, so that it can be restored.
extension StoreSnapshot {
  /// What waits to go out, in the order in which it was entered.
  ///
  /// What does not hold any more, and would be passed over when its turn comes, is left out.
  package func forEachExportedEntry(_ body: (ExportedEntry) throws -> Void) throws {
    let reader = reader
    // While a store of an earlier version is being raised, not all that waits is entered: a file
    // without entries says that all of it is to be.
    let isRaised = try within { (reader) throws(StoreError) in
      try reader.source.value(of: .raisedFrom) == nil
    }
    guard isRaised else { return }
    var prefix = ByteBuffer()
    prefix.append(OutboxKey.entryPrefix)
    try reader.forEach(with: prefix, in: Schema.work) { (key, value) throws(StoreError) in
      guard key.count == 8 else {
        throw reader.corrupt(Schema.work, "an entry of the outbox has a key of another length")
      }
      let stored = try reader.outboxRecord(value, key.bigEndian64(at: 0))
      guard let record = try reader.outboxEntryOnItsWay(stored) else { return nil }
      return try reader.holds(record) ? try reader.exported(record) : nil
    } _: {
      try body($0)
    }
  }
}

extension StoreReader {
  func exported(_ record: OutboxRecord) throws(StoreError) -> ExportedEntry {
    try ExportedEntry(record, in: try conversationName(of: record), member: member)
  }

  /// Whether there is still something to tell, now or when a message is not to be taken back any more.
  func holds(_ record: OutboxRecord) throws(StoreError) -> Bool {
    guard let id = record.subject.message else {
      guard case .receipt(let kind) = record.subject else { return true }
      let name = try details(record.conversation).id
      return try !pendingReceipts(in: name, kind, as: .mark).isEmpty
    }
    guard let (position, message, own) = try found(id, in: record.conversation) else {
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
      return try attachmentRecord(key.bytes) != nil
    case .edit(_, let time): return message.traits.pendingEdits.contains(time)
    case .unsend: return message.traits.marks.contains(.hidden)
    default: return true
    }
  }
}
