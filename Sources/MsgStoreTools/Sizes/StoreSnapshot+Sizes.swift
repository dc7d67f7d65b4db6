public import MsgStore
import PageFile

extension StoreSnapshot {
  /// Returns the space that a conversation takes, or nil if it is not there.
  ///
  /// Reads every page with records of the conversation once. Nothing is unpacked, and memory is
  /// bounded.
  ///
  /// - Parameters:
  ///   - id: Any id of the conversation.
  ///   - progress: Called after every 500 records with the number of messages counted so far;
  ///     throwing ends the walk.
  /// - Throws: The error of `progress`; `storage`, `corruptRecord`, `transactionEnded`.
  public func sizes(
    of id: ConversationID, progress: (_ messageCount: Int) throws -> Void = { _ in }
  ) throws -> ConversationSizes? {
    let number = try within { (view) throws(StoreError) in try view.number(of: id) }
    guard let number else { return nil }
    return try SizeReader(view: view).sizes(of: number, progress: progress)
  }

  /// Calls `body` with each conversation and the space that it takes, in the order in which they
  /// came to this store.
  ///
  /// Reads nearly every page of the store once. Deleted conversations of which something is kept
  /// are included. Memory is bounded.
  ///
  /// - Parameters:
  ///   - body: Called once for each conversation; throwing ends the walk.
  ///   - progress: Called after every 500 records with the number of messages of the current
  ///     conversation counted so far; throwing ends the walk.
  /// - Throws: The error of `body` or `progress`; `storage`, `corruptRecord`, `transactionEnded`.
  public func forEachConversationSizes(
    _ body: (ConversationID, ConversationSizes) throws -> Void,
    progress: (_ messageCount: Int) throws -> Void = { _ in }
  ) throws {
    var last: UInt32 = 0
    while true {
      let next = try within { (view) throws(StoreError) -> (UInt32, ConversationID)? in
        var cursor = Cursor(view.source, Schema.conversations)
        guard let next = try view.conversations.nextConversation(after: last, &cursor) else {
          return nil
        }
        return (next, try view.conversations.details(next).id)
      }
      guard let (number, id) = next else { return }
      try body(id, try SizeReader(view: view).sizes(of: number, progress: progress))
      last = number
    }
  }
}
