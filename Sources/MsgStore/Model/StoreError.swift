public import PageFile

/// An error of a message store.
///
/// A refused call changes nothing. A write transaction that meets a storage failure or a corrupt
/// record is rolled back, even if its closure continues.
///
/// The cases are groups by what a caller can do about them. After `input`, ask for other input;
/// after `message`, `conversation`, and `outbox`, the store has moved on, so read it again; after
/// `opening`, choose another file or update the app. `storage` says which failures pass by
/// themselves.
///
/// The cases are kept in boxes: an error in place would take nine words, which each call that may
/// throw would have to hand on.
public indirect enum StoreError: Error, Sendable, Equatable {
  /// The file, its log, or the system failed, for the enclosed reason.
  case storage(PageFileError)
  /// The file cannot be opened as this store.
  case opening(OpeningFault)
  /// An argument is malformed or breaks a limit.
  case input(InputFault)
  /// A message does not allow the call.
  case message(MessageFault, MessageID, in: ConversationID)
  /// A conversation does not allow the call.
  case conversation(ConversationFault, ConversationID)
  /// An outbox entry does not allow the call.
  case outbox(OutboxFault, OutboxEntry.ID)
  /// The store has no local member, which the call requires.
  case noLocalMember
  /// A value that belongs to one `read` or `write`, such as a thread or an outbox, was used after
  /// its closure returned.
  case transactionEnded
  /// A stored record is malformed.
  case corruptRecord(tree: String, reason: String)
  /// All numbers of a kind are used up.
  case numbersExhausted(what: String)
}

/// The reason why a file cannot be opened as this store.
public enum OpeningFault: Sendable, Equatable {
  /// The file is sound but does not contain messages.
  case notAMessageStore(path: String)
  /// A newer version of this library made the store.
  case schemaTooNew(found: UInt64, supported: UInt64)
  /// A version of this library from before the first release made the store.
  case schemaTooOld(found: UInt64, supported: UInt64)
  /// The store belongs to another member than the one in the options.
  case localMemberDiffers(stored: MemberID, given: MemberID)
}

/// The reason why an argument is refused.
public enum InputFault: Sendable, Equatable {
  /// A value whose bytes are limited.
  public enum Bytes: String, Sendable, Hashable {
    /// The text of a message or a draft.
    case text = "text"
    /// The title of a conversation.
    case title = "title"
    /// The reference of a picture.
    case avatar = "picture reference"
    /// The name of a member.
    case memberName = "member's name"
    /// A sync position.
    case syncPosition = "sync position"
    /// The payload of client work.
    case outboxPayload = "client work payload"
    /// The text of a search query.
    case query = "search query"
    /// The names and values of all own fields together.
    case ownFields = "set of own fields"
  }

  /// A list whose elements are limited.
  public enum List: String, Sendable, Hashable {
    /// The participants of a conversation.
    case participants
    /// The members mentioned in a message.
    case mentions
    /// The attachments that an edit lists.
    case attachments
    /// The own fields of one owner.
    case ownFields
    /// The client's own names of tags in a store.
    case ownTags
  }

  /// A number that has a least and a greatest value.
  public enum Number: String, Sendable, Hashable {
    /// The days of a rule for the history that is kept.
    case retentionDays = "number of days that messages are kept"
    /// The messages of a rule for the history that is kept.
    case retentionMessages = "number of messages that are kept"
    /// The ids in a receipt that tells of messages by their ids.
    case receiptIDs = "number of ids of one receipt"
  }

