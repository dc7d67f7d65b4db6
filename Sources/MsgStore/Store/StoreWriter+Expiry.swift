extension StoreWriter {
  /// Merges the time at which a message expires.
  ///
  /// For a time that comes apart from the message, such as one that counts from its first reading.
  /// Of several times for a message, this one and ``Message/expiresAt`` of its copies, the earliest
  /// counts, in whatever order they come. The time waits for a message that is not here yet. Costs
  /// a lookup, and writing the message anew.
  ///
  /// - Parameters:
  ///   - id: Any name of the message.
  ///   - conversation: The conversation of the message.
  ///   - time: The time, which may have passed.
  /// - Returns: True if anything changed.
  /// - Throws: `input(.identifier)`, `input(.implausibleTime)`.
  @discardableResult
  public func receiveExpiry(
    of id: MessageID, in conversation: ConversationID, at time: Timestamp
  ) throws(StoreError) -> Bool {
    try transaction.perform(
      try transaction.messageUpdates.receiveExpiry(of: id, in: conversation, at: time))
  }
}
