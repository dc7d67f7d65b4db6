package import PageFile

/// Keys of conversations with receipts that the server has not been told.
///
///     0 (4), 0x08, kind of receipts (1), number of the conversation (4)
package enum PendingKey: RecordIndex {
  package typealias Record = (conversation: UInt32, own: ConversationReceipts)
  package static let isCounted = false

  /// Returns the common prefix of the keys of one kind of receipts.
  package static func prefix(_ kind: ReceiptKind) -> ByteBuffer {
    KeyEncoding.key(KeyEncoding.allConversations, .pendingReceipts).appending(kind.rawValue)
  }

  package static func key(_ kind: ReceiptKind, _ conversation: UInt32) -> ByteBuffer {
    prefix(kind).appending(conversation)
  }

  package static func forEachKey(
    of record: Record, _ body: (borrowing ByteBuffer) throws(StoreError) -> Void
  ) throws(StoreError) {
    for kind in ReceiptKind.allCases where record.own.isListed(kind) {
      try body(key(kind, record.conversation))
    }
  }

  /// Returns the parts of a key, or nil if it is malformed.
  package static func parts(_ key: Bytes) -> (kind: ReceiptKind, conversation: UInt32)? {
    guard key.indexKind == .pendingReceipts, case let rest = key.indexRest, rest.count == 5,
      let kind = ReceiptKind(rawValue: rest[0]), let conversation = rest.bigEndianNumber(at: 1)
    else { return nil }
    return (kind, conversation)
  }
}
