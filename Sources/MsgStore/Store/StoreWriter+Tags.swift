/// Tags that are set on messages.
extension StoreWriter {
  /// Sets a tag of a message for the local member.
  ///
  /// It is kept in this store and not sent: a client that shares its tags tells its server itself,
  /// and receives those of other devices with ``receiveTag(_:isRemoved:of:in:at:)``. The change has
  /// the time of the clock, or one microsecond more than that of the change that it replaces, if
  /// that is later.
  ///
  /// - Parameters:
  ///   - tag: ``MessageTag/pinned``, ``MessageTag/starred``, ``MessageTag/link``, or one of the
  ///     client's own.
  ///   - id: The message, which must be here.
  ///   - conversation: The conversation of the message.
  /// - Returns: False if the tag is set already.
  /// - Throws: `message(.notFound)`, `message(.retracted)`; `input(.tag)` if the tag follows from
  ///   the message; `input(.identifier)`; `input(.tooMany(.ownTags))`.
  @discardableResult
  public func setTag(
    _ tag: MessageTag, of id: MessageID, in conversation: ConversationID
  ) throws(StoreError) -> Bool {
    try transaction.perform(
      try transaction.messageUpdates.setTag(tag, isRemoved: false, of: id, in: conversation))
  }

  /// Removes a tag of a message for the local member, as `setTag(_:of:in:)` sets it.
  ///
  /// - Returns: False if the tag is not set.
  /// - Throws: As `setTag(_:of:in:)`.
  @discardableResult
  public func removeTag(
    _ tag: MessageTag, of id: MessageID, in conversation: ConversationID
  ) throws(StoreError) -> Bool {
    try transaction.perform(
      try transaction.messageUpdates.setTag(tag, isRemoved: true, of: id, in: conversation))
  }

  /// Merges a tag that was set or removed elsewhere.
  ///
  /// Of each tag of a message the latest change counts; of equal times the removal. Tags of a
  /// message that is not here yet wait for it, and go with it when it is retracted or deleted.
  ///
  /// - Returns: True if anything changed.
  /// - Throws: `input(.tag)` if the tag follows from the message; `input(.identifier)`;
  ///   `input(.implausibleTime)`; `input(.tooMany(.ownTags))`.
  @discardableResult
  public func receiveTag(
    _ tag: MessageTag, isRemoved: Bool = false, of id: MessageID,
    in conversation: ConversationID, at time: Timestamp
  ) throws(StoreError) -> Bool {
    try time.validate()
    return try transaction.perform(
      try transaction.messageUpdates.receive(
        tag, isRemoved: isRemoved, of: id, in: conversation, at: time))
  }
}
