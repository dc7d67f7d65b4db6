import PageFile

/// A reader of the receipts that the server has not been told yet.
///
/// See docs/message-format.md, V-6, V-7 and V-9.
///
/// A mark reports everything between the confirmed position and itself, except for two sorts of
/// messages that have an entry each under their names: messages marked by name, and messages that
/// came to lie below the mark after it was made. The key of an entry says from which ordinal on it
/// is due, so that those which are not due yet stand behind all others and cost nothing. A named
/// receipt is due at once, that of a late message from the next mark on.
package struct PendingReceiptReader {
  let view: StoreView

  /// Returns the local member's mark that the server knows.
  @inline(never)
  func told(
    _ kind: ReceiptKind, _ conversation: UInt32, _ summary: ConversationSummary
  ) throws(StoreError) -> MessagePosition? {
    switch kind {
    case .read: return summary.toldMark
    case .delivered:
      guard let localMember = view.localMember else { return nil }
      return try view.receipts.receipts(of: localMember, in: conversation).mark(.delivered)
    }
  }

  /// Returns the range of a mark that the server does not know, or nil if the server knows all of
  /// it.
  @inline(never)
  func pendingRange(
    _ kind: ReceiptKind, _ conversation: UInt32, _ summary: ConversationSummary,
    _ own: ConversationReceipts
  ) throws(StoreError) -> (after: MessagePosition?, upTo: MessagePosition)? {
    guard let mark = kind == .read ? summary.mark : own.deliveredMark else { return nil }
    let after = latest(own.confirmed(kind), try told(kind, conversation, summary))
    if let after, mark <= after { return nil }
    return (after, mark)
  }

  /// Runs `body` on the messages with a named receipt to tell, in the order of their ordinals and
  /// then of the bytes of their names, until it returns false.
  ///
  /// - Parameter limit: The greatest ordinal of a receipt that is wanted.
  package func forEachExact(
    _ kind: ReceiptKind, _ conversation: UInt32, upTo limit: UInt64 = .max,
    _ body: (MessageID, _ ordinal: UInt64) throws(StoreError) -> Bool
  ) throws(StoreError) {
    let prefix = ReceiptKey.exact(conversation, kind)
    try view.forEachCell(with: prefix, in: Schema.conversations) { (key, _) throws(StoreError) in
      guard case .exact(_, _, let id, let ordinal)? = ReceiptKey.parts(key) else {
        throw malformed(conversation)
      }
      return ordinal > limit ? false : try body(id, ordinal)
    }
  }

  private func malformed(_ conversation: UInt32) -> StoreError {
    view.corrupt(Schema.conversations, "conversation \(conversation): malformed named receipt")
  }

  /// Returns the ordinal from which on a message is to be told by name, and the key of the entry
  /// that says so; nil if it has no named receipt.
  ///
  /// Costs a lookup for each ordinal that entries of the conversation have: 0, the next one, and
  /// those of former marks that were never told.
  func exact(
    _ kind: ReceiptKind, _ conversation: UInt32, _ id: MessageID
  ) throws(StoreError) -> (ordinal: UInt64, key: [UInt8])? {
    let prefix = ReceiptKey.exact(conversation, kind)
    var key = ByteBuffer()
    guard try view.firstKey(prefix.bytes, in: Schema.conversations, to: &key) else { return nil }
    guard case .exact(_, _, _, var next)? = ReceiptKey.parts(key.bytes) else {
      throw malformed(conversation)
    }
    var cursor = Cursor(view.source, Schema.conversations)
    while true {
      let wanted = ReceiptKey.exact(conversation, kind, ordinal: next, id)
      try storage { () throws(PageFileError) in _ = try cursor.seek(wanted.bytes) }
      guard cursor.isAtCell, cursor.keyHasPrefix(prefix.bytes) else { return nil }
      if cursor.compareKey(to: wanted.bytes) == 0 { return (next, wanted.bytes.array()) }
      key.removeAll()
      cursor.appendKey(to: &key)
      guard case .exact(_, _, _, let ordinal)? = ReceiptKey.parts(key.bytes), ordinal >= next
      else { throw malformed(conversation) }
      if ordinal == .max { return nil }
      next = max(ordinal, next + 1)
    }
  }

  /// Returns true if there is a named receipt that is due after an ordinal only.
  func hasExact(
    _ kind: ReceiptKind, after ordinal: UInt64, _ conversation: UInt32
  ) throws(StoreError) -> Bool {
    guard ordinal < .max else { return false }
    let behind = ReceiptKey.exact(conversation, kind, ordinal: ordinal + 1)
    let prefix = ReceiptKey.exact(conversation, kind)
    var cursor = Cursor(view.source, Schema.conversations)
    try storage { () throws(PageFileError) in _ = try cursor.seek(behind.bytes) }
    return cursor.isAtCell && cursor.keyHasPrefix(prefix.bytes)
  }

  /// Returns the messages whose named receipts are due.
  @inline(never)
  func dueExact(
    _ kind: ReceiptKind, _ conversation: UInt32, _ summary: ConversationSummary,
    _ own: ConversationReceipts, maximumCount: Int = .max
  ) throws(StoreError) -> [MessageID] {
    let ordinal = kind == .read ? summary.markOrdinal : own.deliveredOrdinal
    var due: [MessageID] = []
    try forEachExact(kind, conversation, upTo: ordinal) { (id, _) throws(StoreError) in
      due.append(id)
      return due.count < maximumCount
    }
    return due
  }

  package func pendingReceipts(
    in id: ConversationID, _ kind: ReceiptKind, as form: PendingReceipt.Form
  ) throws(StoreError) -> [PendingReceipt] {
    try form.validate()
    guard let (number, id) = try view.find(id) else { return [] }
    return try pendingReceipts(
      kind, of: number, id, try view.conversations.summary(number),
      try view.receipts.receipts(number), as: form)
  }

  /// Returns the first receipt to tell, read from a bounded part of the thread.
  ///
  /// If that part has no message to tell, the receipt has no names, but its end is to be confirmed.
  func firstPendingReceipt(
    _ kind: ReceiptKind, of number: UInt32, _ id: ConversationID, _ summary: ConversationSummary,
    _ own: ConversationReceipts, as form: PendingReceipt.Form
  ) throws(StoreError) -> PendingReceipt? {
    try pendingReceipts(
      kind, of: number, id, summary, own, as: form, maximumCount: 1,
      maximumScanCount: Self.maximumReceiptScanCount
    ).first
  }

  func pendingReceipts(
    _ kind: ReceiptKind, of number: UInt32, _ id: ConversationID, _ summary: ConversationSummary,
    _ own: ConversationReceipts, as form: PendingReceipt.Form, maximumCount: Int = .max,
    maximumScanCount: Int = .max
  ) throws(StoreError) -> [PendingReceipt] {
    try form.validate()
    guard own.isListed(kind) else { return [] }
    let range = try pendingRange(kind, number, summary, own)
    var batches = ReceiptBatches(id, kind, form, maximumCount: maximumCount)
    if form == .mark, let range { batches.begin(mark: range) }
    let ordinal = kind == .read ? summary.markOrdinal : own.deliveredOrdinal
    var coveredCount = 0
    try forEachExact(kind, number, upTo: ordinal) { (id, _) throws(StoreError) in
      // The server knows a message by the name in its key.
      let position = try view.ids.position(of: id, in: number)
      if form == .mark, let range, let position, position <= range.upTo {
        coveredCount += 1
        return coveredCount < maximumScanCount
      }
      batches.add(position?.id ?? id)
      return !batches.isFull
    }
    batches.endNames()
    guard form != .mark, let range, !batches.isFull else { return batches.finished }
    batches.begin(range)
    let end = try forEachOfRange(kind, range, number, maximumScanCount: maximumScanCount) {
      (position, _) in
      batches.add(position)
      return !batches.isFull
    }
    batches.end(at: end)
    return batches.finished
  }

  /// Returns true if a receipt is due that the server does not know.
  package func hasUntold(
    _ kind: ReceiptKind, _ conversation: UInt32, _ summary: ConversationSummary,
    _ own: ConversationReceipts
  ) throws(StoreError) -> Bool {
    if try pendingRange(kind, conversation, summary, own) != nil { return true }
    return try !dueExact(kind, conversation, summary, own, maximumCount: 1).isEmpty
  }

  /// Returns the own names of the messages that a range reports.
  func idsOfRange(
    _ kind: ReceiptKind, _ range: (after: MessagePosition?, upTo: MessagePosition),
    in conversation: UInt32
  ) throws(StoreError) -> [MessageID] {
    var ids: [MessageID] = []
    _ = try forEachOfRange(kind, range, conversation) { (position, record) in
      ids.append(record.id(at: position))
      return true
    }
    return ids
  }

  /// The number of messages examined at a time for receipts, which takes some milliseconds.
  static var maximumReceiptScanCount: Int { 10_000 }

  /// Runs `body` on the messages of a range that the range itself reports, until it returns false.
  ///
  /// Messages from the local member, from history, marked by name, and late ones are skipped.
  ///
  /// - Parameter scanCountMax: The maximum number of messages to examine.
  /// - Returns: The position of the last message examined, or the end of the range.
  private func forEachOfRange(
    _ kind: ReceiptKind, _ range: (after: MessagePosition?, upTo: MessagePosition),
    _ conversation: UInt32,
    maximumScanCount: Int = .max, _ body: (MessagePosition, MessageRecord) -> Bool
  ) throws(StoreError) -> MessagePosition {
    var scan = try ThreadScan(view, conversation, after: range.after ?? .start)
    var count = 0
    var last = range.upTo
    while let record = try scan.next() {
      if count == maximumScanCount { return last }
      count += 1
      let position = try scan.position()
      guard position <= range.upTo else { return range.upTo }
      last = position
      if record.sender == view.localMember || record.flags.contains(.history) { continue }
      switch kind {
      case .read:
        if record.marks.contains(.seen) || record.markOrdinal != nil { continue }
      case .delivered:
        let id = record.id(at: position)
        if try exact(kind, conversation, id) != nil { continue }
        if let localMember = view.localMember, record.marks.contains(.receipts) {
          let fact = FactKey.key(conversation, id, .receipt, member: localMember)
          if try view.contains(fact, in: Schema.facts) { continue }
        }
      }
      guard body(position, record) else { return position }
    }
    return range.upTo
  }

  /// Returns the conversations with receipts to tell, in order of their numbers.
  func conversationsWithPendingReceipts(
    _ kind: ReceiptKind, maximumCount: Int
  ) throws(StoreError) -> [ConversationID] {
    let maximumCount = try maximumCount.validatedRequest()
    var found: [ConversationID] = []
    let prefix = PendingKey.prefix(kind)
    try view.forEachCell(with: prefix, in: Schema.index) { (key, _) throws(StoreError) in
      guard let (_, number) = PendingKey.parts(key) else {
        throw view.corrupt(Schema.index, "pending receipts: malformed key")
      }
      found.append(try view.conversations.details(number).id)
      return found.count < maximumCount
    }
    return found
  }
}

extension MessageRecord {
  /// Returns the message's own name.
  @inline(never)
  fileprivate func id(at position: MessagePosition) -> MessageID {
    traits()?.names.first ?? position.id
  }
}

extension PendingReceipt.Form {
  fileprivate func validate() throws(StoreError) {
    guard case .ids(let count) = self else { return }
    try count.validate(.receiptIDs, in: 1...PendingReceipt.maximumIDCount)
  }

  /// The nearest form that can be handed out.
  ///
  /// No option may make handing out throw.
  var clamped: Self {
    guard case .ids(let count) = self else { return self }
    return .ids(maximumCount: min(max(count, 1), PendingReceipt.maximumIDCount))
  }
}

extension StoreView {
  package var pendingReceipts: PendingReceiptReader { PendingReceiptReader(view: self) }
}
