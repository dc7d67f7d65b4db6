/// What kind of conversation it is: stored, not counted from who takes part.
public enum ConversationKind: UInt8, Sendable, Hashable, CaseIterable {
  /// Nobody has said: it is known from its messages only.
  case unknown = 0
  /// Between two, and always between these two.
  case direct = 1
  /// Of any number, who join and leave.
  case group = 2
}
