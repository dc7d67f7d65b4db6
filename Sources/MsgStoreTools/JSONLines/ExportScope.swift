public import MsgStore

/// The part of a store that an export has.
///
/// A part can be restored like the whole. It says nothing of what it leaves out, so that a store
/// restored from it, which a client then goes on with, fetches the rest from the server:
///
///  1. An export of one conversation has no other conversations, no profiles of members, no sync
///     positions of the store, no client work that is about no conversation, and not the flag that
///     new outbox entries are held.
///  2. An export since a time has no acknowledged message with an earlier server time, and nothing
///     about such a message: no waiting facts, outbox entries, or receipts to be told by name. It
///     has no sync position at all, and no sequence number is declared known up to the greatest one
///     of the messages left out. Pending messages are always in it, and so are the names of
///     messages deleted here, which must not come back.
///  3. Marks, receipts, and everything said of a conversation as a whole are in it unchanged.
public struct ExportScope: Sendable, Hashable {
  /// The only conversation to export, by any of its ids; nil for all of them.
  public var conversation: ConversationID?
  /// The earliest server time of a message to export; nil for messages of all times.
  public var since: Timestamp?

  /// Creates a scope: by default the whole store.
  ///
  /// - Parameters:
  ///   - conversation: The only conversation to export.
  ///   - since: The earliest server time of a message to export.
  public init(conversation: ConversationID? = nil, since: Timestamp? = nil) {
    self.conversation = conversation
    self.since = since
  }
}

/// The progress of an export.
public struct ExportProgress: Sendable, Hashable {
  /// The number of messages that the export has passed: those exported, and those left out because
  /// they are earlier than the scope.
  public internal(set) var messageCount = 0
  /// The number of messages in the conversations of the scope.
  public internal(set) var totalMessageCount = 0
  /// The number of conversations that are finished.
  public internal(set) var conversationCount = 0
  /// The number of conversations in the scope.
  public internal(set) var totalConversationCount = 0
}
