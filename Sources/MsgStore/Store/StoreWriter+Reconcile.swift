/// Complete lists, which some servers send instead of changes.
extension StoreWriter {
  /// Applies a complete list of the server's messages in a range of a thread.
  ///
  /// Each message is stored or merged as by `insert`; malformed ones are passed over and named, and
  /// what is stored of them stays. Acknowledged messages in the range that the
  /// list lacks are removed, as if they had never existed. Such a message comes back if the server
  /// sends it again, unless it was retracted. Pending messages stay, whatever their status. The
  /// cost is that of a walk along the range and of the changes in it.
  ///
  /// - Parameters:
  ///   - messages: The list, in any order. All messages count as part of this conversation,
  ///     whatever they say.
  ///   - conversation: The conversation, which is made if it is not there.
  ///   - range: The range for which the list is complete.
  ///   - arrival: `history` for messages that must not count as unread.
  /// - Throws: `input(.identifier)` for the conversation.
  @discardableResult
  public func reconcile(
    _ messages: [Message], in conversation: ConversationID, within range: ReconciledRange,
    as arrival: Arrival = .live
  ) throws(StoreError) -> ReconcileOutcome {
    try transaction.perform(
      try transaction.reconciling.reconcile(messages, in: conversation, range, as: arrival))
  }

  /// Applies a complete list of the server's conversations.
  ///
  /// Each conversation is merged as by `receive`. Conversations that the list lacks are removed
  /// with their messages, in bounded steps. They come back if the server sends them, or one of
  /// their messages, again. A conversation stays if it has something the server does not know yet:
  /// a pending message or a draft, or if it was made here and has no acknowledged message. Reads
  /// the summary of every conversation.
  ///
  /// - Returns: The removed conversations, in the order in which they came to this store.
  /// - Throws: The errors of `receive`; nothing has changed then.
  @discardableResult
  public func reconcile(
    _ conversations: [ReceivedConversation]
  ) throws(StoreError) -> [ConversationID] {
    try transaction.perform(try transaction.reconciling.reconcile(conversations))
  }
}