  /// An identifier is empty or has more than 255 bytes.
  case identifier(what: String, byteCount: Int)
  /// A value has too many bytes.
  case tooLong(Bytes, byteCount: Int, limit: Int)
  /// A list has too many elements.
  case tooMany(List, count: Int, limit: Int)
  /// A time is outside of `Timestamp.plausibleRange`, mostly because of a wrong unit.
  case implausibleTime(Timestamp)
  /// A composed text breaks a limit.
  case text(TextValidation.Problem)
  /// A reaction is empty or has too many bytes.
  case reaction(byteCount: Int, limit: Int)
  /// The name of an own field is empty or has too many bytes.
  case ownFieldName(byteCount: Int, limit: Int)
  /// A kind is empty or has too many bytes.
  case ownKind(byteCount: Int, limit: Int)
  /// An attachment cannot be stored or breaks an upload limit.
  case attachment(AttachmentProblem)
  /// A tag cannot be set, or not be read across conversations.
  case tag(MessageTag)
  /// A search query has nothing to look for.
  case emptyQuery
  /// Fewer than one element was requested.
  case count(Int)
  /// A number is too small or too large.
  case outOfRange(Number, Int, allowed: ClosedRange<Int>)
  /// A conversation was requested by its participants, but none were given.
  case noParticipants
  /// A conversation of the local member with no other member was requested.
  case onlyOneself
}

/// The reason why a message does not allow a call.
public enum MessageFault: Sendable, Equatable {
  /// The message does not exist.
  case notFound
  /// The message was retracted.
  case retracted
  /// Only the author of the message may do this.
  case notOwn
  /// The message is too old to be retracted.
  case tooOldToRetract
  /// The message is too old to be edited.
  case tooOldToEdit
  /// Too many edits of the message wait for the server.
  case tooManyPendingEdits
  /// The message has reached the maximum number of names.
  case tooManyNames
  /// The id is, or was, used by another message of the conversation.
  case idInUse
}

/// The reason why a conversation does not allow a call.
public enum ConversationFault: Sendable, Equatable {
  /// The conversation does not exist.
  case notFound
  /// The id for a new group is already taken by a conversation.
  case exists
  /// The local member does not take part in the conversation.
  case notAMember
  /// The members of a direct conversation cannot change.
  case direct
}

/// The reason why an outbox entry does not allow a call.
public enum OutboxFault: Sendable, Equatable {
  /// The entry does not exist or no longer exists.
  case notFound
  /// The entry is leased and cannot be changed now.
  case leased
  /// The entry may have reached the server and can no longer be changed.
  case mayHaveLeft
  /// The entry has no text to change.
  case hasNoText
  /// Another message or conversation depends on this entry to reach the server.
  case needed
}

extension StoreError: CustomStringConvertible {
  /// The error as a sentence: the subject, the fault, and its facts.
  public var description: String {
    switch self {
    case .storage(let error): "storage failure: \(error)"
    case .opening(let fault): "\(fault)"
    case .input(let fault): "\(fault)"
    case .message(let fault, let id, let conversation):
      "message \"\(id)\" in conversation \"\(conversation)\": \(fault)"
    case .conversation(let fault, let id): "conversation \"\(id)\": \(fault)"
    case .outbox(let fault, let id): "outbox entry \(id): \(fault)"
    case .noLocalMember: "the store has no local member"
    case .transactionEnded:
      "transaction ended: its values cannot be used outside its closure"
    case .corruptRecord(let tree, let reason): "tree \"\(tree)\": corrupt record (\(reason))"
    case .numbersExhausted(let what): "no number left for another \(what)"
    }
  }
}

extension OpeningFault: CustomStringConvertible {
  /// The fault as a sentence.
  public var description: String {
    switch self {
    case .notAMessageStore(let path): "\(path): not a message store (it holds other data)"
    case .schemaTooNew(let found, let supported):
      "schema version \(found) is too new (this library supports up to \(supported))"
    case .schemaTooOld(let found, let supported):
      "schema version \(found) is too old (this library supports \(supported) and later)"
    case .localMemberDiffers(let stored, let given):
      "the store belongs to \"\(stored)\", not to \"\(given)\""
    }
  }
}

