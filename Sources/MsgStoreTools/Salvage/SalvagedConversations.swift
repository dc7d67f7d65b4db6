import MsgStore
import PageFile
import PageFileSalvage

/// The remains of the conversations tree, read one conversation after the other.
///
/// Receipts, sequences and members that have cells of their own make no conversation: what is left
/// of a deleted one may have some.
final class SalvagedConversations {
  private let source: PageSalvage
  private let cursor: SalvageCursor
  private let rest: SalvageCursor
  private var hasCell: Bool
  /// Records that could not be read.
  private(set) var lost = LostRecords()

  init(_ source: PageSalvage) {
    self.source = source
    cursor = source.cursor(Schema.conversations)
    rest = source.cursor(Schema.conversations)
    hasCell = cursor.next()
    skip()
  }

  /// The number of the next conversation.
  var nextNumber: UInt32? { hasCell ? cursor.key.bigEndianNumber(at: 0) : nil }

  /// Returns the records of a conversation, which must not lie behind the next one.
  func take(_ number: UInt32) -> Salvaged {
    var found = Salvaged()
    while nextNumber == number {
      let isRead: Bool
      switch cursor.key.count > 4 ? cursor.key[4] : 0 {
      case 0:
        found.summary = ConversationSummary(cursor.value)
        isRead = found.summary != nil
      case ConversationDetails.keySuffix:
        found.details = ConversationDetails(cursor.value)
        isRead = found.details != nil
      case ConversationMembers.keySuffix:
        found.members = ConversationMembers(cursor.value)
        isRead = found.members != nil
      case DraftRecord.keySuffix:
        found.draft = DraftRecord(cursor.value)
        isRead = found.draft != nil
      case ConversationFields.keySuffix:
        found.fields = ConversationFields(cursor.value)
        isRead = found.fields != nil
      default:
        isRead = false
      }
      if !isRead { lose(cursor) }
      step()
    }
    takeRest(of: number, to: &found)
    found.retention = RetentionRecord(of: number, in: source)
    return found
  }

  /// Adds receipts, sequences, and members that have cells of their own.
  private func takeRest(of number: UInt32, to found: inout Salvaged) {
    let prefix = KeyEncoding.key(number)
    let start = ReceiptKey.own(number)
    rest.seek(start.bytes)
    var members = found.members ?? ConversationMembers()
    while rest.next(), rest.key.hasPrefix(prefix.bytes) {
      if rest.lostReason != nil || !takeCell(&found, &members) { lose(rest) }
    }
    if let time = found.details?.roster?.completeAt {
      members.mergeComplete(Set(members.members.map(\.number)), time: time)
    }
    if !members.isEmpty { found.members = members }
  }

  /// Adds the cell at the second cursor; returns false if it is malformed.
  private func takeCell(
    _ found: inout Salvaged, _ members: inout ConversationMembers
  ) -> Bool {
    if let run = KnownSequences.run(rest.key, rest.value) {
      found.sequences.append(run)
      return true
    }
    if let (_, member) = MembershipRecord.parts(rest.key) {
      guard let record = MembershipRecord(rest.value) else { return false }
      members.merge(record.member(member))
      return true
    }
    switch ReceiptKey.parts(rest.key) {
    case .own?:
      guard let own = ConversationReceipts(rest.value) else { return false }
      found.ownReceipts = own
    case .member(_, let member)?:
      guard let record = ReceiptRecord(rest.value) else { return false }
      found.receipts.append((member, record))
    case .exact(_, let kind, let message, let ordinal)?:
      found.exact.append((kind, message, ordinal))
    case nil: return false
    }
    return true
  }

  /// The remains of one conversation.
  struct Salvaged {
    var summary: ConversationSummary?
    var details: ConversationDetails?
    var members: ConversationMembers?
    var draft: DraftRecord?
    var fields: ConversationFields?
    var retention: RetentionRecord?
    var ownReceipts = ConversationReceipts()
    var receipts: [(member: UInt32, record: ReceiptRecord)] = []
    /// The messages with pending named receipts, and the ordinals from which these count.
    var exact: [(kind: ReceiptKind, message: MessageID, first: UInt64)] = []
    /// The known sequences, other than the newest run.
    var sequences: [ClosedRange<Int64>] = []
  }

  private func step() {
    hasCell = cursor.next()
    skip()
  }

  /// Passes over malformed keys, and over cells that are taken with their conversation.
  private func skip() {
    while hasCell {
      if nextNumber == nil {
        lose(cursor)
      } else if cursor.key.count == 4 || cursor.key[4] < ReceiptKey.ownSuffix {
        return
      }
      hasCell = cursor.next()
    }
  }

  private func lose(_ cursor: SalvageCursor) {
    lost.add(cursor, Schema.conversations, cursor.lostReason ?? "malformed conversation record")
  }
}

extension RetentionRecord {
  /// Reads what is left of the record of a conversation, or of that of the store under number 0.
  init?(of number: UInt32, in source: PageSalvage) {
    var value = ByteBuffer()
    let key = KeyEncoding.key(number)
    guard case .found = source.value(of: key.bytes, in: Schema.retention, to: &value) else {
      return nil
    }
    self.init(value.bytes)
  }
}
