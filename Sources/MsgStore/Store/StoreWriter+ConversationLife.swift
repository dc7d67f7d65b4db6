/// Renaming and deleting conversations.
extension StoreWriter {
  /// Gives a locally made conversation the name that the server has assigned.
  ///
  /// The old name leads to it from then on. If no conversation has the new name, this is one small
  /// write. Otherwise both become one: the newer facts decide about members, title and marks, the
  /// newer draft stays, and all messages are moved, the first 500 in this commit, fewer
  /// if they are large, and the others in the background. What is to be told of them is told when
  /// all of that has come. Messages that both have are merged like copies.
  ///
  /// - Returns: True if anything changed.
  /// - Throws: `conversation(.notFound)`, `input(.identifier)`.
  @discardableResult
  public func renameConversation(
    _ id: ConversationID, to serverID: ConversationID
  ) throws(StoreError) -> Bool {
    try transaction.perform(try transaction.conversations.renameConversation(id, to: serverID))
  }

  /// Deletes a conversation with all its messages.
  ///
  /// It leaves the lists at once. Its space is freed in the background, a bounded part in each
  /// commit; once that is done and a checkpoint has followed, none of its text is in the files.
  /// Messages up to now do not come back when they are delivered again. A newer message brings the
  /// conversation back, with its title, its members and its muted mark.
  ///
  /// - Returns: The messages that the server never got, which must not be sent any more; nil if
  ///   there is no such conversation.
  @discardableResult
  public func deleteConversation(_ id: ConversationID) throws(StoreError) -> [MessageID]? {
    try transaction.perform(try transaction.conversationActs.deleteConversation(id))
  }

  /// Stores that a conversation was deleted on another device, with its messages up to a server
  /// time.
  ///
  /// Newer messages stay, and so does everything that the server has not got yet.
  ///
  /// - Returns: True if anything changed.
  /// - Throws: `input(.identifier)`.
  @discardableResult
  public func receiveConversationDeletion(
    _ id: ConversationID, at time: Timestamp
  ) throws(StoreError) -> Bool {
    try transaction.perform(try transaction.deletions.receiveDeletion(of: id, at: time))
  }
}
