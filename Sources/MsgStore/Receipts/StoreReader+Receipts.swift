import PageFile

/// Reading receipts.
struct ReceiptReader {
  let view: StoreView

  init(_ view: StoreView) { self.view = view }

  /// What is known of a member's receipts in a conversation.
  func receipts(of member: UInt32, in conversation: UInt32) throws(StoreError) -> ReceiptRecord {
    let key = ReceiptKey.member(conversation, member)
    var value = ByteBuffer()
    guard try view.value(of: key.bytes, in: Schema.receipts, appendTo: &value) else {
      return ReceiptRecord()
    }
    guard let record = ReceiptRecord(value.bytes) else {
      throw view.corrupt(
        Schema.receipts, "member \(member) has no record in conversation \(conversation)")
    }
    return record
  }

  /// The conversation's own side of receipts.
  func receipts(_ conversation: UInt32) throws(StoreError) -> ConversationReceipts {
    let key = ReceiptKey.own(conversation)
    var value = ByteBuffer()
    guard try view.value(of: key.bytes, in: Schema.receipts, appendTo: &value) else {
      return ConversationReceipts()
    }
    guard let record = ConversationReceipts(value.bytes) else {
      throw view.corrupt(Schema.receipts, "conversation \(conversation) has no record of its own")
    }
    return record
  }

  /// Runs `body` on the receipts of each member in a conversation from one number on, by number,
  /// until it returns false.
  func forEachReceipts(
    _ conversation: UInt32, from first: UInt32 = 1,
    _ body: (UInt32, ReceiptRecord) throws(StoreError) -> Bool
  ) throws(StoreError) {
    var cursor = Cursor(view.source, Schema.receipts)
    let start = ReceiptKey.member(conversation, max(1, first))
    let prefix = start.bytes.slice(0, KeyEncoding.numberByteCount)
    var key = ByteBuffer()
    var value = ByteBuffer()
    try storage { () throws(PageFileError) in _ = try cursor.seek(start.bytes) }
    while cursor.isAtCell, cursor.keyHasPrefix(prefix) {
      key.removeAll()
      value.removeAll()
      cursor.appendKey(to: &key)
      try view.append(cursor, to: &value)
      guard key.count == ReceiptKey.memberByteCount, let member = key.bytes.bigEndianNumber(at: 4),
        let record = ReceiptRecord(value.bytes)
      else {
        throw view.corrupt(Schema.receipts, "conversation \(conversation) has what is no receipts")
      }
      guard try body(member, record) else { return }
      try storage { () throws(PageFileError) in _ = try cursor.next() }
    }
  }
}

extension StoreView {
  var receipts: ReceiptReader { ReceiptReader(self) }
}
