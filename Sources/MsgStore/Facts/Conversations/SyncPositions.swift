import PageFile

/// Keeps the sync positions of clients, see docs/message-format.md, H-1.
extension Conversations {
  /// Sets the bytes kept under a key, for a conversation or for the store; nil removes them.
  ///
  /// Returns true if anything changed. Throws an error if the bytes are longer than
  /// `SyncPosition.maximumByteCount`, or the key or conversation is invalid.
  package func setSyncPosition(
    _ bytes: [UInt8]?, for key: String, in conversation: ConversationID?
  ) throws(StoreError) -> Bool {
    try Identifier.validate("key of a sync position", byteCount: key.utf8.count)
    try conversation?.validate()
    if let bytes, bytes.count > SyncPosition.maximumByteCount {
      throw .input(
        .tooLong(.syncPosition, byteCount: bytes.count, limit: SyncPosition.maximumByteCount))
    }
    guard try view.client.syncPosition(for: key, in: conversation) != bytes else { return false }
    guard let bytes else {
      let number = try view.client.clientNumber(of: conversation) ?? ClientKey.store
      try transaction.remove(ClientKey.key(number, key), in: Schema.client)
      return true
    }
    transaction.hasAdded = true
    let number =
      try conversation.map { (id) throws(StoreError) in
        try transaction.conversation(id) { ConversationDetails(id: id) }.number
      } ?? ClientKey.store
    let key = ClientKey.key(number, key)
    var value = ByteBuffer(capacity: bytes.count)
    value.append(bytes)
    try transaction.insert(key.bytes, value.bytes, in: Schema.client)
    return true
  }
}
