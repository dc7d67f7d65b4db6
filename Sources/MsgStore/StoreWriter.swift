/// One write transaction, for the length of one `write`: everything done with it is one commit, or
/// nothing of it is.
///
/// It reads as a snapshot does, and sees its own changes. All functions throw `storage` and
/// `corruptRecord`; after one of these the transaction is rolled back, also when the closure goes on.
/// Everything else that is thrown changes nothing.
public struct StoreWriter: ~Copyable {
  let state: WriteState

  init(_ state: WriteState) { self.state = state }

  /// Stores a message.
  ///
  /// Its conversation is made if it is not there, without participants.
  ///
  /// A message whose id is there already changes nothing, except that the server's copy of a pending
  /// one acknowledges it: the stored message keeps its text and local time, takes the place the
  /// server gave it, and the higher status.
  ///
  /// - Parameters:
  ///   - message: The message. A pending one without a local time gets the clock's.
  ///   - arrival: `history` for what must not count as unread.
  /// - Throws: `invalidIdentifier`, `textTooLong`.
  @discardableResult
  public func insert(
    _ message: Message, as arrival: Arrival = .live
  ) throws(StoreError) -> InsertOutcome {
    try state.insert(message, as: arrival)
  }

  /// Stores messages one after the other, as `insert(_:as:)` does.
  ///
  /// When one of them is refused, those before it are stored if the closure goes on.
  @discardableResult
  public func insert(
    contentsOf messages: some Sequence<Message>, as arrival: Arrival = .live
  ) throws(StoreError) -> [InsertOutcome] {
    var outcomes: [InsertOutcome] = []
    outcomes.reserveCapacity(messages.underestimatedCount)
    for message in messages { outcomes.append(try state.insert(message, as: arrival)) }
    return outcomes
  }

  /// Gives a message the place that the server says: a pending one moves among the acknowledged
  /// ones, and a status below `sent` becomes `sent`.
  ///
  /// Of two acknowledgements that contradict each other the smaller place wins; a sequence that only
  /// one of them has is kept. Whether the message counts as unread stays as it is.
  ///
  /// - Returns: false when there is no such message.
  @discardableResult
  public func acknowledge(
    _ id: MessageID, in conversation: ConversationID, serverTimestamp: Timestamp,
    sequence: Int64? = nil
  ) throws(StoreError) -> Bool {
    try state.acknowledge(
      id, in: conversation, serverTimestamp: serverTimestamp, sequence: sequence)
  }

  /// Changes how far a message has come.
  ///
  /// Its place does not change.
  ///
  /// - Returns: false when there is no such message.
  @discardableResult
  public func setStatus(
    _ status: MessageStatus, of id: MessageID, in conversation: ConversationID
  ) throws(StoreError) -> Bool {
    try state.setStatus(status, of: id, in: conversation)
  }

  /// Removes a message.
  ///
  /// Counters, preview and activity are as if it had never been there; the conversation stays. Its
  /// text is in none of the files once a checkpoint has returned that began after the commit (and
  /// no `read` from before goes on); on flash memory that promises nothing about the chips.
  ///
  /// - Returns: false when there is no such message.
  @discardableResult
  public func delete(
    _ id: MessageID, in conversation: ConversationID
  ) throws(StoreError) -> Bool {
    try state.delete(id, in: conversation)
  }

  /// Makes a conversation, or replaces participants and title of one that is there.
  ///
  /// - Parameters:
  ///   - id: Its name.
  ///   - participants: Who takes part, at most 10,000; who is given twice counts once.
  ///   - title: At most 64 KiB of UTF-8.
  /// - Throws: `invalidIdentifier`, `tooManyParticipants`, `titleTooLong`.
  public func putConversation(
    _ id: ConversationID, participants: [MemberID], title: String? = nil
  ) throws(StoreError) {
    try state.putConversation(id, participants: participants, title: title)
  }

  /// The oldest conversation with exactly these participants, whatever their order; a new one when
  /// there is none.
  ///
  /// The local member takes part without being named.
  ///
  /// - Throws: `invalidIdentifier`, `tooManyParticipants`, `noParticipants`.
  public func conversation(with participants: [MemberID]) throws(StoreError) -> Conversation {
    try state.conversation(with: participants)
  }

  /// Marks messages of a conversation as read by the local member.
  ///
  /// The mark goes to the newest acknowledged message that is not behind the position, and never
  /// back. Up to the end of the thread this costs one small record; otherwise the messages behind
  /// the mark are read to count them.
  ///
  /// - Parameter position: The last message read; nil stands for everything.
  /// - Returns: Whether anything changed.
  @discardableResult
  public func markRead(
    _ conversation: ConversationID, upTo position: Position? = nil
  ) throws(StoreError) -> Bool {
    try state.markRead(conversation, upTo: position)
  }
}

/// Reading, as in a snapshot.
extension StoreWriter {
  /// The messages of a conversation, see `StoreSnapshot.thread(_:)`.
  ///
  /// It shows later changes of this transaction too.
  public func thread(_ id: ConversationID) throws(StoreError) -> Thread {
    try state.reader.thread(id)
  }

  /// One message by its name, or nil when it is not there.
  public func message(
    _ id: MessageID, in conversation: ConversationID
  ) throws(StoreError) -> Message? {
    try state.reader.message(id, in: conversation)
  }

  /// A conversation by its name, or nil when it is not there.
  public func conversation(_ id: ConversationID) throws(StoreError) -> Conversation? {
    try state.change { () throws(StoreError) in
      try state.flush()
      return try state.reader.conversation(id)
    }
  }

  /// Conversations by newest activity, see `StoreSnapshot.conversations(count:after:)`.
  public func conversations(
    count: Int, after position: ConversationPosition? = nil
  ) throws(StoreError) -> ConversationSlice {
    try state.change { () throws(StoreError) in
      try state.flush()
      return try state.reader.conversations(count: count, after: position)
    }
  }
}
