package import MsgStore

/// All that is stored of a message, with names where the trees have numbers.
///
/// What an export writes and a restore takes: a message restored from it is stored with the same
/// bytes, but for numbers and ordinals that only the store itself sees.
package struct ExportedMessage: Sendable, Hashable {
  package var conversation: ConversationID = ""
  package var id: MessageID = ""
  package var sender: MemberID = ""
  package var text = ""
  /// nil: it is pending.
  package var serverTimestamp: Timestamp?
  package var sequence: Int64?
  package var localTime: Timestamp?
  /// nil: sent with a server time, pending without one.
  package var status: MessageStatus?
  package var replyTo: MessageID?
  /// nil: whoever restores it knows.
  package var arrival: Arrival?
  /// Whether it came to lie below the read mark after that was made.
  package var isLate = false
  /// Whether the local member has read exactly this message.
  package var isSeen = false
  package var editedAt: Timestamp?
  package var mentions: [MemberID] = []
  package var isUnsent = false
  package var unsentAt: Timestamp?
  /// Whether it was taken back here and the server has not said yes.
  package var isHidden = false
  package var deliveredAt: Timestamp?
  package var readAt: Timestamp?
  package var retryCount: Int64 = 0
  package var retryAt: Timestamp?
  package var failure: Failure?
  /// Edits made here that the server has not confirmed.
  package var pendingEdits: [Timestamp] = []
  /// Its name in the thread's order, where that is not its id.
  package var serverName: MessageID?
  /// Names besides those two.
  package var aliases: [MessageID] = []
  package var revision: Int64 = 0
  package var sequencedAt: Timestamp?
  /// Whether it was composed here and the server's copy has not come; nil: while it is pending.
  package var isComposed: Bool?
  package var facts = ExportedFacts()

  package init() {}

  /// What a message says, of which nothing else is known.
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
    editedAt = message.editedAt
    mentions = message.mentions
    isUnsent = message.isDeleted
    unsentAt = message.deletedAt
    deliveredAt = message.deliveredAt
    readAt = message.readAt
    retryCount = Int64(message.retryCount)
    retryAt = message.retryAt
    failure = message.failure
    facts.attachments = message.attachments.map { ExportedAttachment($0) }
    facts.reactions = message.reactions.map { ExportedReaction($0) }
  }

  /// The status that it has where none is said.
  package var assumedStatus: MessageStatus { serverTimestamp == nil ? .pending : .sent }

  /// Whether it counts as composed here where nothing is said.
  package var isAssumedComposed: Bool {
    serverTimestamp == nil && !(status ?? assumedStatus).isServerKnowledge
  }
}

/// What is known of a message that is not here yet.
package struct ExportedWaiting: Sendable, Hashable {
  package var conversation: ConversationID = ""
  package var id: MessageID = ""
  package var serverTimestamp: Timestamp?
  package var sequence: Int64?
  package var status: MessageStatus = .pending
  package var isSeen = false
  package var isUnsent = false
  package var unsentAt: Timestamp?
  package var deliveredAt: Timestamp?
  package var readAt: Timestamp?
  package var aliases: [MessageID] = []
  package var revision: Int64 = 0
  package var sequencedAt: Timestamp?
  package var facts = ExportedFacts()

  package init() {}
}

/// What lies beside the record of a message, or waits for one.
package struct ExportedFacts: Sendable, Hashable {
  /// All versions of the text but the one shown, oldest first.
  package var history: [ExportedVersion] = []
  /// In their order.
  package var attachments: [ExportedAttachment] = []
  /// By member and emoji.
  package var reactions: [ExportedReaction] = []
  /// Receipts for exactly this message, by member.
  package var receipts: [ExportedReceipt] = []
  /// By kind and member.
  package var waitingMarks: [ExportedWaitingMark] = []

  package init() {}

  package var isEmpty: Bool { self == ExportedFacts() }
}

/// A version of a message's text.
package struct ExportedVersion: Sendable, Hashable {
  package var text = ""
  /// nil: the original.
  package var editedAt: Timestamp?
  package var mentions: [MemberID] = []

  package init() {}
}

/// A reaction, or that one was taken away.
package struct ExportedReaction: Sendable, Hashable {
  package var reaction: Reaction
  package var isRemoved = false

  package init(_ reaction: Reaction, isRemoved: Bool = false) {
    self.reaction = reaction
    self.isRemoved = isRemoved
  }
}

/// An attachment with how far its bytes have come.
package struct ExportedAttachment: Sendable, Hashable {
  package var attachment: Attachment
  /// Where it stands among the attachments of its message; nil: where the list has it.
  package var index: UInt32?
  package var upload = AttachmentTransfer.none
  package var download = AttachmentTransfer.none
  /// What was said of it here and nobody has confirmed.
  package var unconfirmed: AttachmentFields = []
  /// How many attempts in a row have failed.
  package var failedUploadCount: Int64 = 0
  package var failedDownloadCount: Int64 = 0

  package init(_ attachment: Attachment) { self.attachment = attachment }
}
