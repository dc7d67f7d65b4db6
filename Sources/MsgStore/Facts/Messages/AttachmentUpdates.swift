import PageFile

/// Updates attachments of messages: with received facts, and with state that only this device
/// knows.
extension MessageUpdates {
  /// Merges a received attachment.
  ///
  /// Returns true if anything changed.
  func receive(
    _ attachment: MessageAttachment, at index: Int?, of id: MessageID,
    in conversation: ConversationID
  ) throws(StoreError) -> Bool {
    try id.validate()
    try conversation.validate()
    try attachment.validate()
    var received = attachment
    received.localPath = nil
    let place = index.flatMap { UInt32(exactly: $0) } ?? .max
    let record = AttachmentRecord(received, index: place)
    let open = try transaction.conversation(conversation) {
      ConversationDetails(id: conversation)
    }
    let known = try flushed().messages.found(id, in: open.number)
    if let kept = known?.message.traits.keptAttachments, !kept.contains(attachment.id) {
      return false
    }
    return try withFacts(of: id, in: open) {
      (own, _) throws(StoreError) in
      try transaction.messageFacts.mergeAttachment(record, of: own, in: open.number)
    }
  }

  func setLocalPath(
    _ path: String?, of attachment: String, message id: MessageID, in conversation: ConversationID
  ) throws(StoreError) -> Bool {
    try update(attachment, of: id, in: conversation) { (record, _) throws(StoreError) in
      record.attachment.localPath = path
      try record.attachment.validate()
      return false
    }
  }

  /// Advances a transfer to its next state.
  ///
  /// - Parameter isLimited: True if an upload beyond the limits is refused. Uploads handed out by
  ///   the outbox were checked against them before.
  @inline(never)
  func setTransfer(
    _ direction: TransferDirection, to transfer: AttachmentTransfer, of attachment: String,
    message id: MessageID, in conversation: ConversationID, isLimited: Bool = false
  ) throws(StoreError) -> Bool {
    var uploaded: (conversation: UInt32, id: MessageID)?
    let isChanged = try update(attachment, of: id, in: conversation) {
      (record, fact) throws(StoreError) in
      let key = RunningTransfers.Key(fact: fact.array(), direction: direction)
      let wasRunning = transaction.messageFacts.doneByteCount(key)
      if isLimited, direction == .upload, transfer.isRunning,
        let problem = rules.attachmentLimits.check(record.attachment)
      {
        throw .input(.attachment(problem))
      }
      record.step(direction, to: transfer)
      if direction == .upload, record.upload == .done, let parts = FactKey.parts(fact) {
        uploaded = (parts.conversation, parts.id)
      }
      if case .running(let byteCount) = record[direction] {
        transaction.transferChanges[key] = byteCount
        return wasRunning != byteCount
      } else if wasRunning != nil {
        transaction.transferChanges[key] = .some(nil)
      }
      return false
    }
    if isChanged, let uploaded {
      try transaction.emit(.uploaded(attachment, of: uploaded.id, in: uploaded.conversation))
    }
    return isChanged
  }

  /// Changes the state of an attachment that only this device knows and that the list of
  /// conversations does not show.
  ///
  /// Returns false if there is no such attachment, or nothing changes.
  ///
  /// - Parameter body: Returns true if the attachment reads differently even with an unchanged
  ///   record, for example when a transfer continues that an earlier process began. Listeners are
  ///   told only by a commit.
  private func update(
    _ attachment: String, of id: MessageID, in conversation: ConversationID,
    _ body: (inout AttachmentRecord, _ fact: Bytes) throws(StoreError) -> Bool
  ) throws(StoreError) -> Bool {
    guard MessageAttachment.isID(attachment),
      let open = try transaction.existingConversation(conversation),
      let (_, message, own) = try flushed().messages.found(id, in: open.number),
      !message.traits.marks.contains(.retracted)
    else { return false }
    let key = FactKey.key(open.number, own, attachment: attachment)
    guard let old = try view.facts.attachmentRecord(key.bytes) else { return false }
    var new = old
    let isReadOtherwise = try body(&new, key.bytes)
    guard isReadOtherwise || new != old else { return false }
    try transaction.messageFacts.writeAttachment(new, replacing: old, at: key.bytes)
    return true
  }
}
