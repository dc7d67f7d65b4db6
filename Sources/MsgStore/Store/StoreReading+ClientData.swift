extension StoreReading where Self: ~Copyable {
  /// Returns the sync position of the store under a key; nil for an unused key.
  ///
  /// See `StoreWriter.setSyncPosition(_:for:)`. Costs one lookup.
  ///
  /// - Throws: `storage`, `corruptRecord`.
  public func syncPosition(for key: String) throws(StoreError) -> [UInt8]? {
    try access.read { (view) throws(StoreError) in
      try view.client.syncPosition(for: key, in: nil)
    }
  }

  /// Returns the sync position of a conversation under a key; nil for an unused key.
  ///
  /// - Throws: `storage`, `corruptRecord`.
  public func syncPosition(
    for key: String, in conversation: ConversationID
  ) throws(StoreError) -> [UInt8]? {
    try access.read { (view) throws(StoreError) in
      try view.client.syncPosition(for: key, in: conversation)
    }
  }

  /// Returns all sync positions of the store, or of a conversation, ordered by the bytes of their
  /// keys.
  ///
  /// - Throws: `storage`, `corruptRecord`.
  public func syncPositions(
    in conversation: ConversationID? = nil
  ) throws(StoreError) -> [SyncPosition] {
    try access.read { (view) throws(StoreError) in
      try view.client.syncPositions(in: conversation)
    }
  }
}
