package import MsgStore

/// Putting back what an export has read.
extension StoreWriter {
  /// Stores a message with all that was stored of it.
  ///
  /// - Parameter arrival: How it came, where the message does not say.
  /// - Returns: false when one of its names is in use; then nothing changes.
  package func restore(
    _ message: ExportedMessage, as arrival: Arrival
  ) throws(StoreError) -> Bool {
    try transaction.perform(try transaction.restoring.restore(message, as: arrival))
  }

  /// Stores what waits for a message.
  ///
  /// - Returns: false when the message is here, or something waits for it; then nothing changes.
  package func restore(_ waiting: ExportedWaiting) throws(StoreError) -> Bool {
    try transaction.perform(try transaction.restoring.restore(waiting))
  }

  /// Stores that a message was deleted here.
  ///
  /// - Returns: false when its name is in use; then nothing changes.
  package func restoreDeleted(
    _ id: MessageID, in conversation: ConversationID
  ) throws(StoreError) -> Bool {
    try transaction.perform(try transaction.restoring.restoreDeleted(id, in: conversation))
  }

  /// Merges a reaction, or that it was taken away, into what is known of a message, or waits for it.
  @discardableResult
  package func restore(
    _ reaction: ExportedReaction, to id: MessageID, in conversation: ConversationID
  ) throws(StoreError) -> Bool {
    try transaction.perform(
      try transaction.messageUpdates.receive(
        reaction.reaction, isRemoved: reaction.isRemoved, to: id, in: conversation))
  }

  /// Makes a conversation with what is given; what is known of it already is merged.
  package func restore(_ conversation: ExportedConversation) throws(StoreError) {
    try transaction.perform(try transaction.restoring.restore(conversation))
  }

  package func restore(_ draft: ExportedDraft) throws(StoreError) {
    try transaction.perform(try transaction.restoring.restore(draft))
  }

  /// Sets the local member's own marks, before the messages of the conversation come.
  package func restore(_ marks: ExportedMarks) throws(StoreError) {
    try transaction.perform(try transaction.restoring.restore(marks))
  }

  package func restore(_ receipts: ExportedReceipts) throws(StoreError) {
    try transaction.perform(try transaction.restoring.restore(receipts))
  }

  package func restore(_ untold: ExportedUntold) throws(StoreError) {
    try transaction.perform(try transaction.restoring.restore(untold))
  }

  /// Enters into the outbox, held, what waited to go out.
  ///
  /// - Parameter isComplete: Whether all that is known of receipts is here; if not, `finishRestoring`
  ///   has to follow.
  /// - Returns: false when there is nothing of that to tell; then nothing changes.
  package func restore(
    _ entry: ExportedEntry, isComplete: Bool = false
  ) throws(StoreError) -> Bool {
    try transaction.perform(try transaction.restoredOutbox.restore(entry, isComplete: isComplete))
  }

  /// Enters into the outbox, held, what waits in conversations and has no entry, some of it at a time;
  /// returns whether that was all.
  package func enterWaiting(
    from place: inout WaitingPlace, messages: Bool, countMax: Int
  ) throws(StoreError) -> Bool {
    try transaction.perform(
      try transaction.heldEntries.enterWaiting(from: &place, messages: messages) {
        $0 >= countMax
      })
  }

  /// Finds out what follows from all that was put into a conversation.
  package func finishRestoring(_ conversation: ConversationID) throws(StoreError) {
    try transaction.perform(try transaction.restoring.finishRestoring(conversation))
  }
}
