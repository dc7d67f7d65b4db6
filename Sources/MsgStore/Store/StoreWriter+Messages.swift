/// Messages, as they are received and as they are stored without being checked.
extension StoreWriter {
  /// Stores a message as it is.
  ///
  /// This is for what the server tells, and for what is imported or restored: no rule about what may
  /// be composed holds here; `send(_:)` has those. The conversation is made if it is not there,
  /// without participants. A message without a server time is pending.
  ///
  /// A message whose id is there already is the same one: what is new in this copy is merged, field
  /// by field, so that the same copies end in the same message in whatever order they come. The
  /// server's copy of a pending message acknowledges it. What was deleted stays deleted.
  ///
  /// - Parameters:
  ///   - message: The message. A pending one without a local time gets the clock's.
  ///   - arrival: `history` for what must not count as unread.
  /// - Throws: `invalidIdentifier`, `textTooLong`, `tooManyMentions`, `invalidReaction`,
  ///   `invalidAttachment`.
  @discardableResult
  public func insert(
    _ message: Message, as arrival: Arrival = .live
  ) throws(StoreError) -> InsertOutcome {
    try transaction.perform(try transaction.receivedMessages.insert(message, as: arrival))
  }

  /// Stores messages one after the other, as `insert(_:as:)` does.
  ///
  /// When one of them is malformed, none is stored.
  @discardableResult
  public func insert(
    contentsOf messages: some Sequence<Message>, as arrival: Arrival = .live
  ) throws(StoreError) -> [InsertOutcome] {
    let messages = Array(messages)
    for message in messages { try ReceivedMessages.validateMessage(message) }
    var outcomes: [InsertOutcome] = []
    outcomes.reserveCapacity(messages.count)
    for message in messages {
      outcomes.append(
        try transaction.perform(
          try transaction.receivedMessages.insert(valid: message, as: arrival)))
    }
    return outcomes
  }

  /// Stores messages one after the other, and passes over those that are malformed.
  ///
  /// - Returns: What became of each, and which were refused, and why.
  /// - Throws: Faults of the storage only.
  @discardableResult
  public func insert(
    validOf messages: some Sequence<Message>, as arrival: Arrival = .live
  ) throws(StoreError) -> BatchOutcome {
    var batch = BatchOutcome()
    for (index, message) in messages.enumerated() {
      do throws(StoreError) {
        batch.outcomes.append(
          try transaction.perform(try transaction.receivedMessages.insert(message, as: arrival)))
      } catch {
        switch error {
        case .storage, .corruptRecord, .numbersExhausted: throw error
        default:
          batch.refusals.append(
            BatchOutcome.Refusal(index: index, id: message.id, reason: error))
        }
      }
    }
    return batch
  }

  /// Gives a message the place that the server says: a pending one moves among the acknowledged
  /// ones, and a status below `sent` becomes `sent`.
  ///
  /// Of acknowledgements that contradict each other the smallest place wins, and a sequence that only
  /// some of them have is kept; a later revision replaces an earlier one, so that a server can
  /// correct a time in both directions. Whether the message counts as unread stays as it is.
  ///
  /// - Parameters:
  ///   - id: The message.
  ///   - conversation: Its conversation.
  ///   - serverTimestamp: The server's time.
  ///   - sequence: The server's number for it in the conversation.
  ///   - revision: Which word of the server's this is about the place, 0 for the first. A later one
  ///     says both time and sequence.
  ///   - serverName: The server's own id for it. From then on both lead to the message, which keeps
  ///     `id`; a message that has come under the server's name already becomes one with it.
  /// What is said of a message that is not here yet waits for it.
  ///
  /// - Returns: false when there is no such message.
  /// - Throws: `invalidIdentifier`.
  @discardableResult
  public func acknowledge(
    _ id: MessageID, in conversation: ConversationID, serverTimestamp: Timestamp,
    sequence: Int64? = nil, revision: Int64 = 0, as serverName: MessageID? = nil
  ) throws(StoreError) -> Bool {
    try transaction.perform(
      try transaction.receivedMessages.acknowledge(
        id, in: conversation, serverTimestamp: serverTimestamp, sequence: sequence,
        revision: revision, serverName: serverName))
  }

