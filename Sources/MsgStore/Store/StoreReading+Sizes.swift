import PageFile

/// The bytes of texts and attachments.
extension StoreReading where Self: ~Copyable {
  /// Returns the bytes of a conversation's texts, and of its attachments by kind, or nil if there
  /// is no such conversation.
  ///
  /// Costs a walk along the thread that decodes no text, and a lookup and a walk along the
  /// attachments for each message that has any. Expired messages are not counted, and of retracted
  /// ones only the number. Memory is bounded.
  ///
  /// - Parameter id: Any id of the conversation.
  /// - Throws: `storage`, `corruptRecord`.
  public func contentSizes(of id: ConversationID) throws(StoreError) -> ContentSizes? {
    let number = try access.read { (view) throws(StoreError) in try view.find(id)?.number }
    guard let number else { return nil }
    var sizes = ContentSizes()
    var next: MessagePosition? = .start
    while let start = next {
      next = try access.read { (view) throws(StoreError) in
        try view.contentSizes.add(from: start, in: number, to: &sizes)
      }
    }
    return sizes
  }
}

extension StoreSnapshot {
  /// Calls `body` with each conversation and the bytes of its texts and attachments.
  ///
  /// The order is that in which they came to this store; deleted conversations are included. Costs
  /// what ``StoreReading/contentSizes(of:)`` costs for each: a walk along all messages.
  ///
  /// - Parameter body: Called once for each conversation; throwing ends the walk.
  /// - Throws: The error of `body`; `storage`, `corruptRecord`.
  public func forEachContentSizes(
    _ body: (ConversationID, ContentSizes) throws -> Void
  ) throws {
    try forEachConversation { conversation in
      guard let sizes = try contentSizes(of: conversation.id) else { return }
      try body(conversation.id, sizes)
    }
  }
}
