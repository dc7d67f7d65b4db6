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
  /// - Throws: `invalidIdentifier` for the key, `syncPositionTooLong`.
  @discardableResult
  public func setSyncPosition(_ bytes: [UInt8]?, for key: String) throws(StoreError) -> Bool {
    try transaction.perform(try transaction.syncPositions.setSyncPosition(bytes, for: key, in: nil))
  }

  /// Stores a sync position for one conversation; deleting the conversation removes it.
  ///
  /// If the conversation is not there, it is made without participants, unless `bytes` is nil.
  ///
  /// - Throws: `invalidIdentifier` for the key or the conversation, `syncPositionTooLong`.
  @discardableResult
  public func setSyncPosition(
    _ bytes: [UInt8]?, for key: String, in conversation: ConversationID
  ) throws(StoreError) -> Bool {
    try transaction.perform(
      try transaction.syncPositions.setSyncPosition(bytes, for: key, in: conversation))
  }

  /// Returns the sync position of the store under a key; nil for an unused key.
  ///
  /// See `setSyncPosition(_:for:)`.
  public func syncPosition(for key: String) throws(StoreError) -> [UInt8]? {
    try transaction.read { (view) throws(StoreError) in
      try view.client.syncPosition(for: key, in: nil)
    }
  }

  /// Returns the sync position of a conversation under a key; nil for an unused key.
  public func syncPosition(
    for key: String, in conversation: ConversationID
  ) throws(StoreError) -> [UInt8]? {
    try transaction.read { (view) throws(StoreError) in
      try view.client.syncPosition(for: key, in: conversation)
    }
  }
}
