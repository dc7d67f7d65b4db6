import PageFile

/// Finds a message by its name alone.
extension ThreadReader {
  /// Returns a message of the newest conversation that has its name.
  func message(_ id: MessageID) throws(StoreError) -> Message? {
    var conversations = try ListedConversations(view, isEmpty: false)
    while let next = conversations.first {
      if try view.ids.position(of: id, in: next.conversation) != nil {
        return try message(id, in: view.conversations.details(next.conversation).id)
      }
      try conversations.removeFirst(view)
    }
    return nil
  }
}
