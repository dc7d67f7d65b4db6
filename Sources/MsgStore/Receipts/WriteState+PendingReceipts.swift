import PageFile

/// Keeping what still has to go to the server, and the list of conversations where something has.
///
/// See docs/message-format.md, V-6, V-7 and V-9.
extension WriteState {
  /// Takes note that the server has what was handed out.
  ///
  /// Returns whether anything changed.
  func confirm(_ pending: PendingReceipt) throws(StoreError) -> Bool {
    try change { () throws(StoreError) in
      guard let conversation = try existingConversation(pending.conversation) else {
        return false
      }
      let number = conversation.number
      var isChanged = false
      for given in pending.ids {
        // The server was told the names in the keys.
        let id = try resolve(given, in: number)?.id ?? given
        var isTold = try forgetExact(pending.kind, id, in: conversation)
        if id != given, try forgetExact(pending.kind, given, in: conversation) { isTold = true }
        guard isTold else { continue }
        isChanged = true
        if pending.kind == .delivered { try keepOutOfRange(id, in: conversation) }
      }
      if let upTo = pending.upTo, try confirm(pending, upTo: upTo, in: conversation) {
        isChanged = true
      }
      if isChanged {
        hasAdded = true
        try updatePending(try self.conversation(number))
      }
      return isChanged
    }
  }

  /// Notes that a message was told by its name, which lies in a range that was not: without its entry
  /// it would be told again with that.
  ///
  /// Of messages that were read their records say it.
  private func keepOutOfRange(
    _ id: MessageID, in conversation: OpenConversation
  ) throws(StoreError) {
    let number = conversation.number
    guard let localMember, let position = try reader.position(of: id, in: number),
      let range = try reader.pendingRange(
        .delivered, number, conversation.summary, try receipts(conversation)),
      position <= range.upTo, range.after.map({ $0 < position }) ?? true,
      try join(.delivered, id, nil, of: localMember, in: conversation)
    else { return }
    try set(.receipts, at: position, conversation)
  }

  /// Moves on what was confirmed.
  ///
  /// Messages that lie between it and the range are told by their names from now on: they belong to
  /// another batch, which is on its way or was lost.
  private func confirm(
    _ pending: PendingReceipt, upTo: Position, in conversation: OpenConversation
  ) throws(StoreError) -> Bool {
    let kind = pending.kind
    var own = try receipts(conversation)
    let confirmed = latest(own.confirmed(kind), try told(kind, conversation))
    if pending.isMark {
      let due = try reader.dueExact(kind, conversation.number, conversation.summary, own)
      for id in due {
        guard let position = try reader.position(of: id, in: conversation.number),
          position <= upTo,
          pending.after.map({ $0 < position }) ?? true
        else { continue }
        try forgetExact(kind, id, in: conversation)
      }
    }
    if let confirmed, upTo <= confirmed { return false }
    if !pending.isMark, let after = pending.after, confirmed.map({ $0 < after }) ?? true {
      let gap = try reader.idsOfRange(
        kind, (after: confirmed, upTo: after), in: conversation.number)
      for id in gap { try rememberExact(kind, id, from: 0, in: conversation) }
    }
    own.confirm(kind, upTo: upTo)
    try writeOwn(own, conversation)
    return true
  }

  /// Puts a conversation into the list of those with something to tell, or takes it out.
  ///
  /// Who takes part is looked up for one that is not in it yet, or when that has changed.
  func updatePending(
    _ conversation: OpenConversation, isMembershipNew: Bool = false
  ) throws(StoreError) {
    var own = try receipts(conversation)
    let before = own
    for kind in ReceiptKind.allCases {
      var isPending = try reader.hasUntold(
        kind, conversation.number, conversation.summary, own)
      if isPending, isMembershipNew || !own.isListed(kind) {
        let hasLeft = try reader.details(conversation.number).hasLeft
        isPending = !hasLeft || StoreDefect.leftOnesTold.isPlanted
      }
      try enterReceipt(kind, isPending: isPending, in: conversation.number)
      guard isPending != own.isListed(kind) else { continue }
      if !isPending, StoreDefect.untoldKept.isPlanted { continue }
      let key = ReceiptKey.pending(kind, conversation.number)
      if isPending {
        try insert(key.bytes, .empty, in: Schema.receipts)
      } else {
        try remove(key.bytes, in: Schema.receipts)
      }
      own.setListed(kind, isPending)
    }
    if own != before { try writeOwn(own, conversation) }
    for kind in ReceiptKind.allCases where own.isListed(kind) {
      try renewReceipt(kind, own, in: conversation)
    }
  }

