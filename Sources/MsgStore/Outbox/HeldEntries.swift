import PageFile

/// Entries made for work that was not in the outbox; held, so that somebody decides about them.
package struct HeldEntries: TransactionPart {
  package let transaction: Transaction

  init(_ transaction: Transaction) { self.transaction = transaction }

  /// Enters something that is held, unless that is there already; true when it was not.
  package func enterHeld(_ record: OutboxRecord) throws(StoreError) -> Bool {
    var record = record
    record.state = .held
    if record.subject.isReceipt, try isEntered(record) { return false }
    try transaction.outboxEntries.enter(record)
    guard case .send(let id) = record.subject,
      let conversation = try view.outbox.conversationName(of: record)
    else { return true }
    _ = try transaction.outboxFollowing.setStatus(
      .held, of: id, in: conversation, at: nil, retryAt: nil, failure: nil)
    return true
  }

  private func isEntered(_ record: OutboxRecord) throws(StoreError) -> Bool {
    if try transaction.outboxEntries.isEmpty { return false }
    return try view.outbox.lane(record.conversation)[record.subject] ?? 0 != 0
  }

  /// Enters, held, what waits in conversations and has no entry: what is to be told of receipts and,
  /// if that is asked for, messages of the local member with what needs them.
  ///
  /// - Parameters:
  ///   - place: Where to begin; then where to go on.
  ///   - isFull: Whether so much is enough for now.
  /// - Returns: Whether that was all.
  package func enterWaiting(
    from place: inout WaitingPlace, messages: Bool, isFull: (_ count: Int) -> Bool
  ) throws(StoreError) -> Bool {
    guard localMember != nil else { return true }
    var count = 0
    while !isFull(count) {
      var cursor = Cursor(view.source, Schema.conversations)
      guard let next = try view.conversations.nextConversation(after: place.conversation, &cursor)
      else {
        return true
      }
      count += try 1 + enterReceipts(of: next)
      if messages, try !enterMessages(of: next, from: &place, &count, isFull) { return false }
      place = WaitingPlace(conversation: next)
    }
    return false
  }

  private func enterReceipts(of conversation: UInt32) throws(StoreError) -> Int {
    let own = try view.receipts.receipts(conversation)
    var count = 0
    for kind in ReceiptKind.allCases where own.isListed(kind) {
      let record = OutboxRecord(
        .receipt(kind), of: conversation, token: .random(),
        created: transaction.clock().microseconds)
      if try enterHeld(record) { count += 1 }
    }
    return count
  }

  /// Enters pending messages of the local member, in their order; returns whether that was all.
  private func enterMessages(
    of conversation: UInt32, from place: inout WaitingPlace, _ count: inout Int,
    _ isFull: (_ count: Int) -> Bool
  ) throws(StoreError) -> Bool {
    // Looked for anew after each, as writing moves what a cursor stands at.
    while let position = try flushed().messages.nextPosition(
      behind: place.message ?? .firstPending, in: conversation)
    {
      place.message = position
      count += 1
      let message = try flushed().messages.message(at: position, in: conversation)
      if message.sender == localMember, !message.status.isServerKnowledge,
        !message.traits.marks.contains(.unsent)
      {
        count += try enterMessage(message, at: position, in: conversation)
      }
      if isFull(count) { return false }
    }
    return true
  }

  private func enterMessage(
    _ message: StoredMessage, at position: Position, in conversation: UInt32
  ) throws(StoreError) -> Int {
    let id = message.id(at: position)
    let entries =
      try transaction.outboxEntries.isEmpty ? [] : view.outbox.entries(of: id, in: conversation)
    if entries.contains(where: { $0.record.subject == .send(id) }) { return 0 }
    var count = 0
    func enter(_ subject: OutboxSubject, mayHaveLeft: Bool = false) throws(StoreError) {
      if entries.contains(where: { $0.record.subject == subject }) { return }
      var record = OutboxRecord(
        subject, of: conversation, token: .random(), created: position.place.time)
      if mayHaveLeft {
        record.attemptCount = 1
        record.failure = message.traits.sending.failure
      }
      if try enterHeld(record) { count += 1 }
    }
    for record in try view.facts.attachmentRecords(of: id, in: conversation)
    where record.attachment.remoteURL == nil && record.upload != .done {
      try enter(.upload(id, attachment: record.attachment.id))
    }
    try enter(.send(id), mayHaveLeft: ![.pending, .held].contains(message.status))
    for time in message.traits.pendingEdits { try enter(.edit(id, at: time)) }
    if message.traits.marks.contains(.hidden) { try enter(.unsend(id)) }
    return count
  }
}

extension Transaction {
  package var heldEntries: HeldEntries { HeldEntries(self) }
}

/// How far what waits was entered.
package struct WaitingPlace {
  /// All up to this one are done.
  package var conversation: UInt32 = 0
  /// Of the next one all up to here.
  package var message: Position?

  package init(conversation: UInt32 = 0) { self.conversation = conversation }
}
