import PageFile

/// Attachments of messages: what is received of them, and what this device does with them.
///
/// They come with their messages. A store keeps what is known of files, never the files.
extension StoreWriter {
  /// Merges what was received of an attachment, such as the URL that the server has given it.
  ///
  /// Field by field, of contradicting values the greater one stays, so order and repetition do not
  /// matter; what was said here only stands in for what is not received. No limit holds. It waits for
  /// a message that is not here yet, and does nothing to one that was deleted or taken back. A local
  /// path is not received.
  ///
  /// - Parameters:
  ///   - attachment: What is known, by its id; nil stands for what is not.
  ///   - index: Its place among the message's attachments, from 0. Without one it comes behind those
  ///     that have one.
  ///   - message: The message.
  ///   - conversation: Its conversation.
  /// - Returns: Whether anything changed.
  /// - Throws: `invalidIdentifier`, `invalidAttachment`.
  @discardableResult
  public func receive(
    _ attachment: Attachment, at index: Int? = nil, of message: MessageID,
    in conversation: ConversationID
  ) throws(StoreError) -> Bool {
    try transaction.perform(
      try transaction.attachmentUpdates.receive(
        attachment, at: index, of: message, in: conversation))
  }

  /// Keeps where on this device the bytes are; nil: nowhere.
  ///
  /// - Returns: false when there is no such attachment, or nothing changes.
  /// - Throws: `invalidAttachment` for a path beyond 64 KiB.
  @discardableResult
  public func setLocalPath(
    _ path: String?, of attachment: String, message: MessageID, in conversation: ConversationID
  ) throws(StoreError) -> Bool {
    try transaction.perform(
      try transaction.attachmentUpdates.setLocalPath(
        path, of: attachment, message: message, in: conversation))
  }

  /// Describes the file as it will be uploaded, which is where the limits hold, and queues the upload
  /// if it does not run.
  ///
  /// What is sent may be larger at first: a picture is made smaller, a video shorter. Its upload is
  /// blocked until this was called, and its message with it; see `OutboxEntry.isBlocked`. What is known
  /// of the prepared file replaces what was said before, and the rest stays.
  ///
  /// - Parameter prepared: The attachment by its id, as it will be uploaded.
  /// - Returns: false when the message has no such attachment, or nothing changes.
  /// - Throws: `invalidAttachment` beyond `StoreOptions.attachmentLimits`; `notOwnMessage`,
  ///   `messageNotFound`, `messageIsDeleted`, `noLocalMember`.
  @discardableResult
  public func prepareUpload(
    _ prepared: Attachment, of message: MessageID, in conversation: ConversationID
  ) throws(StoreError) -> Bool {
    try transaction.perform(
      try transaction.composing.prepareUpload(prepared, of: message, in: conversation))
  }

  /// Takes the transfer of an attachment's bytes a step on.
  ///
  /// What is done stays done, whatever is said late; only `none` begins anew. Each `failed` counts
  /// one more attempt, whatever count it is given; `done` and `none` end the count. A transfer that
  /// runs tells its progress by `MessageStore.reportProgress`, which is no commit. When an upload is
  /// done, what the server says of the file is told by `receive(_:at:of:in:)`, best in the same
  /// `write`.
  ///
  /// - Returns: false when there is no such attachment, or nothing changes.
  /// - Throws: `invalidAttachment` for an upload that would run beyond
  ///   `StoreOptions.attachmentLimits`.
  @discardableResult
  public func setTransfer(
    _ direction: TransferDirection, to transfer: AttachmentTransfer, of attachment: String,
    message: MessageID, in conversation: ConversationID
  ) throws(StoreError) -> Bool {
    try transaction.perform(
      try transaction.attachmentUpdates.setTransfer(
        direction, to: transfer, of: attachment, message: message, in: conversation, isLimited: true
      ))
  }
}

extension MessageStore {
  /// Notes how many bytes of a running transfer are done.
  ///
  /// It is kept in memory and read from there. It is stored with the next commit that changes
  /// something anyway; if there is none for three seconds, the report after that stores it. So it may
  /// be called for every packet, and a crash costs the progress of a few seconds. Within a `write` it
  /// throws `insideTransaction` when it is to store something.
  ///
  /// - Returns: false when the transfer does not run.
  /// - Throws: `storage`, `corruptRecord`.
  @discardableResult
  public func reportProgress(
    _ direction: TransferDirection, doneByteCount: Int64, of attachment: String,
    message: MessageID, in conversation: ConversationID
  ) throws(StoreError) -> Bool {
    guard Attachment.isID(attachment) else { return false }
    let fact: [UInt8]?
    do {
      fact = try read { snapshot in
        try snapshot.fact(of: attachment, message: message, in: conversation)
      }
    } catch let error as StoreError {
      throw error
    } catch {
      preconditionFailure("the closure throws nothing else")
    }
    guard let fact else { return false }
    return try core.report(doneByteCount, .init(fact: fact, direction: direction))
  }
}

extension StoreSnapshot {
  /// The key of an attachment's fact; nil where its message is not here.
  fileprivate func fact(
    of attachment: String, message: MessageID, in conversation: ConversationID
  ) throws(StoreError) -> [UInt8]? {
    try within { (view) throws(StoreError) in
      guard
        let number = try view.number(of: conversation),
        let (_, _, own) = try view.messages.found(message, in: number)
      else { return nil }
      let key = FactKey.key(number, own, attachment: attachment)
      return key.bytes.array()
    }
  }
}

extension Attachment {
  /// Whether this can be the id of an attachment.
  static func isID(_ id: String) -> Bool { (1...idByteCountMax).contains(id.utf8.count) }

  package func validate() throws(StoreError) {
    if let problem = storageProblem { throw .invalidAttachment(problem) }
  }
}
