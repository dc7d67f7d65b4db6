import MsgStore
import PageFile

/// The remains of the conversations tree, read one conversation after the other, each with the
/// cells of its members.
final class SalvagedConversations {
  private let source: PageSalvage
  private let cursor: SalvageCursor
  private let memberships: SalvageCursor
  private var hasCell: Bool
  /// Records that could not be read.
  private(set) var lost = LostRecords()

  init(_ source: PageSalvage) {
    self.source = source
    cursor = source.cursor(Schema.conversations)
    memberships = source.cursor(Schema.memberships)
    hasCell = cursor.next()
    skipForeignKeys()
  }

  /// The number of the next conversation.
  var nextNumber: UInt32? { hasCell ? cursor.key.bigEndianNumber(at: 0) : nil }

  /// Returns the records of a conversation, which must not lie behind the next one.
  func take(
    _ number: UInt32
  ) -> Salvaged {
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
      if !isRead { lose(cursor.lostReason ?? "malformed conversation record") }
      step()
    }
    takeCells(of: number, to: &found)
    found.retention = RetentionRecord(of: number, in: source)
    return found
  }

  /// Adds the members that have cells of their own.
  private func takeCells(of number: UInt32, to found: inout Salvaged) {
    let prefix = KeyEncoding.key(number)
    memberships.seek(prefix.bytes)
    var members = found.members ?? ConversationMembers()
    while memberships.next(), memberships.key.hasPrefix(prefix.bytes) {
      if let (_, member) = MembershipRecord.parts(memberships.key),
        let record = MembershipRecord(memberships.value)
      {
        members.merge(record.member(member))
      } else {
        lost.add(
          memberships, Schema.memberships, memberships.lostReason ?? "malformed membership")
      }
    }
    if let time = found.details?.roster?.completeAt {
      members.mergeComplete(Set(members.members.map(\.number)), time: time)
    }
    if !members.isEmpty { found.members = members }
  }

  /// The remains of one conversation.
  struct Salvaged {
    var summary: ConversationSummary?
    var details: ConversationDetails?
    var members: ConversationMembers?
    var draft: DraftRecord?
    var fields: ConversationFields?
    var retention: RetentionRecord?
  }

  private func step() {
    hasCell = cursor.next()
    skipForeignKeys()
  }

  private func skipForeignKeys() {
    while hasCell, nextNumber == nil {
      lose("malformed key")
      hasCell = cursor.next()
    }
  }

  private func lose(_ reason: String) { lost.add(cursor, Schema.conversations, reason) }
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
