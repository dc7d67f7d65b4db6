import PageFile

/// Attachments of messages: received facts about them, and their use on this device.
///
/// Attachments come with their messages. A store keeps facts about files, never the files.
extension StoreWriter {
  /// Merges received facts about an attachment, such as the URL that the server has given it.
  ///
  /// Fields are merged one by one; of contradicting values the greater one stays, so order and
  /// repetition do not matter, except for an attachment that the newest edit with a list leaves
  /// out: facts about it are ignored, and those known are erased. Locally set values only stand in
  /// until one is received. No limit applies. Facts about a message that is not here yet wait for
  /// it; facts about a deleted or retracted message are ignored. A local path is not received.
  ///
  /// - Parameters:
  ///   - attachment: The known fields, with the attachment's id; nil means unknown.
  ///   - index: The index among the message's attachments, from 0. Without one, the attachment
  ///     comes after those that have one.
  ///   - message: The message.
  ///   - conversation: The conversation of the message.
  /// - Returns: True if anything changed.
  /// - Throws: `input(.identifier)`, `input(.attachment)`.
  @discardableResult
  public func receive(
    _ attachment: MessageAttachment, at index: Int? = nil, of message: MessageID,
    in conversation: ConversationID
  ) throws(StoreError) -> Bool {
    try transaction.perform(
      try transaction.messageUpdates.receive(
        attachment, at: index, of: message, in: conversation))
  }

  /// Stores the path of an attachment's file on this device; nil removes it.
  ///
  /// The file of an earlier path is then unneeded, see `StoreReading.unneededFiles(count:after:)`.
  ///
  /// - Returns: False if the attachment is not there, or nothing changed.
  /// - Throws: `input(.attachment)` for a path of more than 64 KiB.
  @discardableResult
  public func setLocalPath(
    _ path: String?, of attachment: String, message: MessageID, in conversation: ConversationID
  ) throws(StoreError) -> Bool {
    try transaction.perform(
      try transaction.messageUpdates.setLocalPath(
        path, of: attachment, message: message, in: conversation))
  }

  /// Removes paths from the list of unneeded files, because the client has removed the files.
  ///
  /// Passes over paths that are not listed, as those that an attachment has got meanwhile. Confirm
  /// after the file is gone: after a crash in between, the path is still listed, and the file
  /// missing. Costs a few lookups for each path.
  ///
  /// - Parameter paths: Paths that `StoreReading.unneededFiles(count:after:)` has returned.
  /// - Returns: The number of paths that have left the list.
  /// - Throws: `storage`, `corruptRecord`.
  @discardableResult
  public func confirmRemoval(ofFiles paths: [String]) throws(StoreError) -> Int {
    try transaction.perform(try transaction.messageFacts.confirmRemoval(of: paths))
  }

  /// Describes the file as it will be uploaded, and queues the upload unless it is running.
  ///
  /// The limits apply to this file. The original may be larger: a picture is scaled down, a video
  /// is shortened. Until this call, the upload is blocked, and its message with it; see
  /// `OutboxEntry.isBlocked`. Known fields of the prepared file replace earlier values; the others
  /// stay.
  ///
  /// - Parameters:
  ///   - prepared: The attachment as it will be uploaded, with its id.
  ///   - message: The message.
  ///   - conversation: The conversation of the message.
  /// - Returns: False if the message has no such attachment, or nothing changed.
  /// - Throws: `input(.attachment)` beyond `StoreOptions.attachmentLimits`; `message(.notOwn)`,
  ///   `message(.notFound)`, `message(.retracted)`, `noLocalMember`.
  @discardableResult
  public func prepareUpload(
    _ prepared: MessageAttachment, of message: MessageID, in conversation: ConversationID
  ) throws(StoreError) -> Bool {
    try transaction.perform(
      try transaction.composing.prepareUpload(prepared, of: message, in: conversation))
  }

  /// Advances the transfer of an attachment's bytes.
  ///
  /// A finished transfer stays finished despite late reports; only `none` starts over. Each
  /// `failed` counts one more attempt, whatever count it carries; `done` and `none` reset the
  /// count. A running transfer reports its progress by `MessageStore.reportProgress`, which makes
  /// no commit. When an upload is done, the server's facts about the file are stored by
  /// `receive(_:at:of:in:)`, best in the same `write`.
  ///
  /// - Returns: False if the attachment is not there, or nothing changed.
  /// - Throws: `input(.attachment)` for an upload that would exceed
  ///   `StoreOptions.attachmentLimits`.
  @discardableResult
  public func setTransfer(
    _ direction: TransferDirection, to transfer: AttachmentTransfer, of attachment: String,
    message: MessageID, in conversation: ConversationID
  ) throws(StoreError) -> Bool {
    try transaction.perform(
      try transaction.messageUpdates.setTransfer(
        direction, to: transfer, of: attachment, message: message, in: conversation, isLimited: true
      ))
  }
}

extension MessageStore {
  /// Records the number of bytes that a running transfer has completed.
  ///
  /// The number is kept in memory and read from there. The next commit that changes something else
  /// stores it; after three seconds without such a commit, the next report does. So this may be
  /// called for every packet, and a crash costs the progress of a few seconds. Listeners are told
  /// of it; see `ConversationChanges.progress`. In a `write` it throws `insideTransaction` if it
  /// has to store something.
  ///
  /// - Returns: False if the transfer is not running.
  /// - Throws: `storage`, `corruptRecord`.
  @discardableResult
  public func reportProgress(
    _ direction: TransferDirection, doneByteCount: Int64, of attachment: String,
    message: MessageID, in conversation: ConversationID
  ) throws(StoreError) -> Bool {
    guard MessageAttachment.isID(attachment) else { return false }
    let found: (fact: [UInt8], conversation: ConversationID, message: MessageID)?
    do {
      found = try read { snapshot in
        try snapshot.fact(of: attachment, message: message, in: conversation)
      }
    } catch let error as StoreError {
      throw error
    } catch {
      preconditionFailure("closure: threw an error other than StoreError")
    }
    guard let found else { return false }
    let key = RunningTransfers.Key(fact: found.fact, direction: direction)
    guard try core.report(doneByteCount, key) else { return false }
    core.tellProgress(of: found.message, in: found.conversation)
    return true
  }
}

extension StoreSnapshot {
  /// Returns the key of an attachment's fact with the current ids of its conversation and message,
  /// or nil if the message is not here.
  fileprivate func fact(
    of attachment: String, message: MessageID, in conversation: ConversationID
  ) throws(StoreError) -> (fact: [UInt8], conversation: ConversationID, message: MessageID)? {
    try within { (view) throws(StoreError) in
      guard
        let (number, conversation) = try view.find(conversation),
        let (_, _, own) = try view.messages.found(message, in: number)
      else { return nil }
      let key = FactKey.key(number, own, attachment: attachment)
      return (key.bytes.array(), conversation, own)
    }
  }
}

extension MessageAttachment {
  /// Returns true if a string is a valid attachment id.
  static func isID(_ id: String) -> Bool { (1...maximumIDByteCount).contains(id.utf8.count) }

  /// Throws `input(.attachment)` if the attachment cannot be stored, and `input(.implausibleTime)`
  /// for a time of an address that cannot be one.
  package func validate() throws(StoreError) {
    if let problem = storageProblem { throw .input(.attachment(problem)) }
    try remoteURLAt?.validate()
    try thumbnailURLAt?.validate()
  }
}
