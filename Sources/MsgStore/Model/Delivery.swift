/// How far a message has come among those it was sent to.
public struct Delivery: Sendable, Hashable {
  /// `read` when every active recipient has read it, `delivered` when every one has it; what the
  /// server has said where that is more.
  public let status: MessageStatus
  /// How many members take part now and did when it was sent, its sender not among them.
  public let recipientCount: Int
  /// How many of them have it.
  public let deliveredCount: Int
  /// How many of them have read it.
  public let readCount: Int

  /// Whether every one of at least one recipient has read it.
  public var isReadByAll: Bool { recipientCount > 0 && readCount == recipientCount }
}

/// What one member has done with a message, and when as far as that is known.
public struct MemberReceipt: Sendable, Hashable {
  /// The member.
  public let member: MemberID
  /// Whether the member has read it; the others here have received it.
  public let isRead: Bool
  /// The earliest time known at which it was there: when it was delivered, or read, if that is
  /// earlier.
  public let deliveredAt: Timestamp?
  /// The earliest time known at which it had been read.
  public let readAt: Timestamp?
}
