package import MsgStore

/// Everything that is stored of a conversation beside its contents.
package struct ExportedConversation: Sendable, Equatable {
  package var id: ConversationID = ""
  package var aliases: [ConversationID] = []
  package var kind: ConversationKind?
  /// Participants of whom nothing more is known.
  package var participants: [MemberID] = []
  /// Known facts about members, with their times.
  package var members: [ExportedMember] = []
  /// The time of the newest complete list of members.
  package var completeAt: Timestamp?
  package var title: String?
  package var titleAt: Timestamp?
  package var avatar: String?
  package var avatarAt: Timestamp?
  package var createdBy: MemberID?
  package var createdAt: Timestamp?
  /// The time at which the conversation came to this store.
  ///
  /// The list shows it under this time while it has no messages.
  package var since: Timestamp?
  package var isPinned = false
  package var pinnedAt: Timestamp?
  package var isMuted = false
  package var mutedAt: Timestamp?
  /// The time at which the mute ends; nil without an end.
  ///
  /// Without `isMuted` it has ended for good.
  package var mutedUntil: Timestamp?
  package var isArchived = false
  package var archivedAt: Timestamp?
  package var isMarkedUnread = false
  package var markedUnreadAt: Timestamp?
  /// True if it was deleted and nothing newer has come.
  package var isHidden = false
  package var deletedUpTo: Timestamp?
  /// The rule for the history that is kept; nil if that of the store applies.
  package var retention: Retention?
  /// The position of the newest message that was pruned.
  package var prunedUpTo: MessagePosition?
  /// The client's own fields and the kind, with whole values.
  package var own = OwnFields()

  package init() {}
}

/// Known facts about a member.
package struct ExportedMember: Sendable, Equatable {
  package var member: MemberID = ""
  package var time = Timestamp(microseconds: 0)
  package var hasLeft = false
  package var joinedAt: Timestamp?

  package init() {}
}

/// A draft, or the fact that it was discarded.
package struct ExportedDraft: Sendable, Equatable {
  package var conversation: ConversationID = ""
  package var text: String?
  package var replyTo: MessageID?
  package var time = Timestamp(microseconds: 0)

  package init() {}
}

/// The receipt marks of a member in a conversation, as told by the server.
package struct ExportedReceipts: Sendable, Equatable {
  package var conversation: ConversationID = ""
  package var member: MemberID = ""
  package var read: [ExportedStep] = []
  package var delivered: [ExportedStep] = []
  package var readSequences: [ExportedSequenceStep] = []
  package var deliveredSequences: [ExportedSequenceStep] = []

  package init() {}
}

/// A sequence that a mark has reached, the time, and the last place up to it.
package struct ExportedSequenceStep: Sendable, Equatable {
  package var sequence: Int64 = 0
  package var time: Timestamp?
  package var position: MessagePosition?

  package init() {}
}

/// The local member's own marks in a conversation, and the part of them that the server knows.
package struct ExportedMarks: Sendable, Equatable {
  package var conversation: ConversationID = ""
  /// The mark up to which everything present was read.
  package var readMark: MessagePosition?
  package var deliveredMark: MessagePosition?
  package var confirmedRead: MessagePosition?
  package var confirmedDelivered: MessagePosition?
  package var read: [ExportedStep] = []
  package var delivered: [ExportedStep] = []

  package init() {}
}

/// A position that a mark has reached, and the time.
package struct ExportedStep: Sendable, Equatable {
  package var position: MessagePosition
  package var time: Timestamp?

  package init(_ position: MessagePosition, _ time: Timestamp?) {
    self.position = position
    self.time = time
  }
}

/// A message with a pending named receipt.
package struct ExportedUntold: Sendable, Equatable {
  package var conversation: ConversationID = ""
  package var message: MessageID = ""
  package var kind = ReceiptKind.read
  /// True if the receipt becomes due only when the message is marked again.
  package var isLate = false

  package init() {}
}

/// A member's named receipt for one message.
package struct ExportedReceipt: Sendable, Equatable {
  package var member: MemberID = ""
  package var isDelivered = false
  package var deliveredAt: Timestamp?
  package var isRead = false
  package var readAt: Timestamp?

  package init() {}
}

/// A member's mark up to a message that has no acknowledged place yet.
package struct ExportedWaitingMark: Sendable, Equatable {
  package var member: MemberID = ""
  package var kind = ReceiptKind.read
  package var time: Timestamp?

  package init() {}
}
