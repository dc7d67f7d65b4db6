/// Whether somebody takes part in a conversation, and since when.
public struct Participation: Sendable, Hashable {
  /// Who it is about.
  public let member: MemberID
  /// Whether they take part now.
  public let isActive: Bool
  /// When they joined; nil for who was in from the beginning, as far as is known.
  public let joinedAt: Timestamp?
  /// The time of the newest news about it: of the joining, the leaving, or of a list.
  public let changedAt: Timestamp
}
