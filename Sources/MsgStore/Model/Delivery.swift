/// The delivery state of a message among its recipients.
public struct Delivery: Sendable, Hashable {
  /// `read` if every active recipient has read the message, `delivered` if every one has received
  /// it, or the status reported by the server if that is further along.
  public let status: MessageStatus
  /// The number of current members who were also members when the message was sent, excluding its
  /// sender.
  public let recipientCount: Int
  /// The number of recipients who have received it.
  public let deliveredCount: Int
  /// The number of recipients who have read it.
  public let readCount: Int

  /// True if there is at least one recipient and every one has read the message.
  public var isReadByAll: Bool { recipientCount > 0 && readCount == recipientCount }
}

/// One member's receipt for a message, with its times as far as known.
public struct MemberReceipt: Sendable, Hashable {
  /// The member.
  public let member: MemberID
  /// True if the member has read the message; otherwise it was delivered only.
  public let isRead: Bool
  /// The earliest known time at which the member had the message: that of its delivery, or that of
  /// its reading if earlier.
  public let deliveredAt: Timestamp?
  /// The earliest known time at which the member had read the message.
  public let readAt: Timestamp?
}
