import PageFile

/// Marks messages as read or delivered by the local member: with marks that cover the messages
/// there at that time, and by name.
///
/// See docs/message-format.md, U-4 … U-8.
struct LocalMarks: TransactionPart {
  let transaction: Transaction

  /// Moves the read mark up to the newest acknowledged message that is not behind a position.
  ///
  /// - Parameter isMessage: True if the position is known to be that of a message.
  /// - Returns: True if anything changed.
  func markRead(
    _ id: ConversationID, upTo limit: MessagePosition?, isMessage: Bool = false
  ) throws(StoreError) -> Bool {
    guard let conversation = try transaction.existingConversation(id) else { return false }
    let isRead = try markRead(conversation, upTo: limit, isMessage: isMessage)
    let isCleared = try transaction.conversationActs.set(
      .markedUnread, \.markedUnreadAt, to: false, of: conversation)
    return isRead || isCleared
  }

  private func markRead(
    _ conversation: OpenConversation, upTo limit: MessagePosition?, isMessage: Bool
  ) throws(StoreError) -> Bool {
    let old = conversation.summary
    guard
      let target = try target(
        upTo: limit, isMessage: isMessage, from: old.mark, in: conversation)
    else {
      return false
    }
    if localMember != nil {
      if target == old.mark && old.unreadCount == 0 { return false }
      if let told = old.toldMark, target <= told { return false }
    }
    var summary = old
    summary.mark = target
    summary.markOrdinal += 1
    summary.counted = try transaction.unreadCounts.countUnread(
      conversation, summary, was: old, after: target)
    // Without a local member it is unknown whether messages came to lie below the mark.
    let isNew = localMember == nil || summary.unreadCount < old.unreadCount
    if target == old.mark && !isNew { return false }
    try checkBelonging(conversation)
    conversation.summary = summary
    var own = try transaction.receipts.own(conversation)
    own.lateFrom = nil
    own.readTimes.join(target, transaction.recordedTime())
    if !isNew && !isToldBehind(old.mark, own.confirmedRead, old.toldMark) {
      own.confirm(.read, upTo: target)
    }
    try transaction.pendingReceipts.updatePending(conversation, with: own, afterMoveOf: .read)
    return true
  }

  /// Marks messages as read by name.
  ///
  /// Returns true if anything changed.
  func markRead(_ ids: [MessageID], in id: ConversationID) throws(StoreError) -> Bool {
    for id in ids { try id.validate() }
    guard let conversation = try transaction.existingConversation(id) else { return false }
    var isChanged = false
    for id in ids {
      guard
        case (let id, let position?)? = try transaction.messageNames.resolve(
          id, in: conversation.number),
        try isUnseenByOther(at: position, in: conversation)
      else { continue }
      if !isChanged { try checkBelonging(conversation) }
      transaction.hasAdded = true
      try transaction.receipts.set(.seen, at: position, conversation)
      try join(.read, transaction.recordedTime(), id, at: position, in: conversation)
      try transaction.receipts.rememberExact(.read, id, from: 0, in: conversation)
      // A read receipt implies that the message was delivered.
      try transaction.receipts.forgetExact(.delivered, id, in: conversation)
      isChanged = true
    }
    if isChanged { try transaction.pendingReceipts.updatePending(conversation) }
    return isChanged
  }

  /// Moves the delivered mark, in the way `markRead` moves the read mark.
  ///
  /// Returns true if anything changed.
  func markDelivered(
    _ id: ConversationID, upTo limit: MessagePosition?, isMessage: Bool = false
  ) throws(StoreError) -> Bool {
    guard let conversation = try transaction.existingConversation(id) else { return false }
    var own = try transaction.receipts.own(conversation)
    let old = own.deliveredMark
    guard
      let target = try target(upTo: limit, isMessage: isMessage, from: old, in: conversation)
    else {
      return false
    }
    let hasLate = try view.pendingReceipts.hasExact(
      .delivered, after: own.deliveredOrdinal, conversation.number)
    guard target != old || hasLate else { return false }
    var isNew = hasLate
    if !isNew {
      isNew = try mayHaveIncoming(after: old ?? .start, upTo: target, in: conversation.number)
    }
    let told = try transaction.receipts.told(.delivered, conversation)
    if !isNew && !isToldBehind(old, own.confirmedDelivered, told) {
      own.confirm(.delivered, upTo: target)
    }
    own.deliveredMark = target
    own.deliveredTimes.join(target, transaction.recordedTime())
    own.deliveredOrdinal += 1
    try transaction.pendingReceipts.updatePending(conversation, with: own, afterMoveOf: .delivered)
    return true
  }

  /// Marks messages as delivered by name.
  ///
  /// Returns true if anything changed.
  func markDelivered(_ ids: [MessageID], in id: ConversationID) throws(StoreError) -> Bool {
    for id in ids { try id.validate() }
    guard let localMember else { return false }
    guard let conversation = try transaction.existingConversation(id) else { return false }
    var isChanged = false
    for id in ids {
      guard
        case (let id, let position?)? = try transaction.messageNames.resolve(
          id, in: conversation.number),
        try !isDelivered(id, position, in: conversation, localMember)
      else { continue }
      transaction.hasAdded = true
      try join(.delivered, transaction.recordedTime(), id, at: position, in: conversation)
      try transaction.receipts.rememberExact(.delivered, id, from: 0, in: conversation)
      isChanged = true
    }
    if isChanged { try transaction.pendingReceipts.updatePending(conversation) }
    return isChanged
  }
}

