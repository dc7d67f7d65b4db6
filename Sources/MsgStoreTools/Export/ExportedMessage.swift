package import MsgStore

/// Everything that is stored of a message, with names instead of the trees' numbers.
///
/// An export writes this form and a restore reads it. A restored message is stored with the same
/// bytes, except for numbers and ordinals that only the store itself sees.
package struct ExportedMessage: Sendable, Equatable {
  package var conversation: ConversationID = ""
  package var id: MessageID = ""
  package var sender: MemberID = ""
  package var text = ""
  /// The server time; nil for a pending message.
  package var serverTimestamp: Timestamp?
  package var sequence: Int64?
  package var localTime: Timestamp?
  /// The status; nil means sent with a server time and pending without one.
  package var status: MessageStatus?
  package var replyTo: MessageID?
  /// The arrival; nil leaves it to the caller of the restore.
  package var arrival: Arrival?
  /// True if the message came to lie below the read mark after that was made.
  package var isLate = false
  /// True if the local member has read exactly this message.
  package var isSeen = false
  package var expiresAt: Timestamp?
  package var editedAt: Timestamp?
  /// The server's own id of the edit that the text is from.
  package var editServerName: MessageID?
  package var mentions: [MemberID] = []
  package var isRetracted = false
  package var retractedAt: Timestamp?
  /// True if it was retracted here and the server has not agreed yet.
  package var isHidden = false
  package var deliveredAt: Timestamp?
  package var readAt: Timestamp?
  /// The time of the newest edit that lists attachments, and their ids.
  package var attachmentsAt: Timestamp?
  package var keptAttachments: [String] = []
  package var retryCount: Int64 = 0
  package var retryAt: Timestamp?
  package var failure: SendFailure?
  /// The times of local edits that the server has not confirmed.
  package var pendingEdits: [Timestamp] = []
  /// The name in the thread's order, if that is not the id.
  package var serverName: MessageID?
  /// Further names.
  package var aliases: [MessageID] = []
  package var revision: Int64 = 0
  package var sequencedAt: Timestamp?
  /// True if it was composed here and the server's copy has not come.
  ///
  /// With nil this is true for a message with a local status and without a server time.
  package var isComposed: Bool?
  /// The client's own fields, with whole values.
  package var own = OwnFields()
  package var facts = ExportedFacts()

  package init() {}

  /// Creates the exported form of a message of which nothing else is known.
  package init(_ message: Message) {
    conversation = message.conversation
    id = message.id
    sender = message.sender
    text = message.text
    serverTimestamp = message.serverTimestamp
    sequence = message.sequence
    localTime = message.localTime
    status = message.status == assumedStatus ? nil : message.status
    replyTo = message.replyTo
    expiresAt = message.expiresAt
    editedAt = message.editedAt
    editServerName = message.editedAt == nil ? nil : message.editServerName
    mentions = message.mentions
    isRetracted = message.isRetracted
    retractedAt = message.retractedAt
    deliveredAt = message.deliveredAt
    readAt = message.readAt
    retryCount = Int64(message.retryCount)
    retryAt = message.retryAt
    failure = message.failure
    own = OwnFields(message.ownFields)
    if let kind = message.ownKind { own.put(OwnRegister(kind: kind, time: nil)) }
    facts.attachments = message.attachments.map { ExportedAttachment($0) }
    facts.reactions = message.reactions.map { ExportedReaction($0) }
  }

  /// The status assumed if none is given.
  package var assumedStatus: MessageStatus { serverTimestamp == nil ? .pending : .sent }

  /// The value assumed if `isComposed` is nil.
  package var isAssumedComposed: Bool {
    serverTimestamp == nil && !(status ?? assumedStatus).isServerKnowledge
  }
}

/// Facts that wait for a message that is not here yet.
package struct ExportedWaiting: Sendable, Equatable {
  package var conversation: ConversationID = ""
  package var id: MessageID = ""
  package var serverTimestamp: Timestamp?
  package var sequence: Int64?
  package var status: MessageStatus = .pending
  package var expiresAt: Timestamp?
  package var isSeen = false
  package var isRetracted = false
  package var retractedAt: Timestamp?
  package var deliveredAt: Timestamp?
  package var readAt: Timestamp?
  /// The time of the newest edit that lists attachments, and their ids.
  package var attachmentsAt: Timestamp?
  package var keptAttachments: [String] = []
  package var aliases: [MessageID] = []
  package var revision: Int64 = 0
  package var sequencedAt: Timestamp?
  /// The client's own fields, with whole values.
  package var own = OwnFields()
  package var facts = ExportedFacts()

  package init() {}
}

/// Facts beside the record of a message, or waiting for one.
package struct ExportedFacts: Sendable, Equatable {
  /// All versions of the text except the current one, oldest first.
  package var history: [ExportedVersion] = []
  /// The attachments, in their order.
  package var attachments: [ExportedAttachment] = []
  /// The reactions, by member and emoji.
  package var reactions: [ExportedReaction] = []
  /// Named receipts for this message, by member.
  package var receipts: [ExportedReceipt] = []
  /// Marks that wait for the message's place, by kind and member.
  package var waitingMarks: [ExportedWaitingMark] = []
  /// Long own fields, which go to the others by `OwnFields.takeLong`.
  package var ownFields: [OwnRegister] = []
  /// The tags that were set or removed, those of the client's own last, by name.
  package var tags: [ExportedTag] = []

  package init() {}

  /// True if there are no facts.
  package var isEmpty: Bool { self == ExportedFacts() }
}

/// A version of a message's text.
package struct ExportedVersion: Sendable, Equatable {
  package var text = ""
  /// The time of the edit; nil for the original.
  package var editedAt: Timestamp?
  package var mentions: [MemberID] = []
  /// The server's own id of the edit.
  package var serverName: MessageID?

  package init() {}
}

/// A reaction, or its removal.
package struct ExportedReaction: Sendable, Equatable {
  package var reaction: Reaction
  package var isRemoved = false

  package init(_ reaction: Reaction, isRemoved: Bool = false) {
    self.reaction = reaction
    self.isRemoved = isRemoved
  }
}

/// An attachment and the progress of its transfers.
package struct ExportedAttachment: Sendable, Equatable {
  package var attachment: MessageAttachment
  /// The index among the attachments of the message; nil means its index in the list.
  package var index: UInt32?
  package var upload = AttachmentTransfer.notRequested
  package var download = AttachmentTransfer.notRequested
  /// Fields that were set here and that no server copy has confirmed.
  package var unconfirmed: AttachmentFields = []
  /// The number of failed uploads in a row.
  package var failedUploadCount: Int64 = 0
  package var failedDownloadCount: Int64 = 0

  package init(_ attachment: MessageAttachment) { self.attachment = attachment }
}
