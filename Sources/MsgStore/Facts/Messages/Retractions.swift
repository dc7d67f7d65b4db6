import PageFile

/// Retracts messages.
///
/// See docs/message-format.md, G-6.
extension MessageUpdates {
  /// Merges a retraction, whoever states it and however old the message is.
  ///
  /// Returns true if anything changed.
  func receiveRetraction(
    of id: MessageID, in conversation: ConversationID, at time: Timestamp?
  ) throws(StoreError) -> Bool {
    try id.validate()
    try conversation.validate()
    try time?.validate()
    let open = try transaction.conversation(conversation) {
      ConversationDetails(id: conversation)
    }
    switch try view.ids.entry(of: id, in: open.number) {
    case .here?: break
    case .alias(let own)?: try transaction.emit(.goneRetracted(own, in: open.number))
    case .deleted?, nil: try transaction.emit(.goneRetracted(id, in: open.number))
    }
    return try update(id, in: open) {
      (message, own) throws(StoreError) in
      // One of the local member's that was on its way has arrived, whatever its sending says.
      message.raise(.sent, MessageTraits())
      // The stored time is that of the local act, by the clock of the device.
      if time != nil, message.traits.marks.contains(.hidden) { message.traits.retractedAt = nil }
      message.traits.retractedAt = StoredMessage.earlier(
        message.traits.retractedAt, time?.microseconds)
      if !message.traits.marks.contains(.retracted) {
        try transaction.messageFacts.erase(&message, named: own, in: open.number)
      }
    } waiting: { (waiting, own) throws(StoreError) in
      waiting.status.advance(to: .sent, by: .server)
      if waiting.traits.marks.insert(.retracted).inserted {
        try transaction.messageFacts.eraseFacts(of: own, in: open.number)
        waiting.traits.ownFields = OwnFields()
      }
      waiting.traits.retractedAt = StoredMessage.earlier(
        waiting.traits.retractedAt, time?.microseconds)
    }
  }

  /// Erases a message whose retraction the server has confirmed.
  func confirmRetraction(
    of id: MessageID, in conversation: ConversationID, serverTime: Timestamp? = nil
  ) throws(StoreError) -> Bool {
    try changeHidden(id, in: conversation) { (message, own, number) throws(StoreError) in
      if let serverTime { message.traits.retractedAt = serverTime.microseconds }
      try transaction.messageFacts.erase(&message, named: own, in: number)
    }
  }

  /// Replaces the time that a retraction made here had by the clock of the device, once the server
  /// has told its own.
  ///
  /// If another time is known by now, the earlier one counts.
  func replaceRetractionTime(
    _ given: Int64, of id: MessageID, in conversation: ConversationID, by time: Int64
  ) throws(StoreError) -> Bool {
    guard let open = try transaction.existingConversation(conversation),
      let (position, old, _) = try flushed().messages.found(id, in: open.number),
      old.traits.marks.contains(.retracted)
    else { return false }
    var new = old
    let known = new.traits.retractedAt
    new.traits.retractedAt = known == given ? time : min(known ?? time, time)
    guard new != old else { return false }
    try transaction.messages.replace(old, at: position, with: new, at: position, in: open)
    return true
  }

  /// Shows a message again after the server has refused to retract it.
  func refuseRetraction(
    of id: MessageID, in conversation: ConversationID, because failure: SendFailure?
  ) throws(StoreError) -> Bool {
    try changeHidden(id, in: conversation) { (message, _, _) throws(StoreError) in
      message.traits.marks.remove(.hidden)
      message.traits.retractedAt = nil
      message.traits.sending.failure = failure
    }
  }

  private func changeHidden(
    _ id: MessageID, in conversation: ConversationID,
    _ body: (inout StoredMessage, MessageID, UInt32) throws(StoreError) -> Void
  ) throws(StoreError) -> Bool {
    guard let open = try transaction.existingConversation(conversation),
      let position = try view.ids.position(of: id, in: open.number)
    else { return false }
    let old = try flushed().messages.message(at: position, in: open.number)
    guard old.traits.marks.contains(.hidden) else { return false }
    var new = old
    try body(&new, old.id(at: position), open.number)
    try transaction.messages.replace(old, at: position, with: new, at: position, in: open)
    return true
  }
}
