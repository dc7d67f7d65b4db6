extension StoreReading where Self: ~Copyable {
  /// Returns the attachments of a message with their transfers, in their order.
  ///
  /// A running transfer has the progress of this moment. A transfer that ran when an earlier
  /// process ended is queued. A transfer that runs in the owner also appears as queued to a process
  /// that reads beside the owner. Costs three lookups and a walk along the attachments. The result
  /// is empty if the message is not here or was retracted.
  ///
  /// - Throws: `storage`, `corruptRecord`.
  public func attachments(
    of message: MessageID, in conversation: ConversationID
  ) throws(StoreError) -> [AttachmentState] {
    try access.read { (view) throws(StoreError) in
      try view.attachments.states(of: message, in: conversation, access.doneByteCount)
    }
  }

  /// Returns all attachments with a queued or running transfer.
  ///
  /// They come in the order in which their conversations came to this store. Attachments of
  /// messages that are being retracted are left out. Costs a few lookups for each result, however
  /// many other attachments there are.
  ///
  /// - Throws: `storage`, `corruptRecord`.
  public func runningTransfers() throws(StoreError) -> [AttachmentState] {
    try access.read { (view) throws(StoreError) in
      try view.attachments.moving(access.doneByteCount)
    }
  }

  /// Returns an attachment of any message that the server has and whose bytes have this hash.
  ///
  /// Its remote URL is known, so the same file need not be sent again. Costs a few lookups.
  ///
  /// - Throws: `storage`, `corruptRecord`.
  public func attachment(
    withContentHash hash: [UInt8]
  ) throws(StoreError) -> AttachmentState? {
    try access.read { (view) throws(StoreError) in
      try view.attachments.attachment(withContentHash: hash, access.doneByteCount)
    }
  }
}
