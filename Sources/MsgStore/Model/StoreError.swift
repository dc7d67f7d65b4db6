public import PageFile

/// Everything that can go wrong in a message store.
///
/// What is refused changes nothing. A write transaction that met a fault of the storage or a corrupt
/// record is rolled back, also when its closure goes on.
public enum StoreError: Error, Sendable, Hashable {
  /// The file, its log, or the system failed; the reason is inside.
  case storage(PageFileError)
  /// The file is sound, but it holds something else than messages.
  case notAMessageStore(path: String)
  /// The store was made by a newer version of this library.
  case schemaTooNew(found: UInt64, supported: UInt64)
  /// The store was made by a version of this library from before the first release.
  case schemaTooOld(found: UInt64, supported: UInt64)
  /// The store belongs to another member than the options say.
  case localMemberDiffers(stored: MemberID, given: MemberID)
  /// An identifier is empty or has more than 255 bytes.
  case invalidIdentifier(what: String, byteCount: Int)
  /// A text has too many bytes.
  case textTooLong(byteCount: Int, limit: Int)
  /// A conversation's title has too many bytes.
  case titleTooLong(byteCount: Int, limit: Int)
  /// A sync position has too many bytes.
  case syncPositionTooLong(byteCount: Int, limit: Int)
  /// A conversation has too many participants.
  case tooManyParticipants(count: Int, limit: Int)
  /// A conversation was asked for by its participants, and there are none.
  case noParticipants
  /// The reference of a conversation's picture has too many bytes.
  case avatarTooLong(byteCount: Int, limit: Int)
  /// A conversation of the local member with nobody else was asked for.
  case onlyOneself
  /// There is no conversation of this name to change.
  case conversationNotFound(ConversationID)
  /// A new group was to get a name that a conversation has already.
  case conversationExists(ConversationID)
  /// The local member does not take part in a conversation and cannot change it for the others.
  case notAMember(ConversationID)
  /// Nobody joins or leaves a direct conversation.
  case directConversation(ConversationID)
  /// The message has as many names as one may have.
  case tooManyNames(MessageID, in: ConversationID)
  /// The store does not know whose it is, and something is to be done in their name.
  case noLocalMember
  /// A slice of less than one was asked for.
  case invalidCount(Int)
  /// There is no message of this name to read around.
  case messageNotFound(MessageID, in: ConversationID)
  /// A message was taken back, so nothing can be done to it.
  case messageIsDeleted(MessageID, in: ConversationID)
  /// Only who wrote a message may do this.
  case notOwnMessage(MessageID, in: ConversationID)
  /// A message is too old to be taken back.
  case unsendTooLate(MessageID, in: ConversationID)
  /// Too many edits of a message wait for the server.
  case tooManyPendingEdits(MessageID, in: ConversationID)
  /// A text that was composed breaks a limit.
  case invalidText(TextValidation.Problem)
  /// A message mentions too many members.
  case tooManyMentions(count: Int, limit: Int)
  /// A reaction is empty or has too many bytes.
  case invalidReaction(byteCount: Int, limit: Int)
  /// An attachment cannot be stored, or breaks a limit of what is uploaded.
  case invalidAttachment(AttachmentProblem)
  /// Another message of the conversation has the id already, or had it.
  case idInUse(MessageID, in: ConversationID)
  /// The local member does not take part in the conversation.
  case notAParticipant(ConversationID)
  /// There is no such entry in the outbox, or not any more.
  case outboxEntryNotFound(OutboxEntry.ID)
  /// An entry of the outbox was handed out, so nothing can be done to it now.
  case outboxEntryIsRunning(OutboxEntry.ID)
  /// The server may have what an entry of the outbox tells, so that cannot be changed any more.
  case outboxEntryMayHaveLeft(OutboxEntry.ID)
  /// An entry of the outbox has no text that can be changed.
  case outboxEntryHasNoText(OutboxEntry.ID)
  /// A message or a conversation cannot get to the server without this entry of the outbox.
  case outboxEntryIsNeeded(OutboxEntry.ID)
  /// The client's own work for the outbox has too many bytes.
  case outboxPayloadTooLong(byteCount: Int, limit: Int)
  /// Something that belongs to one `read` or `write`, as a thread or an outbox does, was used after the
  /// closure had returned.
  case transactionEnded
  /// A stored record breaks a rule.
  case corruptRecord(tree: String, reason: String)
  /// All numbers of a kind are used up.
  case numbersExhausted(what: String)
}

