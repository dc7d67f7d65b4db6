public import PageFile

/// An error of a message store.
///
/// A refused call changes nothing. A write transaction that meets a storage failure or a corrupt
/// record is rolled back, even if its closure continues.
public enum StoreError: Error, Sendable, Hashable {
  /// The file, its log, or the system failed, for the enclosed reason.
  case storage(PageFileError)
  /// The file is sound but does not contain messages.
  case notAMessageStore(path: String)
  /// A newer version of this library made the store.
  case schemaTooNew(found: UInt64, supported: UInt64)
  /// A version of this library from before the first release made the store.
  case schemaTooOld(found: UInt64, supported: UInt64)
  /// The store belongs to another member than the one in the options.
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
  /// A conversation was requested by its participants, but none were given.
  case noParticipants
  /// The reference of a conversation's picture has too many bytes.
  case avatarTooLong(byteCount: Int, limit: Int)
  /// A conversation of the local member with no other member was requested.
  case onlyOneself
  /// The conversation to be changed does not exist.
  case conversationNotFound(ConversationID)
  /// The id for a new group is already taken by a conversation.
  case conversationExists(ConversationID)
  /// The local member does not take part in a conversation and cannot change it for the others.
  case notAMember(ConversationID)
  /// The members of a direct conversation cannot change.
  case directConversation(ConversationID)
  /// The message has reached the maximum number of names.
  case tooManyNames(MessageID, in: ConversationID)
  /// The store has no local member, which the call requires.
  case noLocalMember
  /// A slice of fewer than one element was requested.
  case invalidCount(Int)
  /// The message to read around does not exist.
  case messageNotFound(MessageID, in: ConversationID)
  /// A message was retracted, so it cannot be changed.
  case messageIsDeleted(MessageID, in: ConversationID)
  /// Only the author of a message may do this.
  case notOwnMessage(MessageID, in: ConversationID)
  /// A message is too old to be retracted.
  case unsendTooLate(MessageID, in: ConversationID)
  /// Too many edits of a message wait for the server.
  case tooManyPendingEdits(MessageID, in: ConversationID)
  /// A composed text breaks a limit.
  case invalidText(TextValidation.Problem)
  /// A message mentions too many members.
  case tooManyMentions(count: Int, limit: Int)
  /// A reaction is empty or has too many bytes.
  case invalidReaction(byteCount: Int, limit: Int)
  /// An attachment cannot be stored or breaks an upload limit.
  case invalidAttachment(AttachmentProblem)
  /// The id is, or was, used by another message of the conversation.
  case idInUse(MessageID, in: ConversationID)
  /// The local member does not take part in the conversation.
  case notAParticipant(ConversationID)
  /// The outbox entry does not exist or no longer exists.
  case outboxEntryNotFound(OutboxEntry.ID)
  /// An outbox entry is leased and cannot be changed now.
  case outboxEntryIsRunning(OutboxEntry.ID)
  /// An outbox entry may have reached the server and can no longer be changed.
  case outboxEntryMayHaveLeft(OutboxEntry.ID)
  /// An outbox entry has no text to change.
  case outboxEntryHasNoText(OutboxEntry.ID)
  /// Another message or conversation depends on this outbox entry to reach the server.
  case outboxEntryIsNeeded(OutboxEntry.ID)
  /// The payload of client work has too many bytes.
  case outboxPayloadTooLong(byteCount: Int, limit: Int)
  /// A value that belongs to one `read` or `write`, such as a thread or an outbox, was used after
  /// its closure returned.
  case transactionEnded
  /// A stored record is malformed.
  case corruptRecord(tree: String, reason: String)
  /// All numbers of a kind are used up.
  case numbersExhausted(what: String)
}

