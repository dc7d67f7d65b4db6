public import MsgStore

extension MessageStore {
  /// Returns the space that a conversation takes without blocking the caller's thread; see
  /// `StoreSnapshot.sizes(of:progress:)`.
  ///
  /// - Parameter id: Any id of the conversation.
  /// - Returns: The sizes, or nil if the conversation is not there.
  /// - Throws: `CancellationError` if the task was cancelled; `storage`, `corruptRecord`.
  public func sizes(of id: ConversationID) async throws -> ConversationSizes? {
    try await onThreadUntilCancelled { check in
      try self.read { snapshot in try snapshot.sizes(of: id) { _ in try check() } }
    }
  }

  /// Calls `body` with each conversation and the space that it takes, without blocking the caller's
  /// thread; see `StoreSnapshot.forEachConversationSizes(_:progress:)`.
  ///
  /// - Parameter body: Called once for each conversation, on another thread.
  /// - Throws: The error of `body`; `CancellationError` if the task was cancelled; `storage`, with
  ///   `snapshotExpired` inside if so much was written meanwhile that the moment could not be kept;
  ///   `corruptRecord`.
  public func forEachConversationSizes(
    _ body: @escaping @Sendable (ConversationID, ConversationSizes) throws -> Void
  ) async throws {
    try await onThreadUntilCancelled { check in
      try self.readOneMoment { snapshot in
        try snapshot.forEachConversationSizes(body) { _ in try check() }
      }
    }
  }
}
