import PageFile

/// Attachments of messages, among the facts.
///
/// See docs/message-format.md, F-10.
///
///     key    … 0x03, bytes of the attachment's id
///     value  the record
struct Attachments: TransactionPart {
  let transaction: Transaction

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
  func mergeAttachment(
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

  /// Merges what was received of one attachment.
  func receive(
    _ attachment: Attachment, at index: Int?, of id: MessageID, in conversation: ConversationID
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
    return try transaction.messageFacts.withFacts(of: id, in: open) { (own) throws(StoreError) in
      try mergeAttachment(record, of: own, in: open.number)
    }
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
  func setLocalPath(
    _ path: String?, of attachment: String, message id: MessageID, in conversation: ConversationID
  ) throws(StoreError) -> Bool {
    try update(attachment, of: id, in: conversation) { (record, _) throws(StoreError) in
      record.attachment.localPath = path
      try record.attachment.validate()
      return false
    }
  }

  /// Takes a transfer a step on.
  ///
  /// - Parameter isLimited: Whether an upload beyond the limits is refused. What the outbox hands out
  ///   was held against them before.
  func setTransfer(
    _ direction: TransferDirection, to transfer: AttachmentTransfer, of attachment: String,
    message id: MessageID, in conversation: ConversationID, isLimited: Bool = false
  ) throws(StoreError) -> Bool {
    var uploaded: (conversation: UInt32, id: MessageID)?
    let isChanged = try update(attachment, of: id, in: conversation) {
      (record, fact) throws(StoreError) in
      let key = RunningTransfers.Key(fact: fact.array(), direction: direction)
      let wasRunning = doneByteCount(key)
      if isLimited, direction == .upload, transfer.isRunning,
        let problem = rules.attachmentLimits.check(record.attachment)
      {
        throw .invalidAttachment(problem)
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

  /// Changes what only this device knows of an attachment, which the list of conversations does not
  /// show.
  ///
  /// Returns false when there is no such attachment, or nothing changes.
  ///
  /// - Parameter body: Answers whether the attachment reads as another even if its record is the same,
  ///   as when a transfer goes on that a process before had begun. Only a commit can tell of that.
  private func update(
    _ attachment: String, of id: MessageID, in conversation: ConversationID,
    _ body: (inout AttachmentRecord, _ fact: Bytes) throws(StoreError) -> Bool
  ) throws(StoreError) -> Bool {
    guard Attachment.isID(attachment),
      let open = try transaction.existingConversation(conversation),
      let (_, message, own) = try flushed().messages.found(id, in: open.number),
      !message.traits.marks.contains(.unsent)
    else { return false }
    let key = FactKey.key(open.number, own, attachment: attachment)
    guard let old = try view.facts.attachmentRecord(key.bytes) else { return false }
    var new = old
    let isReadOtherwise = try body(&new, key.bytes)
    guard isReadOtherwise || new != old else { return false }
    try write(new, replacing: old, at: key.bytes)
    return true
  }
}

extension Transaction {
  var attachments: Attachments { Attachments(self) }
}
