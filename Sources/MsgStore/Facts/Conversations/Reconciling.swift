import PageFile

/// Takes in complete lists, of the messages in a thread or of all conversations.
struct Reconciling: TransactionPart {
  let transaction: Transaction

  func reconcile(
    _ messages: [Message], in id: ConversationID, _ range: ReconciledRange, as arrival: Arrival
  ) throws(StoreError) -> ReconcileOutcome {
    try id.validate()
    var given: [Message] = []
    given.reserveCapacity(messages.count)
    var refusals: [BatchOutcome.Refusal] = []
    for (index, message) in messages.enumerated() {
      var message = message
      if message.conversation != id { message.conversation = id }
      do throws(StoreError) {
        try ReceivedMessages.validateMessage(message)
        given.append(message)
      } catch {
        refusals.append(BatchOutcome.Refusal(index: index, id: message.id, reason: error))
      }
    }
    var outcomes: [InsertOutcome] = []
    outcomes.reserveCapacity(given.count)
    for message in given {
      outcomes.append(try transaction.receivedMessages.insert(valid: message, as: arrival))
    }
    guard let conversation = try transaction.existingConversation(id) else {
      return ReconcileOutcome(outcomes: outcomes, refusals: refusals, removed: [])
    }
    // The list may use other names than those in the keys, and places may have changed.
    var listed: Set<MessageID> = []
    let refused = refusals.map(\.id).filter {
      (1...Identifier.maximumByteCount).contains($0.byteCount)
    }
    for name in given.map(\.id) + refused {
      let position = try view.ids.position(of: name, in: conversation.number)
      if let position { listed.insert(position.id) }
    }
    let span = range.span(of: given, listedCount: messages.count)
    let gone = try span.map { (span) throws(StoreError) in
      try positions(in: span, but: listed, of: conversation.number)
    }
    var removed: [MessageID] = []
    for position in gone ?? [] { removed.append(try remove(at: position, in: conversation)) }
    // As where the deletion itself has removed the last one.
    if !removed.isEmpty, conversation.summary.deletedUpTo != nil { conversation.hideIfEmpty() }
    // Also those of malformed messages: nobody should fetch them again and again.
    if range == .all { try noteAll(messages, in: conversation) }
    return ReconcileOutcome(outcomes: outcomes, refusals: refusals, removed: removed)
  }

  /// Returns the positions of acknowledged messages in a span, except those with some names.
  private func positions(
    in span: ReconciledSpan, but listed: Set<MessageID>, of conversation: UInt32
  ) throws(StoreError) -> [MessagePosition] {
    var found: [MessagePosition] = []
    var cursor = try MessageCursor(flushed())
    // No message of that time sorts before this position.
    let first = MessagePosition(.acknowledged(span.from.time, sequence: .min), "")
    let key = KeyEncoding.key(conversation, first)
    let prefix = key.bytes.slice(0, KeyEncoding.numberByteCount)
    _ = try cursor.seek(key.bytes)
    while cursor.isAtMessage, cursor.isIn(prefix) {
      let position = try cursor.position()
      if position.place.isPending || position.place.time > span.upTo.time { break }
      if span.contains(position), !listed.contains(position.id) { found.append(position) }
      _ = try cursor.next()
    }
    return found
  }

  /// Removes a message that the server does not have, and returns its name.
  private func remove(
    at position: MessagePosition, in conversation: OpenConversation
  ) throws(StoreError) -> MessageID {
    view.source.isErasing = true
    let message = try flushed().messages.message(at: position, in: conversation.number)
    _ = try transaction.receivedMessages.takeOut(position, of: conversation)
    if message.traits.marks.contains(.retracted) {
      // An old copy still on its way must not bring the text back.
      for name in [position.id] + message.traits.names {
        try transaction.messageNames.writeEntry(.deleted, of: name, in: conversation.number)
      }
    }
    return message.id(at: position)
  }

  /// Notes that no message is expected under the numbers that a list of the whole thread lacks
  /// between its first and its last number.
  private func noteAll(
    _ messages: [Message], in conversation: OpenConversation
  ) throws(StoreError) {
    let sequences = messages.compactMap(\.sequence)
    guard let least = sequences.min(), let greatest = sequences.max() else { return }
    _ = try transaction.sequences.note(sequences: least...greatest, in: conversation)
  }
}

/// Complete lists of conversations.
extension Reconciling {
  func reconcile(_ conversations: [ReceivedConversation]) throws(StoreError) -> [ConversationID] {
    for received in conversations { try Conversations.validateReceived(received) }
    for received in conversations {
      _ = try transaction.conversations.receiveConversation(received)
    }
    try transaction.summaries.flush()
    var listed: Set<UInt32> = []
    for received in conversations {
      if let open = try transaction.existingConversation(received.id) {
        listed.insert(open.number)
      }
    }
    var removed: [ConversationID] = []
    var number: UInt32 = 0
    while let next = try nextConversation(after: number) {
      number = next
      if listed.contains(next) { continue }
      let conversation = try transaction.conversation(next)
      guard !conversation.summary.marks.contains(.hidden),
        case let details = try view.conversations.details(next),
        try !isPending(conversation, details)
      else { continue }
      removed.append(details.id)
      try hide(conversation)
    }
    return removed
  }

  private func nextConversation(after number: UInt32) throws(StoreError) -> UInt32? {
    var cursor = Cursor(view.source, Schema.conversations)
    return try view.conversations.nextConversation(after: number, &cursor)
  }

  /// Returns true if a conversation has something that the server cannot know.
  private func isPending(
    _ conversation: OpenConversation, _ details: ConversationDetails
  ) throws(StoreError) -> Bool {
    if details.hasDraft { return true }
    let last = try flushed().messages.lastPosition(upTo: .end, in: conversation.number)
    if let last, last.place.isPending { return true }
    if last == nil, let creator = details.createdBy, creator == localMember { return true }
    return try !transaction.deletions.merging(into: conversation.number).isEmpty
  }

  /// Removes a conversation from the lists with its messages, until it is received again.
  private func hide(_ conversation: OpenConversation) throws(StoreError) {
    if conversation.summary.messageCount == 0 {
      conversation.summary.marks.insert(.hidden)
    } else {
      try transaction.deletions.clear(conversation, upTo: conversation.summary.deletedUpTo)
    }
  }
}

extension Transaction {
  var reconciling: Reconciling { Reconciling(transaction: self) }
}
