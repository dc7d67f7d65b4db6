/// Acts of the local member on messages; here the rules for composing apply.
///
/// All act in the local member's name, and throw `noLocalMember` in a store without one.
extension StoreWriter {
  /// Stores a message that the local member has written: pending, and visible in the tail at once.
  ///
  /// The conversation has to be there: received, or made by `createGroup` or
  /// `findOrCreateConversation(with:)`, which also enter it into the outbox. Where the server knows
  /// conversations by their messages only, `StoreOptions.createsConversationsOnSend` lets this call
  /// make one, without members and without an outbox entry for it.
  ///
  /// - Parameter message: The message. Its sender must be the local member. If it was written
  ///   earlier, only its id, text, local time, reply, mentions, attachments and the status `held`
  ///   are used. Without a local time it gets the clock's.
  /// - Throws: `input(.text)` beyond the limits of `StoreOptions.textLimits`; `input(.attachment)`;
  ///   `message(.notOwn)` for another sender; `conversation(.notFound)` if the conversation does
  ///   not exist or was deleted; `conversation(.notAMember)` if its members are known and the local
  ///   one does not take part; `message(.idInUse)` if the message exists; `input(.identifier)`;
  ///   `input(.implausibleTime)`.
  @discardableResult
  public func send(_ message: Message) throws(StoreError) -> Message {
    try transaction.perform(try transaction.composing.send(message))
  }

  /// Stores a message that the local member has written, to be sent at a time.
  ///
  /// The message is shown as held, and nothing waits for it. At that time, by the store's clock, it
  /// is queued by itself, before messages written later that still wait. `OutboxWriter.release`
  /// sends it before, `schedule` gives it another time, `hold` takes the time away, and `retract`
  /// removes it. If the time has passed it is sent at once; where new entries are held, it is held
  /// without a time.
  ///
  /// - Parameters:
  ///   - message: The message; see `send(_:)`, also for the errors.
  ///   - time: The time at which it is to be sent.
  @discardableResult
  public func send(_ message: Message, at time: Timestamp) throws(StoreError) -> Message {
    try transaction.perform(try transaction.composing.send(message, at: time))
  }

  /// Changes the text of one of the local member's messages.
  ///
  /// Possible within `StoreOptions.maximumEditAge`, inclusive, and for a pending message at any
  /// age. The new text is shown at once, and waits in the outbox for the server's answer.
  ///
  /// - Returns: The time of the edit, which names it in the answer; nil if the text is the same.
  /// - Throws: `input(.text)`, `message(.notOwn)`, `message(.notFound)`, `message(.retracted)`,
  ///   `message(.tooOldToEdit)`, `message(.tooManyPendingEdits)`.
  @discardableResult
  public func edit(
    _ id: MessageID, in conversation: ConversationID, text: String, mentions: [MemberID] = []
  ) throws(StoreError) -> Timestamp? {
    try transaction.perform(
      try transaction.composing.edit(id, in: conversation, text: text, mentions: mentions))
  }

  /// Retracts one of the local member's messages.
  ///
  /// Possible within `StoreOptions.maximumRetractionAge`, inclusive, and for a pending message at
  /// any age. The message is hidden at once. If it cannot have left the outbox, it disappears as if
  /// it had never existed, with everything there was to tell of it. If only its status says that it
  /// has not left, it is erased. Otherwise the server has to be told through the outbox, and its
  /// answer erases the message or shows it again.
  ///
  /// - Throws: `message(.notOwn)`, `message(.notFound)`, `message(.retracted)`,
  ///   `message(.tooOldToRetract)`.
  @discardableResult
  public func retract(
    _ id: MessageID, in conversation: ConversationID
  ) throws(StoreError) -> Bool {
    try transaction.perform(try transaction.composing.retract(id, in: conversation))
  }

  /// Adds a reaction to a message.
  ///
  /// - Returns: True if the reaction is new.
  /// - Throws: `message(.notFound)`, `message(.retracted)`, `input(.reaction)`.
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
  /// - Throws: `message(.notFound)`, `message(.retracted)`, `input(.reaction)`.
  @discardableResult
  public func removeReaction(
    _ emoji: String, from id: MessageID, in conversation: ConversationID
  ) throws(StoreError) -> Bool {
    try transaction.perform(
      try transaction.composing.react(emoji, isRemoved: true, to: id, in: conversation))
  }
}
