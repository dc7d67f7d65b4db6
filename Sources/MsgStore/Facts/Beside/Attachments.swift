import PageFile

/// The attachments of messages, kept as facts.
///
/// See docs/message-format.md, F-10.
///
///     key    … 0x03, bytes of the attachment's id
///     value  the record
extension MessageFacts {
  /// Merges the attachments that a message came with into the stored ones.
  ///
  /// - Parameters:
  ///   - isComposed: True if the local member composed them and no server has confirmed them. Their
  ///     fields then stand only until something is received in their place.
  ///   - kept: The only ones that an edit has left to the message; nil for all.
  /// - Returns: True if anything changed.
  func mergeAttachments(
    _ attachments: [MessageAttachment], isComposed: Bool, within kept: KeptAttachments?,
    of id: MessageID, in conversation: UInt32
  ) throws(StoreError) -> Bool {
    var isNews = false
    for (index, attachment) in attachments.enumerated()
    where kept?.contains(attachment.id) ?? true {
      var record = AttachmentRecord(attachment, index: UInt32(index))
      if isComposed {
        record.composed = .told(by: attachment).intersection(.composable)
      }
      if try mergeAttachment(record, of: id, in: conversation) { isNews = true }
    }
    return isNews
  }

  /// Merges a record into the stored record of the same attachment.
  ///
  /// Returns true if anything changed.
  package func mergeAttachment(
    _ given: AttachmentRecord, of id: MessageID, in conversation: UInt32
  ) throws(StoreError) -> Bool {
    let key = FactKey.key(conversation, id, attachment: given.attachment.id)
    let old = try view.facts.attachmentRecord(key.bytes)
    let record = old?.merged(with: given) ?? given
    if record == old { return false }
    transaction.hasAdded = true
    try writeAttachment(record, replacing: old, at: key.bytes)
    return true
  }

  /// Removes everything known of a message's attachments from all trees.
  ///
  /// Every operation that ends a message or its facts calls this, or `unlistFact` where it removes
  /// facts by key. Returns the number of attachments removed.
  @discardableResult
  func removeAttachments(
    of id: MessageID, in conversation: UInt32
  ) throws(StoreError) -> Int {
    let records = try view.facts.attachmentRecords(of: id, in: conversation)
    for record in records { try remove(record, of: id, in: conversation) }
    return records.count
  }

  /// Erases the attachments of a message that an edit has not kept, with their transfers.
  func removeAttachments(
    besides kept: KeptAttachments, of id: MessageID, in conversation: UInt32
  ) throws(StoreError) {
    if StoreDefect.removedAttachmentsStay.isPlanted { return }
    for record in try view.facts.attachmentRecords(of: id, in: conversation)
    where !kept.contains(record.attachment.id) {
      view.source.isErasing = true
      try remove(record, of: id, in: conversation)
      // Its upload has nothing to tell any more, and holds nothing back.
      try transaction.emit(.uploaded(record.attachment.id, of: id, in: conversation))
    }
  }

  private func remove(
    _ record: AttachmentRecord, of id: MessageID, in conversation: UInt32
  ) throws(StoreError) {
    let key = FactKey.key(conversation, id, attachment: record.attachment.id)
    endTransfers(at: key.bytes)
    try index(from: record, to: nil, at: key.bytes)
    try transaction.remove(key.bytes, in: Schema.facts)
  }

  /// Moves a message's attachments to another name, merging them with the attachments stored there.
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

  /// Notes that the transfers of an attachment have ended.
  func endTransfers(at fact: Bytes) {
    for direction in TransferDirection.allCases {
      let key = RunningTransfers.Key(fact: fact.array(), direction: direction)
      if doneByteCount(key) != nil { transaction.transferChanges[key] = .some(nil) }
    }
  }
}

/// The progress of running transfers.
extension MessageFacts {
  /// Returns the number of bytes done by a running transfer; nil if it does not run here.
  @inline(never)
  func doneByteCount(_ key: RunningTransfers.Key) -> Int64? {
    if let change = transaction.transferChanges[key] { return change }
    return transaction.running.doneByteCount(key)
  }

  /// Writes the progress that is kept only in memory.
  func saveProgress() throws(StoreError) {
    let unsaved = transaction.running.unsaved()
    if unsaved.isEmpty { return }
    try transaction.change { () throws(StoreError) in
      for (key, byteCount) in unsaved where transaction.transferChanges[key] == nil {
        var fact = ByteBuffer()
        fact.append(key.fact)
        guard let old = try view.facts.attachmentRecord(fact.bytes), old[key.direction].isRunning
        else {
          // The commit that began it was lost when the store was suspended.
          transaction.transferChanges.updateValue(nil, forKey: key)
          continue
        }
        var new = old
        new.step(key.direction, to: .running(doneByteCount: byteCount))
        if new != old { try writeAttachment(new, replacing: old, at: fact.bytes) }
        transaction.savedProgress[key] = byteCount
      }
    }
  }
}

extension MessageFacts {
  /// Writes a record and its keys in the index.
  func writeAttachment(
    _ record: AttachmentRecord, replacing old: AttachmentRecord?, at fact: Bytes
  ) throws(StoreError) {
    var value = ByteBuffer(capacity: 256)
    record.appendChecked(to: &value)
    try transaction.insert(fact, value.bytes, in: Schema.facts)
    try index(from: old, to: record, at: fact)
  }

  /// Changes the keys of an attachment in the index, and the list of files that nothing needs.
  private func index(
    from old: AttachmentRecord?, to new: AttachmentRecord?, at fact: Bytes
  ) throws(StoreError) {
    try transaction.update(
      TransferIndex.self, from: old.map { (fact, $0) }, to: new.map { (fact, $0) })
    try localPathChanged(from: old?.neededPath, to: new?.neededPath)
  }

  /// Removes the keys in the index of a fact that is about to be removed.
  ///
  /// Does nothing for facts of other kinds.
  func unlistFact(_ key: Bytes) throws(StoreError) {
    guard let parts = FactKey.parts(key), parts.kind == .attachment,
      let record = try view.facts.attachmentRecord(key)
    else { return }
    endTransfers(at: key)
    try index(from: record, to: nil, at: key)
  }
}
