/// Acts of the local member on messages; here the rules for composing apply.
///
/// All act in the local member's name, and throw `noLocalMember` in a store without one.
extension StoreWriter {
  /// Stores a message that the local member has written: pending, and visible in the tail at once.
  ///
  /// A conversation that is not there is made, without members and without an outbox entry for it:
  /// some servers know conversations by their messages only. If a conversation has to be made on
  /// the server first, use `createGroup` or `conversation(with:)`.
  ///
  /// - Parameter message: The message. Its sender must be the local member. If it was written
  ///   earlier, only its id, text, local time, reply, mentions, attachments and the status `held`
  ///   are used. Without a local time it gets the clock's.
  /// - Throws: `invalidText` beyond the limits of `StoreOptions.textLimits`; `invalidAttachment`;
  ///   `notOwnMessage` for another sender; `notAParticipant` if the conversation has members but
  ///   not the local one; `idInUse` if the message exists; `invalidIdentifier`.
  @discardableResult
  public func send(_ message: Message) throws(StoreError) -> Message {
    try transaction.perform(try transaction.composing.send(message))
  }

  /// Changes the text of one of the local member's messages.
  ///
  /// The new text is shown at once, and waits for the server's answer: `confirmEdit` or
  /// `refuseEdit`.
  ///
  /// - Returns: The time of the edit, which names it in the answer; nil if the text is the same.
  /// - Throws: `invalidText`, `notOwnMessage`, `messageNotFound`, `messageIsDeleted`,
  ///   `tooManyPendingEdits`.
  @discardableResult
  public func edit(
    _ id: MessageID, in conversation: ConversationID, text: String, mentions: [MemberID] = []
  ) throws(StoreError) -> Timestamp? {
    try transaction.perform(
      try transaction.composing.edit(id, in: conversation, text: text, mentions: mentions))
  }

  /// Confirms an edit that the server has accepted.
  ///
  /// - Parameters:
  ///   - id: The message.
  ///   - conversation: The conversation of the message.
  ///   - time: The time returned by `edit`.
  ///   - serverTime: The time under which other devices learn of the edit, if it differs.
  /// - Returns: True if the edit was pending.
  @discardableResult
  public func confirmEdit(
    of id: MessageID, in conversation: ConversationID, at time: Timestamp,
    serverTime: Timestamp? = nil
  ) throws(StoreError) -> Bool {
    try transaction.perform(
      try transaction.edits.confirmEdit(of: id, in: conversation, at: time, serverTime: serverTime))
  }

  /// Undoes an edit that the server has refused, and notes the reason in the message's `failure`.
  ///
  /// - Returns: True if the edit was pending.
  @discardableResult
  public func refuseEdit(
    of id: MessageID, in conversation: ConversationID, at time: Timestamp,
    because failure: SendFailure
  ) throws(StoreError) -> Bool {
    try transaction.perform(
      try transaction.edits.refuseEdit(of: id, in: conversation, at: time, because: failure))
  }

  /// Retracts one of the local member's messages.
  ///
  /// Possible within `StoreOptions.maximumUnsendAge`, inclusive, and for a pending message at any
  /// age. The message is hidden at once. If it cannot have left the outbox, it disappears as if it
  /// had never existed, with everything there was to tell of it. If only its status says that it
  /// has not left, it is erased. Otherwise the server has to be told, and `confirmUnsend` or
  /// `refuseUnsend` follows.
  ///
  /// - Throws: `notOwnMessage`, `messageNotFound`, `messageIsDeleted`, `unsendTooLate`.
  @discardableResult
  public func unsend(
    _ id: MessageID, in conversation: ConversationID
  ) throws(StoreError) -> Bool {
    try transaction.perform(try transaction.composing.unsend(id, in: conversation))
  }

  /// Confirms a retraction: text, history, reactions and attachments are removed for good.
  ///
  /// They are in none of the files once a checkpoint that began after the commit has returned.
  ///
  /// - Parameters:
  ///   - id: The message.
  ///   - conversation: The conversation of the message.
  ///   - serverTime: The time under which other devices learn of it, if known.
  /// - Returns: True if the retraction was pending.
  @discardableResult
  public func confirmUnsend(
    of id: MessageID, in conversation: ConversationID, serverTime: Timestamp? = nil
  ) throws(StoreError) -> Bool {
    try transaction.perform(
      try transaction.unsends.confirmUnsend(of: id, in: conversation, serverTime: serverTime))
  }

  /// Undoes a retraction that the server has refused: the message is shown again.
  ///
  /// Its `failure` has the reason.
  ///
  /// - Returns: True if the retraction was pending.
  @discardableResult
  public func refuseUnsend(
    of id: MessageID, in conversation: ConversationID, because failure: SendFailure
  ) throws(StoreError) -> Bool {
    try transaction.perform(
      try transaction.unsends.refuseUnsend(of: id, in: conversation, because: failure))
  }

  /// Adds a reaction to a message.
  ///
  /// - Returns: True if the reaction is new.
  /// - Throws: `messageNotFound`, `messageIsDeleted`, `invalidReaction`.
  @discardableResult
  public func react(
    _ emoji: String, to id: MessageID, in conversation: ConversationID
  ) throws(StoreError) -> Bool {
    try transaction.perform(
      try transaction.composing.react(emoji, isRemoved: false, to: id, in: conversation))
  }

  /// Removes a reaction from a message.
  ///
  /// - Returns: True if the reaction was there.
  /// - Throws: `messageNotFound`, `messageIsDeleted`, `invalidReaction`.
  @discardableResult
  public func removeReaction(
    _ emoji: String, from id: MessageID, in conversation: ConversationID
  ) throws(StoreError) -> Bool {
    try transaction.perform(
      try transaction.composing.react(emoji, isRemoved: true, to: id, in: conversation))
  }
}
