/// Enters the acts of the local member, in the commit that performs them.
///
/// A newer act absorbs an older one that cannot have left, so the server is told nothing outdated.
/// See docs/message-format.md, O-10 … O-15.
package struct OutboxEntering: TransactionPart {
  package let transaction: Transaction

  /// Enters a composed message, behind the uploads that it needs.
  func enterSend(
    _ message: Message, in conversation: UInt32
  ) throws(StoreError) {
    guard transaction.isOutboxOn else { return }
    let isHeld: Bool? = message.status == .held ? true : nil
    for attachment in message.attachments where attachment.remoteURL == nil {
      try enter(
        .upload(message.id, attachment: attachment.id), of: conversation, isHeld: isHeld)
    }
    try enter(.send(message.id), of: conversation, isHeld: isHeld)
  }

  /// Enters an act of the local member, after settling the effects of its facts.
  func enter(
    _ subject: OutboxSubject, of conversation: UInt32, isHeld: Bool? = nil
  ) throws(StoreError) {
    guard transaction.isOutboxOn else { return }
    try transaction.outboxFollowing.settle()
    try transaction.outboxEntries.enter(subject, of: conversation, isHeld: isHeld)
  }

  /// True if newly composed messages are held until they are released.
  var holdsComposed: Bool {
    get throws(StoreError) {
      if !transaction.isOutboxOn { return false }
      return transaction.outboxTotals.holdsNewEntries
    }
  }

  /// Enters a message again that had expired and is shown again, held for a decision, with all that
  /// is to be told of it.
  func holdReturned(_ id: MessageID, in number: UInt32) throws(StoreError) {
    guard transaction.isOutboxOn,
      let (position, message, own) = try flushed().messages.found(id, in: number),
      position.place.isPending, try view.outbox.entries(of: own, in: number).isEmpty
    else { return }
    _ = try transaction.outboxEntering.enterMessage(message, at: position, in: number)
  }

  /// Returns true if the server may have a message, as far as the outbox knows; nil if the outbox
  /// has no entry that sends it.
  func mayHaveLeft(_ id: MessageID, in conversation: UInt32) throws(StoreError) -> Bool? {
    if transaction.outboxEntries.isEmpty { return nil }
    for (_, record) in try view.outbox.entries(of: id, in: conversation) {
      if case .send = record.subject { return record.mayHaveLeft }
    }
    return nil
  }

  /// Enters the retraction of a message; nothing else is told of the message meanwhile.
  ///
  /// A message that never left loses all its entries. One that may have left, and is held or has
  /// failed since, is sent again, as otherwise it could not be retracted.
  func enterRetraction(
    of id: MessageID, mayHaveLeft: Bool, in conversation: UInt32
  ) throws(StoreError) {
    try transaction.outboxFollowing.settle()
    if !transaction.outboxEntries.isEmpty {
      for (ordinal, record) in try view.outbox.entries(of: id, in: conversation) {
        if !mayHaveLeft {
          try transaction.outboxEntries.remove(entry: ordinal)
        } else if case .send = record.subject, record.state.needsDecision {
          var new = record
          try transaction.outboxFollowing.sendAgain(&new)
          try transaction.outboxEntries.replace(entry: ordinal, record, with: new)
        }
      }
    }
    if mayHaveLeft { try enter(.retract(id), of: conversation) }
  }

  /// Enters a reaction, or removes the entry of the reaction that it undoes if that cannot have
  /// left.
  func enterReaction(
    _ emoji: String, isRemoved: Bool, to id: MessageID, in conversation: UInt32
  ) throws(StoreError) {
    guard transaction.isOutboxOn else { return }
    if !transaction.outboxEntries.isEmpty {
      for (ordinal, record) in try view.outbox.entries(of: id, in: conversation) {
        guard case .react(_, let other, let wasRemoved) = record.subject,
          other.hasSameBytes(as: emoji), wasRemoved != isRemoved, !record.isRunning,
          !record.mayHaveLeft
        else { continue }
        return try transaction.outboxEntries.remove(entry: ordinal)
      }
    }
    try enter(
      .react(id, emoji: emoji, isRemoved: isRemoved), of: conversation)
  }

  /// Enters a state of a conversation, to be read when it is told, unless it is entered already.
  func enterState(_ subject: OutboxSubject, of conversation: UInt32) throws(StoreError) {
    guard transaction.isOutboxOn else { return }
    if let (ordinal, record) = try unsentState(subject, of: conversation) {
      // The entry that creates the conversation tells its state.
      guard record.subject == subject else { return }
      let holdsNewEntries = transaction.outboxTotals.holdsNewEntries
      let isOther = record.state == .failed || holdsNewEntries && record.state != .held
      guard isOther else { return try renewToken(of: ordinal, record) }
      // The server has refused the earlier entry, or new entries are held for a decision.
      try transaction.outboxEntries.remove(entry: ordinal)
    }
    try enter(subject, of: conversation)
  }

  /// Gives an entry another token when it has something else to tell than it had when it was handed
  /// out.
  ///
  /// Otherwise a late answer about that would end the entry.
  private func renewToken(of ordinal: UInt64, _ record: OutboxRecord) throws(StoreError) {
    guard record.contentSum != 0, !StoreDefect.tokenKept.isPlanted else { return }
    var new = record
    new.token = .random()
    try transaction.outboxEntries.replace(entry: ordinal, record, with: new)
  }

  /// Returns the entry that will tell a change of a conversation made now.
  private func unsentState(
    _ subject: OutboxSubject, of conversation: UInt32
  ) throws(StoreError) -> (UInt64, OutboxRecord)? {
    if transaction.outboxEntries.isEmpty { return nil }
    let lane = try transaction.outboxEntries.lane(conversation)
    if let creation = try unsentCreation(lane) { return creation }
    guard let ordinal = lane[subject], ordinal != 0 else { return nil }
    let record = try view.outbox.indexedEntry(ordinal)
    return record.isRunning ? nil : (ordinal, record)
  }

  /// Returns the entry that creates a conversation unknown to the server.
  ///
  /// It tells the state at that time.
  private func unsentCreation(
    _ lane: OutboxLane
  ) throws(StoreError) -> (UInt64, OutboxRecord)? {
    guard lane.creation != 0 else { return nil }
    let record = try view.outbox.indexedEntry(lane.creation)
    return record.isRunning || record.mayHaveLeft ? nil : (lane.creation, record)
  }

  /// Enters that members have come or gone.
  ///
  /// Does nothing if the conversation is still to be created, since then the server is told its
  /// members.
  func enterMembers(
    added: [UInt32], removed: [UInt32], of conversation: UInt32
  ) throws(StoreError) {
    guard transaction.isOutboxOn, !added.isEmpty || !removed.isEmpty else { return }
    if try isUnknownToServer(conversation) { return }
    try enter(
      .changeMembers(added: added, removed: removed), of: conversation)
  }

  /// Enters that a kind of receipt has something to tell, or removes the entry if it has nothing
  /// left.
  func enterReceipt(
    _ kind: ReceiptKind, isPending: Bool, in conversation: UInt32
  ) throws(StoreError) {
    let ordinal =
      transaction.outboxEntries.isEmpty
      ? 0 : try transaction.outboxEntries.lane(conversation)[.receipt(kind)] ?? 0
    if isPending, ordinal != 0 {
      try renewReceipt(kind, in: conversation)
    } else if isPending {
      if transaction.isOutboxOn {
        try transaction.outboxEntries.enter(.receipt(kind), of: conversation)
      }
    } else if ordinal != 0 {
      try transaction.outboxEntries.remove(entry: ordinal)
    }
  }

  /// Queues a refused receipt again, if it has something else to tell by now.
  func renewReceipt(_ kind: ReceiptKind, in number: UInt32) throws(StoreError) {
    guard transaction.outboxTotals.counts.failed > 0,
      case let ordinal = try transaction.outboxEntries.lane(number)[.receipt(kind)] ?? 0,
      ordinal != 0,
      case let record = try view.outbox.indexedEntry(ordinal), record.state == .failed,
      try transaction.isStored(number)
    else { return }
    let conversation = try transaction.conversation(number)
    guard
      let receipt = try flushed().pendingReceipts.firstPendingReceipt(
        kind, of: number, try view.conversations.details(number).id, conversation.summary,
        try transaction.receipts.own(conversation), as: rules.outbox.receiptForm),
      OutboxTask.receipt(receipt).contentSum != record.contentSum
    else { return }
    try transaction.outboxAnswers.begin(anew: ordinal, record)
  }

  /// Returns true if a conversation was made here and the server cannot know of it yet.
  func isUnknownToServer(_ conversation: UInt32) throws(StoreError) -> Bool {
    if transaction.outboxEntries.isEmpty { return false }
    return try unsentCreation(try transaction.outboxEntries.lane(conversation)) != nil
  }

  /// Enters work of the client's own.
  func enterClientWork(
    _ name: String, _ payload: [UInt8], in id: ConversationID?
  ) throws(StoreError) -> OutboxEntry.ID {
    try Identifier.validate("name of work", byteCount: name.utf8.count)
    try id?.validate()
    guard payload.count <= OutboxOptions.maximumPayloadByteCount else {
      throw .input(
        .tooLong(
          .outboxPayload,
          byteCount: payload.count, limit: OutboxOptions.maximumPayloadByteCount))
    }
    let number = try id.map { (id) throws(StoreError) in
      try transaction.conversations.knownConversation(id).number
    }
    return OutboxEntry.ID(
      rawValue: try transaction.outboxEntries.enter(
        .client(name: name, payload: payload), of: number ?? 0))
  }
}

extension Transaction {
  package var outboxEntering: OutboxEntering { OutboxEntering(transaction: self) }
}
