import PageFile

/// Attachments of messages, among the facts.
///
/// See docs/message-format.md, F-10.
///
///     key    … 0x03, bytes of the attachment's id
///     value  the record
package struct Attachments: TransactionPart {
  package let transaction: Transaction

  init(_ transaction: Transaction) { self.transaction = transaction }

  /// Merges the attachments that a message came with into what is known.
  ///
  /// - Parameter isComposed: Whether the local member has said it and no server has: then it only
  ///   stands in for what is not received.
  /// - Returns: Whether that is news.
  func mergeAttachments(
    _ attachments: [Attachment], isComposed: Bool, of id: MessageID, in conversation: UInt32
  ) throws(StoreError) -> Bool {
    var isNews = false
    for (index, attachment) in attachments.enumerated() {
      var record = AttachmentRecord(attachment, index: UInt32(index))
      if isComposed {
        record.composed = .told(by: attachment).intersection(.composable)
      }
      if try mergeAttachment(record, of: id, in: conversation) { isNews = true }
    }
    return isNews
  }

  /// Merges a record into what is stored of the same attachment.
  package func mergeAttachment(
    _ given: AttachmentRecord, of id: MessageID, in conversation: UInt32
  ) throws(StoreError) -> Bool {
    let key = FactKey.key(conversation, id, attachment: given.attachment.id)
    let old = try view.facts.attachmentRecord(key.bytes)
    let record = old?.merged(with: given) ?? given
    if record == old { return false }
    transaction.hasAdded = true
    try write(record, replacing: old, at: key.bytes)
    return true
  }

  /// Removes all that is known of a message's attachments, wherever it is.
  ///
  /// Everything that ends a message or its facts calls this, or `unlistFact` where facts are removed
  /// by their keys. Returns how many attachments there were.
  @discardableResult
  func removeAttachments(
    of id: MessageID, in conversation: UInt32
  ) throws(StoreError) -> Int {
    let records = try view.facts.attachmentRecords(of: id, in: conversation)
    for record in records {
      let key = FactKey.key(conversation, id, attachment: record.attachment.id)
      endTransfers(at: key.bytes)
      try unlistTransfers(record, at: key.bytes)
      try transaction.remove(key.bytes, in: Schema.facts)
    }
    return records.count
  }

  /// Moves a message's attachments to another name, merging them with those that it has there.
  func moveAttachments(
    of id: MessageID, in conversation: UInt32, to other: MessageID, in target: UInt32
  ) throws(StoreError) {
    for record in try view.facts.attachmentRecords(of: id, in: conversation) {
      _ = try mergeAttachment(record, of: other, in: target)
      let old = FactKey.key(conversation, id, attachment: record.attachment.id)
      let new = FactKey.key(target, other, attachment: record.attachment.id)
      for direction in TransferDirection.allCases where record[direction].isRunning {
        let key = RunningTransfers.Key(fact: old.bytes.array(), direction: direction)
        guard let byteCount = doneByteCount(key) else { continue }
        transaction.transferChanges[.init(fact: new.bytes.array(), direction: direction)] =
          byteCount
      }
    }
    try removeAttachments(of: id, in: conversation)
  }

  /// Notes that nobody moves the bytes of an attachment any more.
  func endTransfers(at fact: Bytes) {
    for direction in TransferDirection.allCases {
      let key = RunningTransfers.Key(fact: fact.array(), direction: direction)
      if doneByteCount(key) != nil { transaction.transferChanges[key] = .some(nil) }
    }
  }
}

/// What the local member's device does with attachments.
extension Attachments {
}

extension Transaction {
  package var attachments: Attachments { Attachments(self) }
}

/// The part of a write transaction.
extension Attachments {
  /// How far a transfer of this moment is; nil when nobody here moves its bytes.
  func doneByteCount(_ key: RunningTransfers.Key) -> Int64? {
    if let change = transaction.transferChanges[key] { return change }
    return transaction.running.doneByteCount(key)
  }

  /// Writes progress that is only in memory.
  func saveProgress() throws(StoreError) {
    let unsaved = transaction.running.unsaved()
    if unsaved.isEmpty { return }
    try transaction.change { () throws(StoreError) in
      for (key, byteCount) in unsaved where transaction.transferChanges[key] == nil {
        var fact = ByteBuffer()
        fact.append(key.fact)
        guard let old = try view.facts.attachmentRecord(fact.bytes), old[key.direction].isRunning
        else {
          continue
        }
        var new = old
        new.step(key.direction, to: .running(doneByteCount: byteCount))
        if new != old { try write(new, replacing: old, at: fact.bytes) }
        transaction.savedProgress[key] = byteCount
      }
    }
  }
}

extension Attachments {
  /// Writes a record and what the transfers tree has of it.
  func write(
    _ record: AttachmentRecord, replacing old: AttachmentRecord?, at fact: Bytes
  ) throws(StoreError) {
    var value = ByteBuffer(capacity: 256)
    record.appendChecked(to: &value)
    try transaction.insert(fact, value.bytes, in: Schema.facts)
    if let old {
      if old.isMoving == record.isMoving, old.indexedHash == record.indexedHash { return }
      try unlistTransfers(old, at: fact)
    }
    try list(record, at: fact)
  }

  private func list(_ record: AttachmentRecord, at fact: Bytes) throws(StoreError) {
    try record.forEachIndexKey(of: fact) { (key) throws(StoreError) in
      try transaction.insert(key.bytes, .empty, in: Schema.transfers)
    }
  }

  func unlistTransfers(_ record: AttachmentRecord, at fact: Bytes) throws(StoreError) {
    try record.forEachIndexKey(of: fact) { (key) throws(StoreError) in
      try transaction.remove(key.bytes, in: Schema.transfers)
    }
  }

  /// Takes out of the transfers tree what it has of a fact that goes; does nothing for facts of other
  /// kinds.
  func unlistFact(_ key: Bytes) throws(StoreError) {
    guard let parts = FactKey.parts(key), parts.kind == .attachment,
      let record = try view.facts.attachmentRecord(key)
    else { return }
    endTransfers(at: key)
    try unlistTransfers(record, at: key)
  }
}
