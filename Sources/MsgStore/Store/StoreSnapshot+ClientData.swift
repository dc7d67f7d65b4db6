extension StoreSnapshot {
  /// What was stored last under a key for the store, see `StoreWriter.setSyncPosition(_:for:)`; nil
  /// when there is nothing.
  ///
  /// One lookup.
  ///
  /// - Throws: `storage`, `corruptRecord`.
  public func syncPosition(for key: String) throws(StoreError) -> [UInt8]? {
    try view.client.syncPosition(for: key, in: nil)
  }

  /// What was stored last under a key for a conversation; nil when there is nothing.
  ///
  /// - Throws: `storage`, `corruptRecord`.
  public func syncPosition(
    for key: String, in conversation: ConversationID
  ) throws(StoreError) -> [UInt8]? {
    try view.client.syncPosition(for: key, in: conversation)
  }

  /// All sync positions of the store, or those of a conversation, by the bytes of their keys.
  ///
  /// - Throws: `storage`, `corruptRecord`.
  public func syncPositions(
    in conversation: ConversationID? = nil
  ) throws(StoreError) -> [SyncPosition] {
    try view.client.syncPositions(in: conversation)
  }
}
