extension StoreWriter {
  /// Notes how far the client has come with a server, in the same commit as the messages that come
  /// with it: after a crash both are there or neither.
  ///
  /// - Parameters:
  ///   - bytes: What the client wants to find again, at most 64 KiB; nil removes it.
  ///   - key: The client's name for it, such as that of an account: 1 to 255 bytes of UTF-8.
  /// - Returns: false when this was there already; then nothing is written.
  /// - Throws: `invalidIdentifier` for the key, `syncPositionTooLong`.
  @discardableResult
  public func setSyncPosition(_ bytes: [UInt8]?, for key: String) throws(StoreError) -> Bool {
    try transaction.perform(try transaction.syncPositions.setSyncPosition(bytes, for: key, in: nil))
  }

  /// The same for one conversation; it is gone when that is deleted.
  ///
  /// The conversation is made if it is not there, without participants, unless `bytes` is nil.
  ///
  /// - Throws: `invalidIdentifier` for the key or the conversation, `syncPositionTooLong`.
  @discardableResult
  public func setSyncPosition(
    _ bytes: [UInt8]?, for key: String, in conversation: ConversationID
  ) throws(StoreError) -> Bool {
    try transaction.perform(
      try transaction.syncPositions.setSyncPosition(bytes, for: key, in: conversation))
  }

  /// What was stored last under a key for the store, see `setSyncPosition(_:for:)`; nil when there
  /// is nothing.
  public func syncPosition(for key: String) throws(StoreError) -> [UInt8]? {
    try transaction.read { (view) throws(StoreError) in
      try view.client.syncPosition(for: key, in: nil)
    }
  }

  /// What was stored last under a key for a conversation; nil when there is nothing.
  public func syncPosition(
    for key: String, in conversation: ConversationID
  ) throws(StoreError) -> [UInt8]? {
    try transaction.read { (view) throws(StoreError) in
      try view.client.syncPosition(for: key, in: conversation)
    }
  }
}
