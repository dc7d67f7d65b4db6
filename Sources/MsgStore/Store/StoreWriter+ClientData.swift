extension StoreWriter {
  /// Stores how far the client has come with a server.
  ///
  /// Stored in the same commit as the messages that came with it, so after a crash both are there
  /// or neither.
  ///
  /// - Parameters:
  ///   - bytes: The client's data, at most 64 KiB; nil removes it.
  ///   - key: The client's name for the position, such as that of an account: 1 to 255 bytes of
  ///     UTF-8.
  /// - Returns: False if the same value was there already; nothing is written then.
  /// - Throws: `input(.identifier)` for the key, `input(.tooLong)`.
  @discardableResult
  public func setSyncPosition(_ bytes: [UInt8]?, for key: String) throws(StoreError) -> Bool {
    try transaction.perform(try transaction.conversations.setSyncPosition(bytes, for: key, in: nil))
  }

  /// Stores a sync position for one conversation; deleting the conversation removes it.
  ///
  /// If the conversation is not there, it is made without participants, unless `bytes` is nil.
  ///
  /// - Throws: `input(.identifier)` for the key or the conversation, `input(.tooLong)`.
  @discardableResult
  public func setSyncPosition(
    _ bytes: [UInt8]?, for key: String, in conversation: ConversationID
  ) throws(StoreError) -> Bool {
    try transaction.perform(
      try transaction.conversations.setSyncPosition(bytes, for: key, in: conversation))
  }
}