  /// Forgets the messages to be told by their names that the server's own mark covers.
  func forgetTold(_ kind: ReceiptKind, in conversation: OpenConversation) throws(StoreError) {
    guard let told = try told(kind, conversation) else { return }
    var covered: [MessageID] = []
    try reader.forEachExact(kind, conversation.number) { (id, _) throws(StoreError) in
      if let position = try reader.position(of: id, in: conversation.number), position <= told {
        covered.append(id)
      }
      return true
    }
    for id in covered { try forgetExact(kind, id, in: conversation) }
  }

  /// Takes a conversation that goes out of the list, without looking at what it has.
  func forgetPending(_ conversation: OpenConversation) throws(StoreError) {
    var own = try receipts(conversation)
    for kind in ReceiptKind.allCases where own.isListed(kind) {
      let key = ReceiptKey.pending(kind, conversation.number)
      try remove(key.bytes, in: Schema.receipts)
      own.setListed(kind, false)
      try writeOwn(own, conversation)
      try enterReceipt(kind, isPending: false, in: conversation.number)
    }
  }

  /// Forgets a message that goes before it was read or delivered here.
  func forgetLate(_ id: MessageID, in conversation: OpenConversation) throws(StoreError) {
    let own = try receipts(conversation)
    for kind in ReceiptKind.allCases {
      let present = kind == .read ? conversation.summary.markOrdinal : own.deliveredOrdinal
      guard let first = try firstOrdinal(kind, id, in: conversation.number), first > present else {
        continue
      }
      try forgetExact(kind, id, in: conversation)
    }
  }

  /// Remembers a message to be told by its name, from an ordinal on.
  ///
  /// What is due already stays due.
  func rememberExact(
    _ kind: ReceiptKind, _ id: MessageID, from ordinal: UInt64, in conversation: OpenConversation
  ) throws(StoreError) {
    if let known = try firstOrdinal(kind, id, in: conversation.number), known <= ordinal {
      return
    }
    let key = ReceiptKey.exact(conversation.number, kind, id)
    var value = ByteBuffer()
    value.append(varint: ordinal)
    try insert(key.bytes, value.bytes, in: Schema.receipts)
  }

  /// Has what is to be told of a message lie under what is its own name now.
  func moveExact(
    of id: MessageID, to other: MessageID, in conversation: OpenConversation
  ) throws(StoreError) {
    for kind in ReceiptKind.allCases {
      guard let ordinal = try firstOrdinal(kind, id, in: conversation.number) else { continue }
      try rememberExact(kind, other, from: ordinal, in: conversation)
      try forgetExact(kind, id, in: conversation)
    }
  }

  /// Returns whether there was anything to forget.
  @discardableResult
  func forgetExact(
    _ kind: ReceiptKind, _ id: MessageID, in conversation: OpenConversation
  ) throws(StoreError) -> Bool {
    guard try firstOrdinal(kind, id, in: conversation.number) != nil else { return false }
    let key = ReceiptKey.exact(conversation.number, kind, id)
    try remove(key.bytes, in: Schema.receipts)
    return true
  }

  /// From which ordinal on a message is to be told by its name; nil when it is not.
  func firstOrdinal(
    _ kind: ReceiptKind, _ id: MessageID, in conversation: UInt32
  ) throws(StoreError) -> UInt64? {
    let key = ReceiptKey.exact(conversation, kind, id)
    var value = ByteBuffer()
    guard try reader.value(of: key.bytes, in: Schema.receipts, appendTo: &value) else {
      return nil
    }
    var bytes = ByteReader(value.bytes)
    guard let ordinal = bytes.varint(), bytes.isAtEnd else {
      throw reader.corrupt(Schema.receipts, "message \"\(id)\" has no ordinal")
    }
    return ordinal
  }

  func hasExact(
    _ kind: ReceiptKind, _ conversation: UInt32, where isWanted: (UInt64) -> Bool
  ) throws(StoreError) -> Bool {
    var isFound = false
    try reader.forEachExact(kind, conversation) { (_, ordinal) throws(StoreError) in
      isFound = isWanted(ordinal)
      return !isFound
    }
    return isFound
  }
}
