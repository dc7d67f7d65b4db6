import PageFile

/// A reader of attachments and their transfers.
struct AttachmentReader {
  let view: StoreView

  /// Runs `body` on the keys of facts that the index tree has under a prefix, in order, until
  /// it returns false.
  private func forEachTransfer(
    _ prefix: borrowing ByteBuffer, _ body: (_ fact: Bytes) throws(StoreError) -> Bool
  ) throws(StoreError) {
    let byteCount = prefix.count
    try view.forEachCell(with: prefix, in: Schema.index) { (key, _) throws(StoreError) in
      try body(key.dropFirst(byteCount))
    }
  }

  /// Returns the state of an attachment, including the progress of running transfers.
  ///
  /// Returns nil if its message is not shown because it is not here yet, was retracted, or its
  /// conversation was deleted.
  private func state(
    _ fact: Bytes, _ doneByteCount: (RunningTransfers.Key) -> Int64?
  ) throws(StoreError) -> AttachmentState? {
    guard let parts = FactKey.parts(fact), let record = try view.facts.attachmentRecord(fact) else {
      throw view.corrupt(Schema.index, "transfer entry: missing attachment")
    }
    guard let conversation = try view.list.id(of: parts.conversation),
      let (_, message, own) = try view.messages.found(parts.id, in: parts.conversation),
      !message.traits.isRetracted
    else { return nil }
    return record.state(fact, of: own, in: conversation, doneByteCount)
  }
}

extension AttachmentRecord {
  /// Returns the state to show.
  ///
  /// A transfer that is stored as running but does not run in this process counts as queued.
  @inline(never)
  func state(
    _ fact: Bytes, of message: MessageID, in conversation: ConversationID,
    _ doneByteCount: (RunningTransfers.Key) -> Int64?
  ) -> AttachmentState {
    func transfer(_ direction: TransferDirection) -> AttachmentTransfer {
      guard self[direction].isRunning else { return self[direction] }
      let key = RunningTransfers.Key(fact: fact.array(), direction: direction)
      guard let byteCount = doneByteCount(key) else { return self[direction].afterRestart }
      return .running(doneByteCount: byteCount)
    }
    return AttachmentState(
      conversation: conversation, message: message, attachment: attachment,
      upload: transfer(.upload), download: transfer(.download))
  }
}

extension AttachmentReader {
  func states(
    of id: MessageID, in conversation: ConversationID,
    _ doneByteCount: (RunningTransfers.Key) -> Int64?
  ) throws(StoreError) -> [AttachmentState] {
    guard let number = try view.number(of: conversation),
      let (_, message, own) = try view.messages.found(id, in: number),
      message.traits.marks.contains(.attachments), !message.traits.isRetracted
    else { return [] }
    return try view.facts.attachmentRecords(of: own, in: number).map {
      (record) throws(StoreError) in
      let key = FactKey.key(number, own, attachment: record.attachment.id)
      return record.state(key.bytes, of: own, in: conversation, doneByteCount)
    }
  }

  func moving(
    _ doneByteCount: (RunningTransfers.Key) -> Int64?
  ) throws(StoreError) -> [AttachmentState] {
    var states: [AttachmentState] = []
    let prefix = TransferIndex.movingPrefix
    try forEachTransfer(prefix) { (fact) throws(StoreError) in
      if let state = try state(fact, doneByteCount) { states.append(state) }
      return true
    }
    return states
  }

  func attachment(
    withContentHash hash: [UInt8], _ doneByteCount: (RunningTransfers.Key) -> Int64?
  ) throws(StoreError) -> AttachmentState? {
    var found: AttachmentState?
    let prefix = TransferIndex.hashedKey(hash, .empty)
    try forEachTransfer(prefix) { (fact) throws(StoreError) in
      // Another hash may have the same digest.
      if let state = try state(fact, doneByteCount), state.attachment.contentHash == hash {
        found = state
      }
      return found == nil
    }
    return found
  }
}

extension StoreView {
  var attachments: AttachmentReader { AttachmentReader(view: self) }
}
