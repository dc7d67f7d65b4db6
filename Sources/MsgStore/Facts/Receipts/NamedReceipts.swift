import PageFile

/// Keeps the named receipts of the local member: the messages that the server is told about by
/// name, because no range of a receipt mark covers them.
///
/// See docs/message-format.md, V-7.
extension Receipts {
  /// Notes that a message came live to a place at or below a mark made here, or was moved there
  /// unseen.
  ///
  /// The message is not covered until that mark is made again. Called for every message that comes
  /// live or moves, once it is at its place, and for one that came as history when it comes live.
  func noteLate(
    _ record: StoredMessage, at position: MessagePosition, in conversation: OpenConversation
  ) throws(StoreError) {
    guard !position.place.isPending, record.sender != localMember,
      !record.flags.contains(.history), try isMarked(position, in: conversation)
    else { return }
    let summary = conversation.summary
    var own = try transaction.receipts.own(conversation)
    if let mark = summary.mark, position <= mark, summary.isUnseenHere(record, at: position) {
      if summary.isUnseen(record, at: position) {
        try rememberExact(
          .read, record.id(at: position), from: summary.markOrdinal + 1, in: conversation)
      }
      if own.lateFrom.map({ position < $0 }) ?? true {
        own.lateFrom = position
        keepOwn(own, conversation)
      }
    }
    if let mark = own.deliveredMark, position <= mark {
      if let told = try told(.delivered, conversation), position <= told {
        return
      }
      if record.marks.contains(.receipts), let localMember {
        let fact = FactKey.key(
          conversation.number, record.id(at: position), .receipt, member: localMember)
        if try view.contains(fact, in: Schema.facts) { return }
      }
      try rememberExact(
        .delivered, record.id(at: position), from: own.deliveredOrdinal + 1, in: conversation)
    }
  }

  /// Returns true if a place lies at or below one of the marks made here.
  func isMarked(
    _ position: MessagePosition, in conversation: OpenConversation
  ) throws(StoreError) -> Bool {
    if let mark = conversation.summary.mark, position <= mark { return true }
    try readOwn(of: conversation)
    if let mark = conversation.receipts?.deliveredMark, position <= mark { return true }
    return false
  }

  /// Removes the named receipts of a message that goes before it was read or delivered here.
  @inline(never)
  func forgetLate(_ id: MessageID, in conversation: OpenConversation) throws(StoreError) {
    let own = try transaction.receipts.own(conversation)
    for kind in ReceiptKind.allCases {
      let present = kind == .read ? conversation.summary.markOrdinal : own.deliveredOrdinal
      guard let first = try firstOrdinal(kind, id, in: conversation.number), first > present else {
        continue
      }
      try forgetExact(kind, id, in: conversation)
    }
  }

  /// Enters a named receipt, to be told from an ordinal on.
  ///
  /// A receipt that is already due stays due.
  @inline(never)
  package func rememberExact(
    _ kind: ReceiptKind, _ id: MessageID, from ordinal: UInt64, in conversation: OpenConversation
  ) throws(StoreError) {
    if let known = try firstOrdinal(kind, id, in: conversation.number) {
      if known <= ordinal { return }
      try forgetExact(kind, id, in: conversation)
    }
    let key = ReceiptKey.exact(conversation.number, kind, ordinal: ordinal, id)
    try transaction.insert(key, in: Schema.conversations)
  }

  /// Moves the named receipts of a message to its new own name.
  func moveExact(
    of id: MessageID, to other: MessageID, in conversation: OpenConversation
  ) throws(StoreError) {
    for kind in ReceiptKind.allCases {
      guard let ordinal = try firstOrdinal(kind, id, in: conversation.number) else { continue }
      try rememberExact(kind, other, from: ordinal, in: conversation)
      try forgetExact(kind, id, in: conversation)
    }
  }

  /// Removes a named receipt.
  ///
  /// Returns false if there was none to remove.
  @discardableResult
  @inline(never)
  func forgetExact(
    _ kind: ReceiptKind, _ id: MessageID, in conversation: OpenConversation
  ) throws(StoreError) -> Bool {
    guard let known = try view.pendingReceipts.exact(kind, conversation.number, id) else {
      return false
    }
    try Bytes.with(known.key) { (key) throws(StoreError) in
      try transaction.remove(key, in: Schema.conversations)
    }
    return true
  }

  /// Returns the ordinal from which on a message is to be told by name; nil if it has no named
  /// receipt.
  func firstOrdinal(
    _ kind: ReceiptKind, _ id: MessageID, in conversation: UInt32
  ) throws(StoreError) -> UInt64? {
    try view.pendingReceipts.exact(kind, conversation, id)?.ordinal
  }
}
