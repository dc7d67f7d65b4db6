import MsgStore
import PageFile

/// The remains of the receipts tree, read conversation by conversation.
final class SalvagedReceipts {
  private let cursor: SalvageCursor
  /// Records that could not be read.
  private(set) var lost = LostRecords()

  init(_ source: PageSalvage) { cursor = source.cursor(Schema.receipts) }

  /// The remaining receipts of one conversation.
  struct Found {
    var own = ConversationReceipts()
    var members: [(member: UInt32, record: ReceiptRecord)] = []
    /// The messages with pending named receipts, and the ordinals from which these count.
    var exact: [(kind: ReceiptKind, message: MessageID, first: UInt64)] = []
  }

  func receipts(of conversation: UInt32) -> Found {
    var found = Found()
    let prefix = KeyEncoding.key(conversation)
    cursor.seek(prefix.bytes)
    while cursor.next(), cursor.key.hasPrefix(prefix.bytes) {
      if let reason = cursor.lostReason {
        lost.add(cursor, Schema.receipts, reason)
      } else if !take(&found) {
        lost.add(cursor, Schema.receipts, "malformed receipt record")
      }
    }
    return found
  }

  private func take(_ found: inout Found) -> Bool {
    switch ReceiptKey.parts(cursor.key) {
    case .own?:
      guard let own = ConversationReceipts(cursor.value) else { return false }
      found.own = own
    case .member(_, let member)?:
      guard let record = ReceiptRecord(cursor.value) else { return false }
      found.members.append((member, record))
    case .exact(_, let kind, let message, let ordinal)?:
      found.exact.append((kind, message, ordinal))
    case .pending?, nil:
      return false
    }
    return true
  }
}
