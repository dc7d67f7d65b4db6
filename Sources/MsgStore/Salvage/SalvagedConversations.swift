import PageFile

/// What is left of the tree of conversations, one after the other.
final class SalvagedConversations {
  private let cursor: SalvageCursor
  private var hasCell: Bool
  /// Records that could not be read.
  private(set) var lost: [MessageSalvageReport.LostRecord] = []

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
  ) -> (summary: ConversationSummary?, details: ConversationDetails?) {
    var summary: ConversationSummary?
    var details: ConversationDetails?
    while nextNumber == number {
      let isDetails = cursor.key.count > KeyEncoding.numberByteCount
      if isDetails {
        details = ConversationDetails(cursor.value)
      } else {
        summary = ConversationSummary(cursor.value)
      }
      if isDetails ? details == nil : summary == nil {
        lose(cursor.lostReason ?? (isDetails ? "these are no details" : "it is no summary"))
      }
      step()
    }
    return (summary, details)
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

  private func lose(_ reason: String) {
    lost.append(
      .init(
        tree: Schema.conversations.rawValue, key: cursor.key.array(), page: cursor.page,
        reason: reason))
  }
}
