/// What the whole store has unread, as a badge shows it.
public struct UnreadTotals: Sendable, Hashable {
  /// Unread messages of conversations that are not muted.
  public var messages: Int
  /// Unread messages of muted conversations.
  public var mutedMessages: Int
  /// Unread messages that name the local member, in conversations that are not muted.
  public var mentions: Int
  /// The same in muted ones.
  public var mutedMentions: Int

  /// Totals of nothing, but for what is given.
  public init(messages: Int = 0, mutedMessages: Int = 0, mentions: Int = 0, mutedMentions: Int = 0)
  {
    self.messages = messages
    self.mutedMessages = mutedMessages
    self.mentions = mentions
    self.mutedMentions = mutedMentions
  }
}
