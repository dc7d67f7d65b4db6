import PageFile

/// Keeps the receipts that still have to be told to the server, and the list of conversations that
/// have any.
///
/// See docs/message-format.md, V-6, V-7 and V-9.
package struct PendingReceipts: TransactionPart {
  package let transaction: Transaction

  /// Notes that the server has the receipts that were handed out.
  ///
  /// Returns true if anything changed.
  func confirm(_ pending: PendingReceipt) throws(StoreError) -> Bool {
    guard let conversation = try transaction.existingConversation(pending.conversation) else {
      return false
    }
    let number = conversation.number
    var isChanged = false
    for given in pending.ids {
      // The server was told the names in the keys.
      let id = try transaction.messageNames.resolve(given, in: number)?.id ?? given
      var isTold = try transaction.receipts.forgetExact(pending.kind, id, in: conversation)
      if id != given,
        try transaction.receipts.forgetExact(pending.kind, given, in: conversation)
      {
        isTold = true
      }
      guard isTold else { continue }
      isChanged = true
      if pending.kind == .delivered { try keepOutOfRange(id, in: conversation) }
    }
    if let upTo = pending.upTo, try confirm(pending, upTo: upTo, in: conversation) {
      isChanged = true
    }
    if isChanged {
      transaction.hasAdded = true
      try updatePending(try transaction.conversation(number))
    }
    return isChanged
  }

  /// Notes that a message told by its name lies in a range that was not told yet.
  ///
  /// Without this entry it would be told again with the range.
  ///
  /// For reading, the message's record already says so.
  private func keepOutOfRange(
    _ id: MessageID, in conversation: OpenConversation
  ) throws(StoreError) {
    let number = conversation.number
    guard let localMember, let position = try view.ids.position(of: id, in: number),
      let range = try flushed().pendingReceipts.pendingRange(
        .delivered, number, conversation.summary, try transaction.receipts.own(conversation)
      ),
      position <= range.upTo, range.after.map({ $0 < position }) ?? true,
      try transaction.receipts.join(.delivered, id, nil, of: localMember, in: conversation)
    else { return }
    try transaction.receipts.set(.receipts, at: position, conversation)
  }

  /// Moves the confirmed position forward.
  ///
  /// Messages between the previous position and the range are told by their names from now on: they
  /// belong to another batch, which is on its way or was lost.
  ///
  /// An answer that comes late and tells nothing new settles no names either: they may have been
  /// marked since the receipt was handed out.
  private func confirm(
    _ pending: PendingReceipt, upTo: MessagePosition, in conversation: OpenConversation
  ) throws(StoreError) -> Bool {
    let kind = pending.kind
    var own = try transaction.receipts.own(conversation)
    let confirmed = latest(
      own.confirmed(kind), try transaction.receipts.told(kind, conversation))
    if let confirmed, upTo <= confirmed { return false }
    if pending.isMark {
      let due = try flushed().pendingReceipts.dueExact(
        kind, conversation.number, conversation.summary, own)
      for id in due {
        guard let position = try view.ids.position(of: id, in: conversation.number),
          position <= upTo,
          pending.after.map({ $0 < position }) ?? true
        else { continue }
        try transaction.receipts.forgetExact(kind, id, in: conversation)
      }
    }
    if !pending.isMark, let after = pending.after, confirmed.map({ $0 < after }) ?? true {
      let gap = try flushed().pendingReceipts.idsOfRange(
        kind, (after: confirmed, upTo: after), in: conversation.number)
      for id in gap {
        try transaction.receipts.rememberExact(kind, id, from: 0, in: conversation)
      }
    }
    own.confirm(kind, upTo: upTo)
    transaction.receipts.keepOwn(own, conversation)
    return true
  }

  /// Adds a conversation to the list of those with something to tell, or removes it from the list.
  ///
  /// Membership is looked up only for a conversation not yet in the list, or when it has changed.
  ///
  /// - Parameters:
  ///   - changed: The local member's side of the receipts, changed and not written yet; nil if it
  ///     has not changed.
  ///   - mark: The kind of which nothing but the mark made here has moved; nil if more may have
  ///     changed.
  package func updatePending(
    _ conversation: OpenConversation, with changed: ConversationReceipts? = nil,
    isMembershipNew: Bool = false, afterMoveOf mark: ReceiptKind? = nil
  ) throws(StoreError) {
    let before = try transaction.receipts.own(conversation)
    var own = changed ?? before
    var isListingNew = false
    for kind in ReceiptKind.allCases {
      // The mark of the other kind stands where it did: what is listed of it stays so.
      let isSame = mark.map { $0 != kind } ?? false
      if isSame, !own.isListed(kind) { continue }
      var isPending = isSame
      if !isSame {
        isPending = try view.pendingReceipts.hasUntold(
          kind, conversation.number, conversation.summary, own)
      }
      if isPending, isMembershipNew || !own.isListed(kind) {
        isPending =
          try !transaction.hasLeft(conversation) || StoreDefect.leftOnesTold.isPlanted
      }
      try emit(kind, isPending: isPending, in: conversation)
      guard isPending != own.isListed(kind) else { continue }
      if !isPending, StoreDefect.untoldKept.isPlanted { continue }
      own.setListed(kind, isPending)
      isListingNew = true
    }
    if isListingNew {
      try transaction.update(
        PendingKey.self, from: (conversation.number, before), to: (conversation.number, own))
    }
    if own != before { transaction.receipts.keepOwn(own, conversation) }
  }

  private func emit(
    _ kind: ReceiptKind, isPending: Bool, in conversation: OpenConversation
  ) throws(StoreError) {
    let effect = Effect.receipts(kind, in: conversation.number, isPending: isPending)
    if isPending {
      try transaction.emit(entering: effect)
    } else {
      try transaction.emit(effect)
    }
  }

  /// Removes the named receipts that the server's own mark covers.
  func forgetTold(_ kind: ReceiptKind, in conversation: OpenConversation) throws(StoreError) {
    guard let told = try transaction.receipts.told(kind, conversation) else { return }
    var covered: [MessageID] = []
    try view.pendingReceipts.forEachExact(kind, conversation.number) {
      (id, _) throws(StoreError) in
      if let position = try view.ids.position(of: id, in: conversation.number),
        position <= told
      {
        covered.append(id)
      }
      return true
    }
    for id in covered { try transaction.receipts.forgetExact(kind, id, in: conversation) }
  }

  /// Removes the named receipts of a message that has moved to a place where they tell nothing:
  /// below the mark that the server knows, or above the mark for whose next move they wait.
  func settleMoved(
    _ record: StoredMessage, at position: MessagePosition, in conversation: OpenConversation
  ) throws(StoreError) {
    guard !position.place.isPending, record.sender != localMember else { return }
    let id = record.id(at: position)
    let own = try transaction.receipts.own(conversation)
    var isChanged = false
    for kind in ReceiptKind.allCases {
      guard
        let ordinal = try transaction.receipts.firstOrdinal(kind, id, in: conversation.number)
      else { continue }
      let told = try transaction.receipts.told(kind, conversation)
      let isTold = told.map { position <= $0 } ?? false
      let mark = kind == .read ? conversation.summary.mark : own.deliveredMark
      let present = kind == .read ? conversation.summary.markOrdinal : own.deliveredOrdinal
      let isUnmarked = ordinal > present && mark.map { $0 < position } ?? true
      guard isTold || isUnmarked else { continue }
      try transaction.receipts.forgetExact(kind, id, in: conversation)
      isChanged = true
    }
    if isChanged { try updatePending(conversation) }
  }

  /// Removes a conversation that goes from the list, without looking at its receipts.
  func forgetPending(_ conversation: OpenConversation) throws(StoreError) {
    let before = try transaction.receipts.own(conversation)
    var own = before
    for kind in ReceiptKind.allCases where own.isListed(kind) {
      own.setListed(kind, false)
      try emit(kind, isPending: false, in: conversation)
    }
    guard own != before else { return }
    try transaction.update(PendingKey.self, from: (conversation.number, before), to: nil)
    transaction.receipts.keepOwn(own, conversation)
  }
}

extension Transaction {
  package var pendingReceipts: PendingReceipts { PendingReceipts(transaction: self) }
}
