/// Received messages and facts, stored without the rules for composing.
extension StoreWriter {
  /// Stores a message as it is.
  ///
  /// Use this for messages from the server, and for imported or restored ones. The rules for
  /// composed messages do not apply; `send(_:)` has those. If the conversation is not there, it is
  /// made without participants. A message without a server time is pending.
  ///
  /// A message whose id is already here is the same message: new facts in this copy are merged,
  /// field by field, so that the same copies give the same message in any order. The server's copy
  /// of a pending message acknowledges it. A deleted message stays deleted.
  ///
  /// - Parameters:
  ///   - message: The message. A pending one without a local time gets the clock's.
  ///   - arrival: `history` for a message that must not count as unread.
  /// - Throws: `input(.identifier)`, `input(.tooLong)`, `input(.tooMany)`, `input(.reaction)`,
  ///   `input(.attachment)`, `input(.implausibleTime)`.
  @discardableResult
  public func insert(
    _ message: Message, as arrival: Arrival = .live
  ) throws(StoreError) -> InsertOutcome {
    try transaction.perform(try transaction.receivedMessages.insert(message, as: arrival))
  }

  /// Stores messages one after the other, as `insert(_:as:)` does.
  ///
  /// If one of them is malformed, none is stored.
  @discardableResult
  public func insert(
    contentsOf messages: some Sequence<Message>, as arrival: Arrival = .live
  ) throws(StoreError) -> [InsertOutcome] {
    let messages = Array(messages)
    for message in messages { try ReceivedMessages.validateMessage(message) }
    return try transaction.insert(valid: messages, as: arrival)
  }

  /// Stores messages one after the other, and skips malformed ones.
  ///
  /// - Returns: The outcome of each message, and the refused messages with their reasons.
  /// - Throws: Faults of the storage only.
  @discardableResult
  public func insertSkippingInvalid(
    contentsOf messages: some Sequence<Message>, as arrival: Arrival = .live
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

  /// Moves a message to the place that the server gives it.
  ///
  /// A pending message moves among the acknowledged ones, and a status below `sent` becomes `sent`.
  /// Of contradicting acknowledgements the smallest place counts, and a sequence that only some of
  /// them have is kept; a later revision replaces an earlier one, so that a server can correct a
  /// time in both directions. The message stays read or unread. Facts about a message that is not
  /// here yet wait for it.
  ///
  /// - Parameters:
  ///   - id: The message.
  ///   - conversation: The conversation of the message.
  ///   - serverTimestamp: The server's time.
  ///   - sequence: The server's number for the message in the conversation.
  ///   - revision: The number of the server's statement about the place, 0 for the first. A later
  ///     one gives both time and sequence.
  ///   - serverName: The server's own id for the message. From then on both ids lead to the
  ///     message, which keeps `id`; a message that came earlier under the server's id is merged
  ///     with it.
  /// - Returns: False if there is no such message.
  /// - Throws: `input(.identifier)`, `input(.implausibleTime)`.
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

  /// Merges a status that the server reports of a message.
  ///
  /// Reported statuses only rise, override every local state, and wait for a message that is not
  /// here yet. Local states are the outbox's. docs/message-states.md has the table.
  ///
  /// - Parameters:
  ///   - status: The reported status.
  ///   - id: The message.
  ///   - conversation: The conversation of the message.
  ///   - time: The time of delivery or reading; the earliest known one stays.
  /// - Returns: True if anything changed.
  /// - Throws: `input(.identifier)`, `input(.implausibleTime)`.
  @discardableResult
  public func receiveStatus(
    _ status: ReportedStatus, of id: MessageID, in conversation: ConversationID,
    at time: Timestamp? = nil
  ) throws(StoreError) -> Bool {
    try transaction.perform(
      try transaction.messageUpdates.receiveStatus(
        status.messageStatus, of: id, in: conversation, at: time))
  }

  /// Deletes a message for the local member.
  ///
  /// Counters, preview and activity become as if it had never existed. The conversation stays, and
  /// the message does not come back when it is delivered again. Its text is in none of the files
  /// once a checkpoint that began after the commit has returned, and no `read` from before is
  /// running. On flash memory that promises nothing about the chips.
  ///
  /// - Returns: False if there is no such message.
  @discardableResult
  public func delete(
    _ id: MessageID, in conversation: ConversationID
  ) throws(StoreError) -> Bool {
    try transaction.perform(try transaction.receivedMessages.delete(id, in: conversation))
  }

  /// Merges a received edit, whoever made it.
  ///
  /// The edit with the latest time is shown; of equal times the one with the greater bytes. All
  /// others are in the message's history. An edit of a message that is not here yet waits for it.
  ///
  /// - Parameters:
  ///   - id: The message.
  ///   - conversation: The conversation of the message.
  ///   - text: The new text, up to 1 MiB of UTF-8.
  ///   - mentions: The members that the new text mentions.
  ///   - attachments: All attachments that the message has from this edit on, at most 1,000, each
  ///     with everything that the server knows of it. All others are erased with their transfers,
  ///     and facts about them that come later change nothing, until an edit with a later time lists
  ///     them again. That one has to say everything again; of an attachment that no edit has left
  ///     out its id and kind are enough. nil if the edit says nothing of attachments. Files stay
  ///     where they are.
  ///   - time: The time of the edit. Of two lists the one of the later edit counts.
  ///   - serverName: The server's own id of the edit; nil if it has none. It stays with this
  ///     edit: see ``Message/editServerName`` and ``MessageVersion/serverName``. Of several ids
  ///     of one edit the greatest counts.
  /// - Returns: True if anything changed.
  /// - Throws: `input(.identifier)`, `input(.tooLong)`, `input(.tooMany)`, `input(.attachment)`,
  ///   `input(.implausibleTime)`.
  @discardableResult
  public func receiveEdit(
    of id: MessageID, in conversation: ConversationID, text: String, mentions: [MemberID] = [],
    attachments: [MessageAttachment]? = nil, at time: Timestamp, serverName: MessageID? = nil
  ) throws(StoreError) -> Bool {
    try transaction.perform(
      try transaction.messageUpdates.receiveEdit(
        of: id, in: conversation, text: text, mentions: mentions, attachments: attachments,
        at: time, serverName: serverName))
  }

  /// Merges a received retraction of a message, by any member and of any age.
  ///
  /// Text, history, reactions and attachments are removed for good, and do not come back.
  ///
  /// - Returns: True if anything changed.
  /// - Throws: `input(.identifier)`, `input(.implausibleTime)`.
  @discardableResult
  public func receiveRetraction(
    of id: MessageID, in conversation: ConversationID, at time: Timestamp? = nil
  ) throws(StoreError) -> Bool {
    try transaction.perform(
      try transaction.messageUpdates.receiveRetraction(of: id, in: conversation, at: time))
  }

  /// Merges a received reaction, or its removal.
  ///
  /// The latest fact about a member and an emoji counts; of equal times, the removal.
  ///
  /// - Returns: True if anything changed.
  /// - Throws: `input(.identifier)`, `input(.reaction)`, `input(.implausibleTime)`.
  @discardableResult
  public func receive(
    _ reaction: Reaction, isRemoved: Bool = false, to id: MessageID, in conversation: ConversationID
  ) throws(StoreError) -> Bool {
    try reaction.time.validate()
    return try transaction.perform(
      try transaction.messageUpdates.receive(
        reaction, isRemoved: isRemoved, to: id, in: conversation))
  }
}
