/// A member's participation in a conversation.
public struct Participation: Sendable, Hashable {
  /// The member.
  public let member: MemberID
  /// True if the member takes part now.
  public let isActive: Bool
  /// The time of joining; nil if the member was there from the beginning, as far as is known.
  public let joinedAt: Timestamp?
  /// The time of the latest information: a joining, a leaving, or a list of members.
  public let changedAt: Timestamp

  /// Creates a participation, for previews and tests of views.
  ///
  /// - Parameters:
  ///   - member: The member.
  ///   - isActive: True if the member takes part now.
  ///   - joinedAt: The time of joining, if known.
  ///   - changedAt: The time of the latest information.
  public init(
    member: MemberID, isActive: Bool, joinedAt: Timestamp? = nil, changedAt: Timestamp
  ) {
    self.member = member
    self.isActive = isActive
    self.joinedAt = joinedAt
    self.changedAt = changedAt
  }
}
