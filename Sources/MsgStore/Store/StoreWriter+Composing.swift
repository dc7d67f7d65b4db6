/// What the local member does to messages: here the rules hold.
///
/// All of it is in the local member's name, and throws `noLocalMember` in a store that does not know
/// who that is.
extension StoreWriter {
  /// Stores a message that the local member has written: pending, and visible in the tail at once.
  ///
  /// A conversation that is not there is made by it, without members and without work to make it: there
  /// are servers that know conversations by their messages only. Where one has to be made first,
  /// `createGroup` and `conversation(with:)` make it.
  ///
  /// - Parameter message: The message. Its sender has to be the local member. Of one that was written
  ///   before only id, text, local time, reply, mentions and attachments are taken, and that it is
  ///   `held`. Without a local time it gets the clock's.
  /// - Throws: `invalidText` beyond the limits of `StoreOptions.textLimits`; `invalidAttachment`;
  ///   `notOwnMessage` for another sender; `notAParticipant` in a conversation that has members, none
  ///   of them the local one; `idInUse` when there is such a message; `invalidIdentifier`.
  @discardableResult
  public func send(_ message: Message) throws(StoreError) -> Message {
    try transaction.perform(try transaction.composing.send(message))
  }

  /// Changes the text of one of the local member's messages.
  ///
  /// It is shown at once, and waits for the server's word: `confirmEdit` or `refuseEdit`.
  ///
  /// - Returns: The time of the edit, which names it in the answer; nil when the text is the same.
  /// - Throws: `invalidText`, `notOwnMessage`, `messageNotFound`, `messageIsDeleted`,
  ///   `tooManyPendingEdits`.
  @discardableResult
  public func edit(
    _ id: MessageID, in conversation: ConversationID, text: String, mentions: [MemberID] = []
  ) throws(StoreError) -> Timestamp? {
    try transaction.perform(
      try transaction.composing.edit(id, in: conversation, text: text, mentions: mentions))
  }

  /// The server has taken an edit.
  ///
  /// - Parameters:
  ///   - id: The message.
  ///   - conversation: Its conversation.
  ///   - time: What `edit` returned.
  ///   - serverTime: The time under which other devices hear of the edit, where it is another one.
  /// - Returns: Whether the edit was waiting.
  @discardableResult
  public func confirmEdit(
    of id: MessageID, in conversation: ConversationID, at time: Timestamp,
    serverTime: Timestamp? = nil
  ) throws(StoreError) -> Bool {
    try transaction.perform(
      try transaction.edits.confirmEdit(of: id, in: conversation, at: time, serverTime: serverTime))
  }

  /// The server has refused an edit: the text is as it was, and `failure` of the message says why.
  ///
  /// - Returns: Whether the edit was waiting.
  @discardableResult
  public func refuseEdit(
    of id: MessageID, in conversation: ConversationID, at time: Timestamp, because failure: Failure
  ) throws(StoreError) -> Bool {
    try transaction.perform(
      try transaction.edits.refuseEdit(of: id, in: conversation, at: time, because: failure))
  }

  /// Takes one of the local member's messages back.
  ///
  /// Within `StoreOptions.unsendAgeMax`, inclusive; a pending one at any age.
  /// It is hidden at once. One that cannot have left the outbox is gone as if it had never been, and
  /// so is all there was to tell of it; one that only its status says has not left is erased. Of another
  /// the server has to be told, and `confirmUnsend` or `refuseUnsend` is what follows.
  ///
  /// - Throws: `notOwnMessage`, `messageNotFound`, `messageIsDeleted`, `unsendTooLate`.
  @discardableResult
  public func unsend(
    _ id: MessageID, in conversation: ConversationID
  ) throws(StoreError) -> Bool {
    try transaction.perform(try transaction.composing.unsend(id, in: conversation))
  }

  /// The server has taken a message back as it was asked: text, history, reactions and attachments
  /// are gone for good.
  ///
  /// They are in none of the files once a checkpoint has returned that began after the commit.
  ///
  /// - Parameters:
  ///   - id: The message.
  ///   - conversation: Its conversation.
  ///   - serverTime: The time under which other devices hear of it, where that is known.
  /// - Returns: Whether the message was waiting for that.
  @discardableResult
  public func confirmUnsend(
    of id: MessageID, in conversation: ConversationID, serverTime: Timestamp? = nil
  ) throws(StoreError) -> Bool {
    try transaction.perform(
      try transaction.unsends.confirmUnsend(of: id, in: conversation, serverTime: serverTime))
  }

  /// The server has refused to take a message back: it is shown again, and its `failure` says why.
  ///
  /// - Returns: Whether the message was waiting for that.
  @discardableResult
  public func refuseUnsend(
    of id: MessageID, in conversation: ConversationID, because failure: Failure
  ) throws(StoreError) -> Bool {
    try transaction.perform(
      try transaction.unsends.refuseUnsend(of: id, in: conversation, because: failure))
  }

  /// Reacts to a message.
  ///
  /// - Returns: Whether the reaction is new.
  /// - Throws: `messageNotFound`, `messageIsDeleted`, `invalidReaction`.
  @discardableResult
  public func react(
    _ emoji: String, to id: MessageID, in conversation: ConversationID
  ) throws(StoreError) -> Bool {
    try transaction.perform(
      try transaction.composing.react(emoji, isRemoved: false, to: id, in: conversation))
  }

  /// Takes a reaction away.
  ///
  /// - Returns: Whether it was there.
  /// - Throws: `messageNotFound`, `messageIsDeleted`, `invalidReaction`.
  @discardableResult
  public func removeReaction(
    _ emoji: String, from id: MessageID, in conversation: ConversationID
  ) throws(StoreError) -> Bool {
    try transaction.perform(
      try transaction.composing.react(emoji, isRemoved: true, to: id, in: conversation))
  }
}
