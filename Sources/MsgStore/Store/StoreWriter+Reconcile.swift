/// Whole states, as some servers tell them instead of what has changed.
extension StoreWriter {
  /// Takes in a list of all messages that the server has in a range of a thread.
  ///
  /// Each of them is stored or merged as `insert` does. What is here in the range, was acknowledged,
  /// and is not in the list goes, as if it had never been; it comes back if the server tells it again,
  /// but for a message that was taken back, which stays away. Pending messages stay, whatever has
  /// become of them. Costs the walk along the range and what changes in it.
  ///
  /// - Parameters:
  ///   - messages: The list, in any order. All are of this conversation, whatever they say.
  ///   - conversation: The conversation; it is made if it is not there.
  ///   - range: What the list is complete for.
  ///   - arrival: `history` for what must not count as unread.
  /// - Throws: What `insert` throws; then nothing has changed.
  @discardableResult
  public func reconcile(
    _ messages: [Message], in conversation: ConversationID, _ range: ReconciledRange,
    as arrival: Arrival = .live
  ) throws(StoreError) -> ReconcileOutcome {
    try transaction.perform(
      try transaction.reconciling.reconcile(messages, in: conversation, range, as: arrival))
  }

  /// Takes in a list of all conversations that the server has.
  ///
  /// Each of them is merged as `receive` does. What is not in the list goes from here with its
  /// messages, in bounded steps, and comes back if the server tells it again, or a message of it. One
  /// stays that has something the server does not know yet: a pending message, a draft, or that it was
  /// made here and has no message that was acknowledged. Reads the summary of every conversation.
  ///
  /// - Returns: The conversations that went, in the order in which they came to this store.
  /// - Throws: What `receive` throws; then nothing has changed.
  @discardableResult
  public func reconcile(
    _ conversations: [ReceivedConversation]
  ) throws(StoreError) -> [ConversationID] {
    try transaction.perform(try transaction.reconciling.reconcile(conversations))
  }
}
