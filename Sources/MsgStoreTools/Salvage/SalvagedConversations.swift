import MsgStore
import PageFile

/// What is left of the tree of conversations, one after the other.
final class SalvagedConversations {
  private let cursor: SalvageCursor
  private var hasCell: Bool
  /// Records that could not be read.
  private(set) var lost = LostRecords()

  init(_ source: PageSalvage) {
    cursor = source.cursor(Schema.conversations)
    hasCell = cursor.next()
    skipForeignKeys()
  }

  /// The number of the conversation that comes next.
  var nextNumber: UInt32? { hasCell ? cursor.key.bigEndianNumber(at: 0) : nil }

  /// What there is of a conversation, which must not come behind the next.
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
      default:
        isRead = false
      }
      if !isRead { lose(cursor.lostReason ?? "it is no record of a conversation") }
      step()
    }
    return found
  }

  /// What is left of one conversation.
  struct Salvaged {
    var summary: ConversationSummary?
    var details: ConversationDetails?
    var members: ConversationMembers?
    var draft: DraftRecord?
  }

  private func step() {
    hasCell = cursor.next()
    skipForeignKeys()
  }

  private func skipForeignKeys() {
    while hasCell, nextNumber == nil {
      lose("its key is none")
      hasCell = cursor.next()
    }
  }

  private func lose(_ reason: String) { lost.add(cursor, Schema.conversations, reason) }
}
