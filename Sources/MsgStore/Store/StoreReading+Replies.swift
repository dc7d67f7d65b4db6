extension StoreReading where Self: ~Copyable {
  /// Returns the messages that answer a message, to be read in slices or counted.
  ///
  /// Costs a few lookups. Nothing answers a message of which the store has never heard, unless its
  /// replies have come before it.
  ///
  ///     let replies = try chat.replies(to: message.id, in: room)
  ///     let label = try replies.count(atMost: 100)
  ///     let page = try replies.oldest(20)
  ///
  /// - Parameters:
  ///   - id: Any name of the answered message, which need not be here.
  ///   - conversation: The conversation. An unknown one has no replies.
  /// - Throws: `storage`, `corruptRecord`.
  public func replies(
    to id: MessageID, in conversation: ConversationID
  ) throws(StoreError) -> MessageReplies {
    access.readThrough()
    return try access.read { (view) throws(StoreError) in
      try view.threads.replies(to: id, in: conversation)
    }
  }
}
