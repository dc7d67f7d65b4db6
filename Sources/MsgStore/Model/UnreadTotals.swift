/// The unread counts of the whole store, as a badge shows them.
public struct UnreadTotals: Sendable, Equatable {
  /// Unread messages in conversations that are not muted.
  public var messages: Int
  /// Unread messages in muted conversations.
  public var mutedMessages: Int
  /// Unread messages that mention the local member, in conversations that are not muted.
  public var mentions: Int
  /// Unread messages that mention the local member, in muted conversations.
  public var mutedMentions: Int

  /// Creates totals; omitted counts are zero.
  public init(messages: Int = 0, mutedMessages: Int = 0, mentions: Int = 0, mutedMentions: Int = 0)
  {
    self.messages = messages
    self.mutedMessages = mutedMessages
    self.mentions = mentions
    self.mutedMentions = mutedMentions
  }
}
