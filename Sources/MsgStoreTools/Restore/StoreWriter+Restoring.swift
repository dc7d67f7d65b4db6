package import MsgStore

/// Restores of exported data.
extension StoreWriter {
  /// Stores a message with everything that was exported of it.
  ///
  /// - Parameter arrival: The arrival of the message, unless its export has one.
  /// - Returns: False if one of its names is in use; nothing changes then.
  package func restore(
    _ message: ExportedMessage, as arrival: Arrival
  ) throws(StoreError) -> Bool {
    try transaction.perform(try transaction.restoring.restore(message, as: arrival))
  }

  /// Stores facts that wait for a message.
  ///
  /// - Returns: False if the message is here, or facts wait for it already; nothing changes then.
  package func restore(_ waiting: ExportedWaiting) throws(StoreError) -> Bool {
    try transaction.perform(try transaction.restoring.restore(waiting))
  }

  /// Merges further facts of a message that is here or waited for.
  package func restore(
    _ facts: ExportedFacts, of id: MessageID, in conversation: ConversationID
  ) throws(StoreError) {
    try transaction.perform(try transaction.restoring.restore(facts, of: id, in: conversation))
  }

  /// Stores that a message was deleted here.
  ///
  /// - Returns: False if its name is in use; nothing changes then.
  package func restoreDeleted(
    _ id: MessageID, in conversation: ConversationID
  ) throws(StoreError) -> Bool {
    try transaction.perform(try transaction.restoring.restoreDeleted(id, in: conversation))
  }

  /// Merges a reaction, or its removal, into the facts of a message that is here or waited for.
  @discardableResult
  package func restore(
    _ reaction: ExportedReaction, to id: MessageID, in conversation: ConversationID
  ) throws(StoreError) -> Bool {
    try transaction.perform(
      try transaction.messageUpdates.receive(
        reaction.reaction, isRemoved: reaction.isRemoved, to: id, in: conversation))
  }

  /// Sets the rule for the history that the store keeps.
  package func restore(_ retention: Retention) throws(StoreError) {
    try transaction.perform(try transaction.restoring.restore(retention))
  }

  /// Merges the profile of a member.
  package func restore(_ profile: ExportedProfile) throws(StoreError) {
    try transaction.perform(try transaction.restoring.restore(profile))
  }

  /// Makes a conversation, or merges the export into an existing one.
  package func restore(_ conversation: ExportedConversation) throws(StoreError) {
    try transaction.perform(try transaction.restoring.restore(conversation))
  }

  /// Stores the draft of a conversation, or the fact that it was discarded.
  package func restore(_ draft: ExportedDraft) throws(StoreError) {
    try transaction.perform(try transaction.restoring.restore(draft))
  }

  /// Sets the local member's own marks, before the messages of the conversation are restored.
  package func restore(_ marks: ExportedMarks) throws(StoreError) {
    try transaction.perform(try transaction.restoring.restore(marks))
  }

  /// Merges the receipt marks of a member.
  package func restore(_ receipts: ExportedReceipts) throws(StoreError) {
    try transaction.perform(try transaction.restoring.restore(receipts))
  }

  /// Stores a pending named receipt.
  package func restore(_ untold: ExportedUntold) throws(StoreError) {
    try transaction.perform(try transaction.restoring.restore(untold))
  }

  /// Enters an exported entry into the outbox, held.
  ///
  /// - Parameter isComplete: True if all receipts have been restored. If not, `finishRestoring`
  ///   must follow.
  /// - Returns: False if the entry has nothing to tell; nothing changes then.
  package func restore(
    _ entry: ExportedEntry, isComplete: Bool = false
  ) throws(StoreError) -> Bool {
    try transaction.perform(try transaction.restoredOutbox.restore(entry, isComplete: isComplete))
  }

  /// Enters everything that waits in conversations without an entry, held, a part at a time.
  ///
  /// Returns true once all of it has been entered.
  package func enterWaiting(
    from place: inout WaitingPlace, messages: Bool, maximumCount: Int
  ) throws(StoreError) -> Bool {
    try transaction.perform(
      try transaction.outboxEntering.enterWaiting(from: &place, messages: messages) {
        $0 >= maximumCount
      })
  }

  /// Lists a local file that nothing needs any more, unless an attachment needs it.
  package func restoreUnneededFile(_ path: String) throws(StoreError) {
    try transaction.perform(try transaction.restoring.restoreUnneededFile(path))
  }

  /// Updates everything that follows from the restored contents of a conversation.
  package func finishRestoring(_ conversation: ConversationID) throws(StoreError) {
    try transaction.perform(try transaction.restoring.finishRestoring(conversation))
  }
}
