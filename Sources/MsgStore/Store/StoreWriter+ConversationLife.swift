/// Renaming and deleting conversations.
extension StoreWriter {
  /// Gives a conversation that was made here the name that the server has given it.
  ///
  /// The old name leads to it from now on. Without a conversation of the new name this is one small
  /// write. With one, both become one: members, title and marks by the newer news, the newer draft,
  /// and all messages, the first 500 in this commit and the others in the background; messages that
  /// both have are merged as copies are.
  ///
  /// - Returns: Whether anything changed.
  /// - Throws: `conversationNotFound`, `invalidIdentifier`.
  @discardableResult
  public func renameConversation(
    _ id: ConversationID, to serverID: ConversationID
  ) throws(StoreError) -> Bool {
    try transaction.perform(try transaction.renames.renameConversation(id, to: serverID))
  }

  /// Deletes a conversation with all its messages.
  ///
  /// It is gone from the lists at once; the room is freed in the background, a bounded part in each
  /// commit, and once that is done and a checkpoint has followed, no text of it is in the files.
  /// Messages up to now do not come back when they are delivered again; something newer brings the
  /// conversation back, with its title, members and whether it is muted.
  ///
  /// - Returns: The messages that the server never got, which are not to be sent any more; nil when
  ///   there is no such conversation.
  @discardableResult
  public func deleteConversation(_ id: ConversationID) throws(StoreError) -> [MessageID]? {
    try transaction.perform(try transaction.conversationActs.deleteConversation(id))
  }

  /// Takes in that a conversation was deleted elsewhere, with its messages up to a server time.
  ///
  /// What is newer stays, and so does what the server has not got yet.
  ///
  /// - Returns: Whether anything changed.
  /// - Throws: `invalidIdentifier`.
  @discardableResult
  public func receiveConversationDeletion(
    _ id: ConversationID, at time: Timestamp
  ) throws(StoreError) -> Bool {
    try transaction.perform(try transaction.deletions.receiveDeletion(of: id, at: time))
  }
}
