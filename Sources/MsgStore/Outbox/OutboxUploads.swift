import PageFile

/// Pauses and continues uploads.
struct OutboxUploads: TransactionPart {
  let transaction: Transaction

  /// Returns the number of bytes of an attachment known to be on the server.
  func uploadedByteCount(
    _ attachment: String, of id: MessageID, in conversation: ConversationID
  ) throws(StoreError) -> Int64 {
    try runningUpload(attachment, of: id, in: conversation)?.byteCount ?? 0
  }

  /// Pauses the upload of an attachment, if it runs.
  ///
  /// It stays stored as running, with its progress, so that it can continue from there. A stored
  /// upload that nothing runs reads as queued.
  func pauseUpload(
    of attachment: String, message id: MessageID, in conversation: ConversationID
  ) throws(StoreError) {
    guard let (key, byteCount) = try runningUpload(attachment, of: id, in: conversation) else {
      return
    }
    _ = try transaction.messageUpdates.setTransfer(
      .upload, to: .running(doneByteCount: byteCount), of: attachment, message: id,
      in: conversation)
    transaction.transferChanges[key] = .some(nil)
    // The record may be unchanged; the upload still reads as queued now.
    guard transaction.hasListeners else { return }
    var fact = ByteBuffer()
    fact.append(key.fact)
    transaction.noteChange(of: fact.bytes, in: Schema.facts)
  }

  /// Unblocks an upload that waited for its file to be prepared.
  ///
  /// Returns true if there was one.
  func releasePrepared(
    _ attachment: String, of id: MessageID, in conversation: UInt32
  ) throws(StoreError) -> Bool {
    if transaction.outboxEntries.isEmpty { return false }
    for (ordinal, old) in try view.outbox.entries(of: id, in: conversation) where old.isBlocked {
      guard case .upload(_, let other) = old.subject, other.hasSameBytes(as: attachment) else {
        continue
      }
      var new = old
      new.isBlocked = false
      try transaction.outboxEntries.replace(entry: ordinal, old, with: new)
      return true
    }
    return false
  }

  /// Returns an upload that is stored as running, with its progress.
  private func runningUpload(
    _ attachment: String, of id: MessageID, in conversation: ConversationID
  ) throws(StoreError) -> (key: RunningTransfers.Key, byteCount: Int64)? {
    guard let number = try view.number(of: conversation),
      let (_, _, own) = try flushed().messages.found(id, in: number)
    else { return nil }
    let fact = FactKey.key(number, own, attachment: attachment)
    guard case .running(let stored)? = try view.facts.attachmentRecord(fact.bytes)?.upload else {
      return nil
    }
    let key = RunningTransfers.Key(fact: fact.bytes.array(), direction: .upload)
    return (key, transaction.messageFacts.doneByteCount(key) ?? stored)
  }
}

extension Transaction {
  var outboxUploads: OutboxUploads { OutboxUploads(transaction: self) }
}