extension InputFault: CustomStringConvertible {
  /// The fault as a sentence.
  public var description: String {
    switch self {
    case .identifier(let what, let byteCount):
      byteCount == 0
        ? "a \(what) is empty"
        : "a \(what) has \(byteCount) bytes; the limit is \(Identifier.maximumByteCount)"
    case .tooLong(let value, let byteCount, let limit):
      "a \(value.rawValue) has \(byteCount) bytes; the limit is \(limit)"
    case .tooMany(.participants, let count, let limit):
      "a conversation has \(count) participants; the limit is \(limit)"
    case .tooMany(.mentions, let count, let limit):
      "a message mentions \(count) members; the limit is \(limit)"
    case .tooMany(.attachments, let count, let limit):
      "an edit lists \(count) attachments; the limit is \(limit)"
    case .implausibleTime(let time):
      "a time is implausible: \(time) (\(time.microseconds) microseconds); is the unit wrong?"
    case .tooMany(.ownFields, let count, let limit):
      "\(count) own fields of one owner; the limit is \(limit)"
    case .ownFieldName(let byteCount, let limit):
      byteCount == 0
        ? "the name of an own field is empty"
        : "the name of an own field has \(byteCount) bytes; the limit is \(limit)"
    case .ownKind(let byteCount, let limit):
      byteCount == 0
        ? "an own kind is empty" : "an own kind has \(byteCount) bytes; the limit is \(limit)"
    case .tooMany(.ownTags, let count, let limit):
      "the store has \(count) names of tags; the limit is \(limit)"
    case .tag(let tag): "tag \(tag): cannot be set, or not be read across conversations"
    case .text(.empty): "a text is only white space, and nothing is attached"
    case .text(.tooManyCharacters(let count, let limit)):
      "a text has \(count) characters; the limit is \(limit)"
    case .text(.tooManyBytes(let count, let limit)):
      "a text has \(count) bytes; the limit is \(limit)"
    case .reaction(let byteCount, let limit):
      byteCount == 0
        ? "a reaction has no emoji" : "a reaction has \(byteCount) bytes; the limit is \(limit)"
    case .attachment(let problem): "invalid attachment: \(problem)"
    case .emptyQuery: "a search query has nothing to look for"
    case .count(let count): "invalid count \(count); the minimum is 1"
    case .outOfRange(let what, let number, let allowed):
      "the \(what.rawValue) is \(number); the limits are \(allowed.lowerBound) and "
        + "\(allowed.upperBound)"
    case .noParticipants: "conversation requested by participants: none were given"
    case .onlyOneself:
      "conversation requested by participants: no member but the local one was given"
    }
  }
}

extension MessageFault: CustomStringConvertible {
  /// The fault in a few words.
  public var description: String {
    switch self {
    case .notFound: "not found"
    case .retracted: "retracted"
    case .notOwn: "written by another member"
    case .tooOldToRetract: "too old to be retracted"
    case .tooOldToEdit: "too old to be edited"
    case .tooManyPendingEdits: "too many pending edits"
    case .tooManyNames: "too many names"
    case .idInUse: "id already used"
    }
  }
}

extension ConversationFault: CustomStringConvertible {
  /// The fault in a few words.
  public var description: String {
    switch self {
    case .notFound: "not found"
    case .exists: "already exists"
    case .notAMember: "the local member does not take part"
    case .direct: "the members of a direct conversation cannot change"
    }
  }
}

extension OutboxFault: CustomStringConvertible {
  /// The fault in a few words.
  public var description: String {
    switch self {
    case .notFound: "not found"
    case .leased: "leased"
    case .mayHaveLeft: "may have reached the server"
    case .hasNoText: "no text to change"
    case .needed: "needed by other entries"
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
    try raise(error)
  }
}

/// Throws an error of the layer below.
///
/// A function of its own, since each of hundreds of calls would carry a copy of it.
@inline(never)
package func raise(_ error: PageFileError) throws(StoreError) -> Never { throw .storage(error) }
