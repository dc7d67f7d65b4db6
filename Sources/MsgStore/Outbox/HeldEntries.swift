import PageFile

/// Makes held entries for work that was not in the outbox, so that a person decides about it.
extension OutboxEntering {
  /// Enters a held entry, unless the same receipt is entered already.
  ///
  /// Returns true if it was entered.
  package func enterHeld(_ record: OutboxRecord) throws(StoreError) -> Bool {
    var record = record
    record.state = .held
    if record.subject.isReceipt, try isEntered(record) { return false }
    try transaction.outboxEntries.enter(record)
    guard case .send(let id) = record.subject,
      let conversation = try view.outbox.conversationName(of: record)
    else { return true }
    _ = try transaction.outboxFollowing.setStatus(.held, of: id, in: conversation)
    return true
  }

  private func isEntered(_ record: OutboxRecord) throws(StoreError) -> Bool {
    if transaction.outboxEntries.isEmpty { return false }
    return try transaction.outboxEntries.lane(record.conversation)[record.subject] ?? 0 != 0
  }

  /// Enters, held, the pending work in conversations that has no entry: receipts to tell and, on
  /// request, messages of the local member with everything that depends on them.
  ///
  /// - Parameters:
  ///   - place: The place to begin at; on return, the place to continue from.
  ///   - isFull: Returns true if a count is enough for now.
  /// - Returns: True when everything is entered.
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
    let own = try flushed().receipts.receipts(conversation)
    var count = 0
    for kind in ReceiptKind.allCases where own.isListed(kind) {
      let record = OutboxRecord(
        .receipt(kind), of: conversation, token: .random(),
        created: transaction.recordedTime())
      if try enterHeld(record) { count += 1 }
    }
    return count
  }

  /// Enters the pending messages of the local member in order.
  ///
  /// Returns true when all are entered.
  private func enterMessages(
    of conversation: UInt32, from place: inout WaitingPlace, _ count: inout Int,
    _ isFull: (_ count: Int) -> Bool
  ) throws(StoreError) -> Bool {
    // The next position is looked up again after each message, since writing moves the cells under
    // a cursor.
    while let position = try flushed().messages.nextPosition(
      behind: place.message ?? .firstPending, in: conversation)
    {
      place.message = position
      count += 1
      let message = try flushed().messages.message(at: position, in: conversation)
      count += try enterMessage(message, at: position, in: conversation)
      if isFull(count) { return false }
    }
    return true
  }

  /// Enters a pending message of the local member, and what is to be told of it.
  ///
  /// Returns the number of entries.
  func enterMessage(
    _ message: StoredMessage, at position: MessagePosition, in conversation: UInt32
  ) throws(StoreError) -> Int {
    guard let localMember, message.sender == localMember, !message.status.isServerKnowledge,
      !message.traits.marks.contains(.retracted)
    else { return 0 }
    let id = message.id(at: position)
    let entries =
      transaction.outboxEntries.isEmpty ? [] : try view.outbox.entries(of: id, in: conversation)
    if entries.contains(where: { $0.record.subject == .send(id) }) { return 0 }
    var count = 0
    func hold(_ subject: OutboxSubject, mayHaveLeft: Bool = false) throws(StoreError) {
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
      try hold(.upload(id, attachment: record.attachment.id))
    }
    try hold(.send(id), mayHaveLeft: ![.pending, .held].contains(message.status))
    for time in message.traits.pendingEdits { try hold(.edit(id, at: time)) }
    for emoji in try reactions(to: id, in: conversation, by: localMember) {
      try hold(.react(id, emoji: emoji, isRemoved: false))
    }
    if message.traits.marks.contains(.hidden) { try hold(.retract(id)) }
    return count
  }

  private func reactions(
    to id: MessageID, in conversation: UInt32, by member: UInt32
  ) throws(StoreError) -> [String] {
    var found: [String] = []
    let prefix = FactKey.prefix(conversation, id, .reaction)
    try view.facts.forEachFact(prefix) { (rest, value) throws(StoreError) in
      let (other, emoji, record) = try view.facts.reaction(rest, value, to: id)
      if other == member, !record.isRemoved { found.append(emoji.repairedText()) }
    }
    return found
  }
}

/// The progress of entering the pending work of a store.
package struct WaitingPlace {
  /// The last conversation that is done.
  package var conversation: UInt32 = 0
  /// The last message done in the conversation after that one.
  package internal(set) var message: MessagePosition?

  package init(conversation: UInt32 = 0) { self.conversation = conversation }
}
