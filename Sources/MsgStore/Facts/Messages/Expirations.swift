/// Merges the times at which messages expire.
///
/// See docs/message-format.md, F-24.
extension MessageUpdates {
  /// Merges a time at which a message expires; of several the earliest counts.
  ///
  /// Returns true if anything changed.
  func receiveExpiry(
    of id: MessageID, in conversation: ConversationID, at time: Timestamp
  ) throws(StoreError) -> Bool {
    try id.validate()
    try conversation.validate()
    try time.validate()
    let open = try transaction.conversation(conversation) {
      ConversationDetails(id: conversation)
    }
    return try update(id, in: open) { (message, _) in
      message.traits.expiryTime = StoredMessage.earlier(
        message.traits.expiryTime, time.microseconds)
    } waiting: { (waiting, _) in
      waiting.traits.expiryTime = StoredMessage.earlier(
        waiting.traits.expiryTime, time.microseconds)
    }
  }
}
