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
  /// A conversation has too many participants.
  case tooManyParticipants(count: Int, limit: Int)
  /// A conversation was asked for by its participants, and there are none.
  case noParticipants
  /// A slice of less than one was asked for.
  case invalidCount(Int)
  /// There is no message of this name to read around.
  case messageNotFound(MessageID, in: ConversationID)
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
    case .tooManyParticipants(let count, let limit):
      "a conversation has \(count) participants; the limit is \(limit)"
    case .noParticipants:
      "a conversation was asked for by its participants, but none were given"
    case .invalidCount(let count):
      "a slice of \(count) was asked for; the least is 1"
    case .messageNotFound(let id, let conversation):
      "there is no message \"\(id)\" in conversation \"\(conversation)\""
    case .corruptRecord(let tree, let reason):
      "a record of the tree \"\(tree)\" is corrupt: \(reason)"
    case .numbersExhausted(let what):
      "there is no number left for another \(what)"
    }
  }
}

/// Runs calls into the layer below and gives its errors our type.
@inline(__always)
func storage<R: ~Copyable>(_ body: () throws(PageFileError) -> R) throws(StoreError) -> R {
  do throws(PageFileError) {
    return try body()
  } catch {
    throw .storage(error)
  }
}
