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

  /// Creates a delivery state, for previews and tests of views.
  ///
  /// - Parameters:
  ///   - status: The status to show.
  ///   - recipientCount: The number of recipients, 0 or more.
  ///   - deliveredCount: The number of them who have received the message.
  ///   - readCount: The number of them who have read it.
  public init(
    status: MessageStatus, recipientCount: Int, deliveredCount: Int, readCount: Int
  ) {
    self.status = status
    self.recipientCount = recipientCount
    self.deliveredCount = deliveredCount
    self.readCount = readCount
  }

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

  /// Creates a receipt, for previews and tests of views.
  ///
  /// - Parameters:
  ///   - member: The member.
  ///   - isRead: True if the member has read the message.
  ///   - deliveredAt: The time of its delivery, if known.
  ///   - readAt: The time of its reading, if known.
  public init(
    member: MemberID, isRead: Bool, deliveredAt: Timestamp? = nil, readAt: Timestamp? = nil
  ) {
    self.member = member
    self.isRead = isRead
    self.deliveredAt = deliveredAt
    self.readAt = readAt
  }
}