extension StoreError: CustomStringConvertible {
  /// A sentence that a person can read.
  public var description: String {
    switch self {
    case .storage(let error):
      "the storage failed: \(error)"
    case .notAMessageStore(let path):
      "\(path) is not a message store: it holds something else"
    case .schemaTooNew(let found, let supported):
      "the store has schema version \(found), and this library knows versions up to \(supported)"
    case .schemaTooOld(let found, let supported):
      "the store has schema version \(found), and this library knows versions from \(supported) on"
    case .localMemberDiffers(let stored, let given):
      "the store belongs to \"\(stored)\", not to \"\(given)\""
    case .invalidIdentifier(let what, let byteCount):
      byteCount == 0
        ? "a \(what) is empty"
        : "a \(what) has \(byteCount) bytes; the limit is \(Identifier.byteCountMax)"
    case .textTooLong(let byteCount, let limit):
      "a text has \(byteCount) bytes; the limit is \(limit)"
    case .titleTooLong(let byteCount, let limit):
      "a title has \(byteCount) bytes; the limit is \(limit)"
    case .syncPositionTooLong(let byteCount, let limit):
      "a sync position has \(byteCount) bytes; the limit is \(limit)"
    case .tooManyParticipants(let count, let limit):
      "a conversation has \(count) participants; the limit is \(limit)"
    case .noParticipants:
      "a conversation was asked for by its participants, but none were given"
    case .avatarTooLong(let byteCount, let limit):
      "the reference of a picture has \(byteCount) bytes; the limit is \(limit)"
    case .onlyOneself:
      "a conversation with nobody but the local member was asked for"
    case .conversationNotFound(let conversation):
      "there is no conversation \"\(conversation)\""
    case .conversationExists(let conversation):
      "there is a conversation \"\(conversation)\" already"
    case .notAMember(let conversation):
      "the local member does not take part in conversation \"\(conversation)\""
    case .directConversation(let conversation):
      "nobody joins or leaves the direct conversation \"\(conversation)\""
    case .tooManyNames(let id, let conversation):
      "the message \"\(id)\" of \"\(conversation)\" has too many names"
    case .noLocalMember:
      "the store does not know whose it is"
    case .invalidCount(let count):
      "a slice of \(count) was asked for; the least is 1"
    case .messageNotFound(let id, let conversation):
      "there is no message \"\(id)\" in conversation \"\(conversation)\""
    case .messageIsDeleted(let id, let conversation):
      "message \"\(id)\" in conversation \"\(conversation)\" was taken back"
    case .notOwnMessage(let id, let conversation):
      "message \"\(id)\" in conversation \"\(conversation)\" was written by somebody else"
    case .unsendTooLate(let id, let conversation):
      "message \"\(id)\" in conversation \"\(conversation)\" is too old to be taken back"
    case .tooManyPendingEdits(let id, let conversation):
      "too many edits of message \"\(id)\" in conversation \"\(conversation)\" wait for the server"
    case .invalidText(let problem):
      "\(problem)"
    case .tooManyMentions(let count, let limit):
      "a message mentions \(count) members; the limit is \(limit)"
    case .invalidReaction(let byteCount, let limit):
      byteCount == 0
        ? "a reaction has no emoji" : "a reaction has \(byteCount) bytes; the limit is \(limit)"
    case .invalidAttachment(let problem):
      "an attachment is refused: \(problem)"
    case .idInUse(let id, let conversation):
      "conversation \"\(conversation)\" has had a message \"\(id)\" already"
    case .notAParticipant(let conversation):
      "the local member does not take part in conversation \"\(conversation)\""
    case .outboxEntryNotFound(let id):
      "there is no entry \(id) in the outbox"
    case .outboxEntryIsRunning(let id):
      "entry \(id) of the outbox is on its way"
    case .outboxEntryMayHaveLeft(let id):
      "the server may have what entry \(id) of the outbox tells"
    case .outboxEntryHasNoText(let id):
      "entry \(id) of the outbox has no text that can be changed"
    case .outboxEntryIsNeeded(let id):
      "what waits in the outbox needs entry \(id)"
    case .outboxPayloadTooLong(let byteCount, let limit):
      "work for the outbox has \(byteCount) bytes; the limit is \(limit)"
    case .transactionEnded:
      "a transaction has ended: what was taken from its closure cannot be used after it"
    case .corruptRecord(let tree, let reason):
      "a record of the tree \"\(tree)\" is corrupt: \(reason)"
    case .numbersExhausted(let what):
      "there is no number left for another \(what)"
    }
  }
}

extension StoreError {
  /// Whether what is stored is at fault; not the system, and not who calls.
  package var isDamage: Bool {
    switch self {
    case .corruptRecord, .storage(.corruptPage): true
    default: false
    }
  }
}

/// Runs calls into the layer below and gives its errors our type.
@inline(__always)
package func storage<R: ~Copyable>(_ body: () throws(PageFileError) -> R) throws(StoreError) -> R {
  do throws(PageFileError) {
    return try body()
  } catch {
    throw .storage(error)
  }
}
