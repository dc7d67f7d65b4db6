package import MsgStore

/// All that is stored of a conversation beside what is in it.
package struct ExportedConversation: Sendable, Hashable {
  package var id: ConversationID = ""
  package var aliases: [ConversationID] = []
  package var kind: ConversationKind?
  /// Who takes part, where nothing more is known of them than that.
  package var participants: [MemberID] = []
  /// What is known of members, with its times.
  package var members: [ExportedMember] = []
  /// The time of the newest complete list of members.
  package var completeAt: Timestamp?
  package var title: String?
  package var titleAt: Timestamp?
  package var avatar: String?
  package var avatarAt: Timestamp?
  package var createdBy: MemberID?
  package var createdAt: Timestamp?
  /// When it came to this store; the list shows it under this time while it has no messages.
  package var since: Timestamp?
  package var isPinned = false
  package var pinnedAt: Timestamp?
  package var isMuted = false
  package var mutedAt: Timestamp?
  package var isArchived = false
  package var archivedAt: Timestamp?
  /// Whether it was deleted and nothing newer has come.
  package var isHidden = false
  package var deletedUpTo: Timestamp?

  package init() {}
}

/// What is known of a member.
package struct ExportedMember: Sendable, Hashable {
  package var member: MemberID = ""
  package var time = Timestamp(microseconds: 0)
  package var hasLeft = false
  package var joinedAt: Timestamp?

  package init() {}
}

/// What has been begun to write, or that it was given up.
package struct ExportedDraft: Sendable, Hashable {
  package var conversation: ConversationID = ""
  package var text: String?
  package var replyTo: MessageID?
  package var time = Timestamp(microseconds: 0)

  package init() {}
}

/// How far a member has come in a conversation, as the server has told.
package struct ExportedReceipts: Sendable, Hashable {
  package var conversation: ConversationID = ""
  package var member: MemberID = ""
  package var read: [ExportedStep] = []
  package var delivered: [ExportedStep] = []

  package init() {}
}

/// How far the local member has come here, and what of it the server knows.
package struct ExportedMarks: Sendable, Hashable {
  package var conversation: ConversationID = ""
  /// Up to here everything was read that was there.
  package var readMark: Position?
  package var deliveredMark: Position?
  package var confirmedRead: Position?
  package var confirmedDelivered: Position?
  package var read: [ExportedStep] = []
  package var delivered: [ExportedStep] = []

  package init() {}
}

/// A place that a member has come to, and when.
package struct ExportedStep: Sendable, Hashable {
  package var position: Position
  package var time: Timestamp?

  package init(_ position: Position, _ time: Timestamp?) {
    self.position = position
    self.time = time
  }
}

/// A message that has to be told to the server by its name.
package struct ExportedUntold: Sendable, Hashable {
  package var conversation: ConversationID = ""
  package var message: MessageID = ""
  package var kind = ReceiptKind.read
  /// Whether it has to be told only once it is marked again.
  package var isLate = false

  package init() {}
}

/// A member's receipt for exactly one message.
package struct ExportedReceipt: Sendable, Hashable {
  package var member: MemberID = ""
  package var isDelivered = false
  package var deliveredAt: Timestamp?
  package var isRead = false
  package var readAt: Timestamp?

  package init() {}
}

/// A member's mark that goes up to a message which has no acknowledged place yet.
package struct ExportedWaitingMark: Sendable, Hashable {
  package var member: MemberID = ""
  package var kind = ReceiptKind.read
  package var time: Timestamp?

  package init() {}
}
