import PageFile

/// Reading receipts.
extension StoreReader {
  /// What is known of a member's receipts in a conversation.
  func receipts(of member: UInt32, in conversation: UInt32) throws(StoreError) -> ReceiptRecord {
    let key = ReceiptKey.member(conversation, member)
    var value = ByteBuffer()
    guard try self.value(of: key.bytes, in: Schema.receipts, appendTo: &value) else {
      return ReceiptRecord()
    }
    guard let record = ReceiptRecord(value.bytes) else {
      throw corrupt(
        Schema.receipts, "member \(member) has no record in conversation \(conversation)")
    }
    return record
  }

  /// The conversation's own side of receipts.
  func receipts(_ conversation: UInt32) throws(StoreError) -> ConversationReceipts {
    let key = ReceiptKey.own(conversation)
    var value = ByteBuffer()
    guard try self.value(of: key.bytes, in: Schema.receipts, appendTo: &value) else {
      return ConversationReceipts()
    }
    guard let record = ConversationReceipts(value.bytes) else {
      throw corrupt(Schema.receipts, "conversation \(conversation) has no record of its own")
    }
    return record
  }

  /// Runs `body` on the receipts of each member in a conversation from one number on, by number,
  /// until it returns false.
  func forEachReceipts(
    _ conversation: UInt32, from first: UInt32 = 1,
    _ body: (UInt32, ReceiptRecord) throws(StoreError) -> Bool
  ) throws(StoreError) {
    var cursor = Cursor(source, Schema.receipts)
    let start = ReceiptKey.member(conversation, max(1, first))
    let prefix = start.bytes.slice(0, KeyEncoding.numberByteCount)
    var key = ByteBuffer()
    var value = ByteBuffer()
    try storage { () throws(PageFileError) in _ = try cursor.seek(start.bytes) }
    while cursor.isAtCell, cursor.keyHasPrefix(prefix) {
      key.removeAll()
      value.removeAll()
      cursor.appendKey(to: &key)
      try append(cursor, to: &value)
      guard key.count == ReceiptKey.memberByteCount, let member = key.bytes.bigEndianNumber(at: 4),
        let record = ReceiptRecord(value.bytes)
      else {
        throw corrupt(Schema.receipts, "conversation \(conversation) has what is no receipts")
      }
      guard try body(member, record) else { return }
      try storage { () throws(PageFileError) in _ = try cursor.next() }
    }
  }

  /// The receipts of members for exactly one message.
  func exactReceipts(
    of id: MessageID, in conversation: UInt32
  ) throws(StoreError) -> [(member: UInt32, receipt: ExactReceipt)] {
    var found: [(member: UInt32, receipt: ExactReceipt)] = []
    let prefix = FactKey.prefix(conversation, id, .receipt)
    try forEachCell(with: prefix, in: Schema.facts) { (key, value) throws(StoreError) in
      guard key.count == prefix.count + 4, let member = key.bigEndianNumber(at: prefix.count),
        let receipt = ExactReceipt(value)
      else { throw corrupt(Schema.facts, "message \"\(id)\" has what is no receipt") }
      found.append((member, receipt))
      return true
    }
    return found
  }

  func contains(_ key: Bytes, in tree: TreeNumber) throws(StoreError) -> Bool {
    do throws(PageFileError) {
      return try BTree(source, tree).contains(key)
    } catch {
      throw .storage(error)
    }
  }

  /// Runs `body` on every cell whose key begins with some bytes, until it returns false.
  ///
  /// The bytes live as long as the call; nothing may be changed meanwhile.
  func forEachCell(
    with prefix: borrowing ByteBuffer, in tree: TreeNumber,
    _ body: (_ key: Bytes, _ value: Bytes) throws(StoreError) -> Bool
  ) throws(StoreError) {
    var cursor = Cursor(source, tree)
    var key = ByteBuffer()
    var value = ByteBuffer()
    do throws(PageFileError) {
      _ = try cursor.seek(prefix.bytes)
    } catch {
      throw .storage(error)
    }
    while cursor.isAtCell, cursor.keyHasPrefix(prefix.bytes) {
      key.removeAll()
      value.removeAll()
      cursor.appendKey(to: &key)
      try append(cursor, to: &value)
      guard try body(key.bytes, value.bytes) else { return }
      try storage { () throws(PageFileError) in _ = try cursor.next() }
    }
  }
}

/// Where the unread messages of a conversation begin.
extension StoreReader {
  /// A place that no unread message lies before; nil: any may.
  func unreadStart(
    _ conversation: UInt32, _ summary: ConversationSummary
  ) throws(StoreError) -> Position? {
    guard let seen = summary.seenUpTo else { return nil }
    guard let mark = summary.mark, summary.toldMark.map({ $0 < mark }) ?? true,
      let late = try receipts(conversation).lateFrom, late < seen
    else { return seen }
    return latest(late, summary.toldMark)
  }

  /// The place of the first unread message; nil where there is none.
  ///
  /// The messages from the marks on and those from the end back are gone through by turns: from the
  /// end it is the last one of as many as are unread.
  func firstUnread(
    _ conversation: UInt32, _ summary: ConversationSummary
  ) throws(StoreError) -> Position? {
    guard localMember != nil, summary.unreadCount > 0 else { return nil }
    let start = try unreadStart(conversation, summary)
    var forward = try ThreadScan(self, conversation, from: start ?? .start)
    var backward = try ThreadScan(self, conversation, after: .end)
    var remaining = summary.unreadCount
    while true {
      guard let record = try forward.next(), case let position = try forward.position() else {
        return nil
      }
      if unreadCount(record, at: position, summary).messages > 0 { return position }
      guard let record = try backward.previous(), case let position = try backward.position()
      else { continue }
      remaining -= unreadCount(record, at: position, summary).messages
      if remaining == 0 { return position }
    }
  }
}
