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

  /// Returns the paths of local files that no attachment has any more: files for the client to
  /// remove.
  ///
  /// A path is listed once the last attachment that had it as its `MessageAttachment.localPath` is
  /// gone, or has another path: its message was deleted, retracted for good, pruned, or erased
  /// after it had expired; its conversation was deleted, as soon as its remains are swept; an edit
  /// has removed the attachment; or another path was set. The path stays in the list, in exports
  /// and restored copies too, until `StoreWriter.confirmRemoval(ofFiles:)`, and leaves it before
  /// that if an attachment gets it again. The store never touches a file: it names every path that
  /// it was given, so a client has to pass over files that are not its own, such as originals in a
  /// photo library.
  ///
  /// `StoreChanges.hasUnneededFileChanges` tells when to look again. Costs a few lookups and a step
  /// for each result, however many attachments there are.
  ///
  /// - Parameters:
  ///   - count: The most paths to return.
  ///   - path: The last path of the previous part; nil begins with the first.
  /// - Returns: Paths in an order that stays, none of them twice.
  /// - Throws: `storage`, `corruptRecord`.
  public func unneededFiles(
    count: Int, after path: String? = nil
  ) throws(StoreError) -> [String] {
    try access.read { (view) throws(StoreError) in
      try view.files.unneeded(count: count, after: path)
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