  /// Changes how far a message has come.
  ///
  /// Local states replace each other for as long as the server does not have the message. `sent`,
  /// `delivered` and `read` are the server's knowledge: they only rise, beat every local state, and
  /// wait for a message that is not here yet. docs/message-states.md has the table.
  ///
  /// - Parameters:
  ///   - status: The state.
  ///   - id: The message.
  ///   - conversation: Its conversation.
  ///   - time: When it was delivered or read; the earliest that is known stays.
  ///   - retryAt: When a message that is `retrying` is tried again.
  ///   - failure: Why it is `failed` or `retrying`.
  /// - Returns: Whether anything changed.
  /// - Throws: `invalidIdentifier`.
  @discardableResult
  public func setStatus(
    _ status: MessageStatus, of id: MessageID, in conversation: ConversationID,
    at time: Timestamp? = nil, retryAt: Timestamp? = nil, failure: Failure? = nil
  ) throws(StoreError) -> Bool {
    try transaction.perform(
      try transaction.outboxFollowing.setStatus(
        status, of: id, in: conversation, at: time, retryAt: retryAt, failure: failure))
  }

  /// Removes a message for the local member.
  ///
  /// Counters, preview and activity are as if it had never been there; the conversation stays, and
  /// the message stays away when it is delivered again. Its text is in none of the files once a
  /// checkpoint has returned that began after the commit (and no `read` from before goes on); on
  /// flash memory that promises nothing about the chips.
  ///
  /// - Returns: false when there is no such message.
  @discardableResult
  public func delete(
    _ id: MessageID, in conversation: ConversationID
  ) throws(StoreError) -> Bool {
    try transaction.perform(try transaction.receivedMessages.delete(id, in: conversation))
  }

  /// Merges what was received of an edit, whoever made it.
  ///
  /// The edit with the latest time is shown, of equal times the one with the greater bytes; all
  /// others are in the message's history. An edit of a message that is not here yet waits for it.
  ///
  /// - Returns: Whether anything changed.
  /// - Throws: `invalidIdentifier`, `textTooLong`.
  @discardableResult
  public func receiveEdit(
    of id: MessageID, in conversation: ConversationID, text: String, mentions: [MemberID] = [],
    at time: Timestamp
  ) throws(StoreError) -> Bool {
    try transaction.perform(
      try transaction.edits.receiveEdit(
        of: id, in: conversation, text: text, mentions: mentions, at: time))
  }

  /// Merges that a message was taken back, whoever says so and however old it is.
  ///
  /// Text, history, reactions and attachments go for good, and do not come back.
  ///
  /// - Returns: Whether anything changed.
  /// - Throws: `invalidIdentifier`.
  @discardableResult
  public func receiveUnsend(
    of id: MessageID, in conversation: ConversationID, at time: Timestamp? = nil
  ) throws(StoreError) -> Bool {
    try transaction.perform(
      try transaction.unsends.receiveUnsend(of: id, in: conversation, at: time))
  }

  /// Merges what was received of a reaction: the latest word of a member about an emoji counts, and
  /// of equal times that it was removed.
  ///
  /// - Returns: Whether anything changed.
  /// - Throws: `invalidIdentifier`, `invalidReaction`.
  @discardableResult
  public func receive(
    _ reaction: Reaction, isRemoved: Bool = false, to id: MessageID, in conversation: ConversationID
  ) throws(StoreError) -> Bool {
    try transaction.perform(
      try transaction.messageUpdates.receive(
        reaction, isRemoved: isRemoved, to: id, in: conversation))
  }
}
