import PageFile

/// Changes the statuses of messages, by the table in docs/message-states.md.
extension MessageUpdates {
  /// A change of a status: of which message, and the status before.
  struct StatusChange {
    let message: MessageID
    let conversation: UInt32
    let old: MessageStatus
  }

  /// Changes the local state of a message that the server does not know yet.
  ///
  /// Returns nil if there is no such message, or nothing changes.
  @inline(never)
  func setStatus(
    _ status: MessageStatus, of id: MessageID, in conversation: ConversationID,
    retryAt: Timestamp?, failure: SendFailure?
  ) throws(StoreError) -> StatusChange? {
    guard let open = try transaction.existingConversation(conversation),
      let found = try flushed().messages.found(id, in: open.number)
    else { return nil }
    return try setStatus(status, of: found, in: open, retryAt: retryAt, failure: failure)
  }

  /// Changes the local state of a message that was found.
  @inline(never)
  func setStatus(
    _ status: MessageStatus, of found: LocatedMessage, in open: OpenConversation,
    retryAt: Timestamp?, failure: SendFailure?
  ) throws(StoreError) -> StatusChange? {
    let (position, old, own) = found
    guard !old.status.isServerKnowledge, !old.traits.marks.contains(.retracted) else {
      return nil
    }
    var new = old
    new.status.advance(to: status, by: .client)
    switch status {
    case .retrying:
      new.traits.sending.retryAt = retryAt?.microseconds
      new.traits.sending.retryCount += old.status == .retrying ? 0 : 1
      if let failure { new.traits.sending.failure = failure }
    case .failed:
      new.traits.sending.retryAt = nil
      new.traits.sending.failure = failure ?? old.traits.sending.failure
    default:
      new.traits.sending.retryAt = nil
      if old.status == .failed && status == .sending { new.traits.sending.retryCount += 1 }
    }
    guard new != old else { return nil }
    try transaction.messages.replace(old, at: position, with: new, at: position, in: open)
    return StatusChange(message: own, conversation: open.number, old: old.status)
  }

  /// Merges a status received from the server.
  ///
  /// Returns true if anything changed.
  func receiveStatus(
    _ status: MessageStatus, of id: MessageID, in conversation: ConversationID,
    at time: Timestamp?
  ) throws(StoreError) -> Bool {
    try id.validate()
    try conversation.validate()
    try time?.validate()
    var times = MessageTraits()
    if status == .delivered { times.deliveredAt = time?.microseconds }
    if status == .read { times.readAt = time?.microseconds }
    let open = try transaction.conversation(conversation) {
      ConversationDetails(id: conversation)
    }
    return try update(id, in: open) { (message, _) throws(StoreError) in
      message.raise(status, times)
    } waiting: { (waiting, _) in
      waiting.status.advance(to: status, by: .server)
      waiting.traits.joinTimes(times)
    }
  }
}
