import PageFile

/// A reader of receipts.
package struct ReceiptReader {
  let view: StoreView

  /// Returns the receipts of a member in a conversation.
  @inline(never)
  package func receipts(of member: UInt32, in conversation: UInt32) throws(StoreError)
    -> ReceiptRecord
  {
    let key = ReceiptKey.member(conversation, member)
    return try view.record(key) ?? ReceiptRecord()
  }

  /// Returns the conversation's own side of receipts.
  @inline(never)
  package func receipts(_ conversation: UInt32) throws(StoreError) -> ConversationReceipts {
    let key = ReceiptKey.own(conversation)
    return try view.record(key)
      ?? ConversationReceipts()
  }

  /// Runs `body` on the receipts of each member in a conversation from a number on, in order of
  /// numbers, until it returns false.
  package func forEachReceipts(
    _ conversation: UInt32, from first: UInt32 = 1,
    _ body: (UInt32, ReceiptRecord) throws(StoreError) -> Bool
  ) throws(StoreError) {
    let start = ReceiptKey.member(conversation, max(1, first))
    let prefix = KeyEncoding.numberByteCount + 1
    try view.forEachCell(with: start, sharing: prefix, in: Schema.conversations) {
      (key, value) throws(StoreError) in
      guard case .member(_, let member)? = ReceiptKey.parts(key) else {
        throw view.corrupt(
          Schema.conversations, "receipts: malformed key (\(key.count) bytes)")
      }
      return try body(member, view.decoded(value, at: key))
    }
  }
}

extension StoreView {
  package var receipts: ReceiptReader { ReceiptReader(view: self) }
}

extension ReceiptReader {
  /// Returns the mark that all of some members have reached, and the member that is furthest
  /// behind.
  ///
  /// - Parameter known: A mark that none of them is behind, and the member to begin with. The first
  ///   member found at that mark is furthest behind.
  package func others(
    _ kind: ReceiptKind, _ recipients: Recipients, in conversation: UInt32,
    known: ConversationReceipts.Others?
  ) throws(StoreError) -> ConversationReceipts.Others {
    var lowest: (mark: MessagePosition?, recipient: Recipient)?
    let split = known?.laggard ?? 0
    for (start, end) in [(split, nil), (1, split)] as [(UInt32, UInt32?)] {
      if let end, end <= start { break }
      var walk = try RecipientWalk(view, recipients, of: conversation, from: start, before: end)
      try forEachMark(kind, &walk, in: conversation) { (recipient, mark) in
        if let present = lowest {
          if mark.isBehind(present.mark) { lowest = (mark, recipient) }
        } else {
          lowest = (mark, recipient)
        }
        return !(mark == nil || (known != nil && mark == known?.mark))
      }
      if let lowest, lowest.mark == nil || (known != nil && lowest.mark == known?.mark) { break }
    }
    var others = ConversationReceipts.Others()
    others.mark = lowest?.mark
    others.laggard = lowest?.recipient.number ?? 0
    return others
  }

  /// Runs `body` on the mark of each of some members, until it returns false.
  private func forEachMark(
    _ kind: ReceiptKind, _ walk: inout RecipientWalk, in conversation: UInt32,
    _ body: (Recipient, MessagePosition?) -> Bool
  ) throws(StoreError) {
    guard let first = walk.recipient else { return }
    var isWanted = true
    try forEachReceipts(conversation, from: first.number) { (member, record) throws(StoreError) in
      while isWanted, let next = walk.recipient, next.number <= member {
        let mark = next.number == member ? record.mark(kind) : nil
        isWanted = body(next, next.reached(mark))
        if isWanted { try walk.step() }
      }
      return isWanted && walk.recipient != nil
    }
    while isWanted, let next = walk.recipient {
      isWanted = body(next, next.reached(nil))
      if isWanted { try walk.step() }
    }
  }
}

extension Optional where Wrapped == MessagePosition {
  /// Returns true if this mark lies before another.
  ///
  /// A missing mark lies before all others.
  func isBehind(_ other: MessagePosition?) -> Bool {
    guard let other else { return false }
    return map { $0 < other } ?? true
  }
}