extension LocalMarks {

  /// Returns the new position of a mark; nil if it would move back, or there is no message to mark.
  private func target(
    upTo limit: MessagePosition?, isMessage: Bool, from mark: MessagePosition?,
    in conversation: OpenConversation
  ) throws(StoreError) -> MessagePosition? {
    let limit = min(limit ?? .firstPending, .firstPending)
    let isForward = !StoreDefect.markGoesBack.isPlanted
    if let mark, limit < mark, isForward { return nil }
    var last: MessagePosition? = limit
    if !isMessage || limit == .firstPending {
      last = try transaction.summaries.knownNewest(in: conversation)
      if last.map({ $0 > limit }) ?? true {
        last = try flushed().messages.lastPosition(upTo: limit, in: conversation.number)
      }
    }
    // The message at the mark may be gone; the mark stays where it is.
    return isForward ? latest(last, mark) : last
  }

  /// Refuses marks in a conversation to which the local member is known never to have belonged.
  ///
  /// One that the local member has left can still be read to its end; nothing is told of that.
  private func checkBelonging(_ conversation: OpenConversation) throws(StoreError) {
    guard let localMember, try transaction.hasLeft(conversation) else { return }
    let details = try view.conversations.details(conversation.number)
    var members = MembershipChange(view, conversation.number, details.roster)
    if try members.member(localMember) != nil { return }
    throw .conversation(.notAMember, details.id)
  }

  /// Returns true if the server does not know a mark yet.
  func isToldBehind(
    _ mark: MessagePosition?, _ confirmed: MessagePosition?, _ told: MessagePosition?
  ) -> Bool {
    guard let mark else { return false }
    return latest(confirmed, told).map { $0 < mark } ?? true
  }

  /// Notes the time at which the local member read or received a message marked by name.
  private func join(
    _ kind: ReceiptKind, _ time: Int64, _ id: MessageID, at position: MessagePosition,
    in conversation: OpenConversation
  ) throws(StoreError) {
    guard let localMember else { return }
    if try transaction.receipts.join(kind, id, time, of: localMember, in: conversation) {
      try transaction.receipts.set(.receipts, at: position, conversation)
    }
  }

  /// Returns true if a message is by another member and unseen.
  private func isUnseenByOther(
    at position: MessagePosition, in conversation: OpenConversation
  ) throws(StoreError) -> Bool {
    var scan = try ThreadScan(flushed(), conversation.number, from: position)
    guard let record = try scan.next(), try scan.position() == position else {
      throw view.corrupt(Schema.ids, "message \"\(position.id)\": not at its place")
    }
    return record.sender != localMember
      && conversation.summary.isUnseen(record, at: position)
  }

  /// Returns true if a message needs no delivery receipt: it is the local member's own, came as
  /// history, or was marked before.
  private func isDelivered(
    _ id: MessageID, _ position: MessagePosition, in conversation: OpenConversation,
    _ member: UInt32
  ) throws(StoreError) -> Bool {
    var scan = try ThreadScan(flushed(), conversation.number, from: position)
    guard let record = try scan.next(), try scan.position() == position else {
      throw view.corrupt(Schema.ids, "message \"\(position.id)\": not at its place")
    }
    if record.sender == member || record.flags.contains(.history) { return true }
    if let told = try transaction.receipts.told(.delivered, conversation), position <= told {
      return true
    }
    let exact = FactKey.key(conversation.number, id, .receipt, member: member)
    if try view.contains(exact, in: Schema.facts) { return true }
    let own = try transaction.receipts.own(conversation)
    guard let mark = own.deliveredMark, position <= mark else { return false }
    let first = try transaction.receipts.firstOrdinal(.delivered, id, in: conversation.number)
    return first.map { $0 <= own.deliveredOrdinal } ?? true
  }

  /// Returns true if a live message of another member may lie behind one position and not behind
  /// another.
  ///
  /// After a bounded number of other messages the answer is true. Then the server may be told of a
  /// mark that it did not need, which costs less than reading a thread from its beginning.
  private func mayHaveIncoming(
    after start: MessagePosition, upTo end: MessagePosition, in conversation: UInt32
  ) throws(StoreError) -> Bool {
    var scan = try ThreadScan(flushed(), conversation, after: start)
    for _ in 0..<PendingReceiptReader.maximumReceiptScanCount {
      guard let record = try scan.next(), try scan.position() <= end else { return false }
      if record.sender != localMember, !record.flags.contains(.history) { return true }
    }
    return true
  }
}

extension Transaction {
  var localMarks: LocalMarks { LocalMarks(transaction: self) }
}

extension LocalMarks {
  func position(
    of id: MessageID, in conversation: ConversationID
  ) throws(StoreError) -> MessagePosition? {
    guard let conversation = try transaction.existingConversation(conversation) else {
      return Optional<MessagePosition>.none
    }
    return try view.ids.position(of: id, in: conversation.number)
  }
}
