/// The kind of a conversation, which is stored and not derived from its participants.
public enum ConversationKind: UInt8, Sendable, Hashable, CaseIterable {
  /// Not known: the conversation is known from its messages only.
  case unknown = 0
  /// Between two members, always the same two.
  case direct = 1
  /// Among any number of members, who may join and leave.
  case group = 2
}