extension StoreError: CustomStringConvertible {
  /// A readable description of the error.
  public var description: String {
    switch self {
    case .storage(let error):
      "storage failure: \(error)"
    case .notAMessageStore(let path):
      "\(path): not a message store (it holds other data)"
    case .schemaTooNew(let found, let supported):
      "schema version \(found) is too new (this library supports up to \(supported))"
    case .schemaTooOld(let found, let supported):
      "schema version \(found) is too old (this library supports \(supported) and later)"
    case .localMemberDiffers(let stored, let given):
      "the store belongs to \"\(stored)\", not to \"\(given)\""
    case .invalidIdentifier(let what, let byteCount):
      byteCount == 0
        ? "a \(what) is empty"
        : "a \(what) has \(byteCount) bytes; the limit is \(Identifier.maximumByteCount)"
    case .textTooLong(let byteCount, let limit):
      "a text has \(byteCount) bytes; the limit is \(limit)"
    case .titleTooLong(let byteCount, let limit):
      "a title has \(byteCount) bytes; the limit is \(limit)"
    case .syncPositionTooLong(let byteCount, let limit):
      "a sync position has \(byteCount) bytes; the limit is \(limit)"
    case .tooManyParticipants(let count, let limit):
      "a conversation has \(count) participants; the limit is \(limit)"
    case .noParticipants:
      "conversation requested by participants: none were given"
    case .avatarTooLong(let byteCount, let limit):
      "a picture reference has \(byteCount) bytes; the limit is \(limit)"
    case .onlyOneself:
      "conversation requested by participants: no member but the local one was given"
    case .conversationNotFound(let conversation):
      "conversation \"\(conversation)\": not found"
    case .conversationExists(let conversation):
      "conversation \"\(conversation)\": already exists"
    case .notAMember(let conversation):
      "conversation \"\(conversation)\": cannot be changed (the local member does not take part)"
    case .directConversation(let conversation):
      "conversation \"\(conversation)\": the members of a direct conversation cannot change"
    case .tooManyNames(let id, let conversation):
      "message \"\(id)\" in conversation \"\(conversation)\": too many names"
    case .noLocalMember:
      "the store has no local member"
    case .invalidCount(let count):
      "invalid slice count \(count); the minimum is 1"
    case .messageNotFound(let id, let conversation):
      "message \"\(id)\" in conversation \"\(conversation)\": not found"
    case .messageIsDeleted(let id, let conversation):
      "message \"\(id)\" in conversation \"\(conversation)\": retracted"
    case .notOwnMessage(let id, let conversation):
      "message \"\(id)\" in conversation \"\(conversation)\": written by another member"
    case .unsendTooLate(let id, let conversation):
      "message \"\(id)\" in conversation \"\(conversation)\": too old to be retracted"
    case .tooManyPendingEdits(let id, let conversation):
      "message \"\(id)\" in conversation \"\(conversation)\": too many pending edits"
    case .invalidText(let problem):
      "\(problem)"
    case .tooManyMentions(let count, let limit):
      "a message mentions \(count) members; the limit is \(limit)"
    case .invalidReaction(let byteCount, let limit):
      byteCount == 0
        ? "a reaction has no emoji" : "a reaction has \(byteCount) bytes; the limit is \(limit)"
    case .invalidAttachment(let problem):
      "invalid attachment: \(problem)"
    case .idInUse(let id, let conversation):
      "message \"\(id)\" in conversation \"\(conversation)\": id already used"
    case .notAParticipant(let conversation):
      "conversation \"\(conversation)\": the local member does not take part"
    case .outboxEntryNotFound(let id):
      "outbox entry \(id): not found"
    case .outboxEntryIsRunning(let id):
      "outbox entry \(id): leased"
    case .outboxEntryMayHaveLeft(let id):
      "outbox entry \(id): may have reached the server"
    case .outboxEntryHasNoText(let id):
      "outbox entry \(id): no text to change"
    case .outboxEntryIsNeeded(let id):
      "outbox entry \(id): needed by other entries"
    case .outboxPayloadTooLong(let byteCount, let limit):
      "a client work payload has \(byteCount) bytes; the limit is \(limit)"
    case .transactionEnded:
      "transaction ended: its values cannot be used outside its closure"
    case .corruptRecord(let tree, let reason):
      "tree \"\(tree)\": corrupt record (\(reason))"
    case .numbersExhausted(let what):
      "no number left for another \(what)"
    }
  }
}

extension StoreError {
  /// True if the stored data is at fault, rather than the system or the caller.
  package var isDamage: Bool {
    switch self {
    case .corruptRecord, .storage(.corruptPage): true
    default: false
    }
  }
}

/// Calls the layer below and wraps its errors in `StoreError.storage`.
@inline(__always)
package func storage<R: ~Copyable>(_ body: () throws(PageFileError) -> R) throws(StoreError) -> R {
  do throws(PageFileError) {
    return try body()
  } catch {
    throw .storage(error)
  }
}
