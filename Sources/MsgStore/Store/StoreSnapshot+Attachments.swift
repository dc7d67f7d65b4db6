extension StoreSnapshot {
  /// The attachments of a message with their transfers, in their order.
  ///
  /// A running transfer has the progress of this moment. One that was running when the process
  /// before ended is queued, and so is to a process that reads beside the owner one that runs there.
  /// Three lookups and a walk along the attachments; none of a message that is not there or was taken
  /// back.
  ///
  /// - Throws: `storage`, `corruptRecord`.
  public func attachments(
    of message: MessageID, in conversation: ConversationID
  ) throws(StoreError) -> [AttachmentState] {
    try view.attachments.states(of: message, in: conversation, running.doneByteCount)
  }

  /// All attachments of which an upload or a download is queued or runs, in the order in which their
  /// conversations came to this store; those of messages that are being taken back are left out.
  ///
  /// A few lookups for each of them; how many others there are does not matter.
  ///
  /// - Throws: `storage`, `corruptRecord`.
  public func runningTransfers() throws(StoreError) -> [AttachmentState] {
    try view.attachments.moving(running.doneByteCount)
  }

  /// An attachment of any message whose bytes have this hash, and that the server has: its remote URL
  /// is known, so the same file need not be sent again.
  ///
  /// A few lookups.
  ///
  /// - Throws: `storage`, `corruptRecord`.
  public func attachment(
    withContentHash hash: [UInt8]
  ) throws(StoreError) -> AttachmentState? {
    try view.attachments.attachment(withContentHash: hash, running.doneByteCount)
  }
}

extension StoreWriter {
  /// The attachments of a message with their transfers, see `StoreSnapshot.attachments(of:in:)`.
  public func attachments(
    of message: MessageID, in conversation: ConversationID
  ) throws(StoreError) -> [AttachmentState] {
    try transaction.read { (view) throws(StoreError) in
      try view.attachments.states(
        of: message, in: conversation, transaction.attachments.doneByteCount)
    }
  }

  /// All attachments that are moving or queued, see `StoreSnapshot.runningTransfers()`.
  public func runningTransfers() throws(StoreError) -> [AttachmentState] {
    try transaction.read { (view) throws(StoreError) in
      try view.attachments.moving(transaction.attachments.doneByteCount)
    }
  }

  /// An attachment that need not be sent again, see `StoreSnapshot.attachment(withContentHash:)`.
  public func attachment(
    withContentHash hash: [UInt8]
  ) throws(StoreError) -> AttachmentState? {
    try transaction.read { (view) throws(StoreError) in
      try view.attachments.attachment(
        withContentHash: hash, transaction.attachments.doneByteCount)
    }
  }
}
