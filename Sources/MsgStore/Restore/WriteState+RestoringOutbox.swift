import PageFile

/// How far what waits was entered.
package struct WaitingPlace {
  /// All up to this one are done.
  package var conversation: UInt32 = 0
  /// Of the next one all up to here.
  package var message: Position?

  package init(conversation: UInt32 = 0) { self.conversation = conversation }
}

/// Putting back what waited to go out.
///
/// All of it is held: who restores a store, or opens one that another program has written to, decides
/// whether what it has not sent is still to be sent, and may have sent it elsewhere meanwhile.
struct RestoredOutbox: TransactionPart {
  let transaction: Transaction

  init(_ transaction: Transaction) { self.transaction = transaction }

  /// Enters, held, what an export has read; false when there is nothing of that to tell.
  ///
  /// - Parameter isComplete: Whether all that is known of receipts is here; if not, what is to be told
  ///   of them is looked at by `finishRestoring`.
  func restore(_ given: ExportedEntry, isComplete: Bool) throws(StoreError) -> Bool {
    try given.validate()
    var number: UInt32 = 0
    if let id = given.conversation {
      guard let conversation = try transaction.existingConversation(id) else { return false }
      number = conversation.number
    } else if given.task != .client {
      return false
    }
    var given = given
    if let id = given.message, let (_, _, own) = try flushed().messages.found(id, in: number) {
      given.message = own
    }
    let subject = try OutboxSubject(given) { (members) throws(StoreError) in
      try transaction.memberNumbers(of: members)
    }
    guard let subject else { return false }
    var record = OutboxRecord(
      subject, of: number, token: given.token ?? .random(),
      created: (given.created ?? transaction.clock()).microseconds)
    record.attemptCount = UInt64(min(max(given.attemptCount, 0), 1 << 40))
    record.failure = given.failure
    record.contentSum = given.contentSum
    if isComplete || !subject.isReceipt, try !flushed().exports.holds(record) { return false }
    return try enterHeld(record)
  }

  /// Enters something that is held, unless that is there already; true when it was not.
  private func enterHeld(_ record: OutboxRecord) throws(StoreError) -> Bool {
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
  func enterWaiting(
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
    while let position = try flushed().exports.nextPosition(
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

extension ExportReader {
  /// The position of the next message behind one; nil where there is none.
  fileprivate func nextPosition(
    behind position: Position, in conversation: UInt32
  ) throws(StoreError) -> Position? {
    var scan = try ThreadScan(view, conversation, after: position)
    return try scan.next() == nil ? nil : try scan.position()
  }
}

extension ExportedEntry {
  fileprivate func validate() throws(StoreError) {
    try conversation?.validate()
    try message?.validate()
    for member in added + removed { try member.validate() }
    let memberCount = max(added.count, removed.count)
    guard memberCount <= ConversationDetails.participantCountMax else {
      throw .tooManyParticipants(
        count: memberCount, limit: ConversationDetails.participantCountMax)
    }
    switch task {
    case .react:
      try Reaction(emoji, from: "any", at: Timestamp(microseconds: 0)).validate()
    case .upload:
      try Attachment(id: attachment, kind: .other).validate()
    case .client:
      try Identifier.validate("name of work", byteCount: name.utf8.count)
      guard payload.count <= OutboxOptions.payloadByteCountMax else {
        throw .outboxPayloadTooLong(
          byteCount: payload.count, limit: OutboxOptions.payloadByteCountMax)
      }
    default: break
    }
  }
}

extension Transaction {
  var restoredOutbox: RestoredOutbox { RestoredOutbox(self) }
}
