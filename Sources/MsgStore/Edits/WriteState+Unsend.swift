import PageFile

/// Taking messages back.
///
/// See docs/message-format.md, G-6.
extension WriteState {
  /// Merges that a message was taken back, whoever says so and however old it is.
  func receiveUnsend(
    of id: MessageID, in conversation: ConversationID, at time: Timestamp?
  ) throws(StoreError) -> Bool {
    try id.validate()
    try conversation.validate()
    return try change { () throws(StoreError) in
      let open = try self.conversation(conversation) { ConversationDetails(id: conversation) }
      return try update(id, in: open) { (message, own) throws(StoreError) in
        // That of the local member's act was by the device's clock.
        if time != nil, message.traits.marks.contains(.hidden) { message.traits.unsentAt = nil }
        message.raise(
          message.status, deliveredAt: nil, readAt: nil, unsentAt: time?.microseconds)
        if !message.traits.marks.contains(.unsent) {
          try erase(&message, named: own, in: open.number)
        }
      } waiting: { (waiting, own) throws(StoreError) in
        if waiting.traits.marks.insert(.unsent).inserted {
          try eraseFacts(of: own, in: open.number)
        }
        waiting.traits.unsentAt = StoredMessage.earlier(
          waiting.traits.unsentAt, time?.microseconds)
      }
    }
  }

  /// Takes a message of the local member's back.
  ///
  /// It is hidden at once. One that never left goes, or is erased where only its status says so; of
  /// another the server has to be told, and says whether it agrees.
  func unsend(_ id: MessageID, in conversation: ConversationID) throws(StoreError) -> Bool {
    try change { () throws(StoreError) in
      let target = try ownMessage(id, in: conversation)
      if try isTooOldToUnsend(target) { throw .unsendTooLate(id, in: conversation) }
      let number = target.conversation.number
      let known = try mayHaveLeft(target.id, in: number)
      if known == false {
        try enterUnsend(of: target.id, mayHaveLeft: false, in: number)
        reader.source.isErasing = true
        _ = try takeOut(target.position, of: target.conversation)
        try updatePending(target.conversation)
        return true
      }
      var new = target.message
      new.traits.unsentAt = clock().microseconds
      let mayHaveLeft = known ?? ![.pending, .held].contains(new.status)
      if mayHaveLeft {
        new.traits.marks.insert(.hidden)
        new.traits.sending.failure = nil
      } else {
        try erase(&new, named: target.id, in: number)
      }
      try replace(
        target.message, at: target.position, with: new, at: target.position,
        in: target.conversation)
      try enterUnsend(of: target.id, mayHaveLeft: mayHaveLeft, in: number)
      return true
    }
  }

  /// Whether the server's own times show that a message is too old to be taken back.
  ///
  /// How late it is now nobody knows but the server, which has the last word.
  private func isTooOldToUnsend(_ target: Target) throws(StoreError) -> Bool {
    guard let limit = rules.unsendAgeMax?.microseconds, !target.position.place.isPending,
      let newest = try newestServerTime(in: target.conversation)
    else { return false }
    let time = target.position.place.time
    let (age, isOverflow) = newest.subtractingReportingOverflow(time)
    return newest > time && (isOverflow || age > limit)
  }

  /// The server has taken a message back as it was asked.
  func confirmUnsend(
    of id: MessageID, in conversation: ConversationID, serverTime: Timestamp? = nil
  ) throws(StoreError) -> Bool {
    try changeHidden(id, in: conversation) { (message, own, number) throws(StoreError) in
      if let serverTime { message.traits.unsentAt = serverTime.microseconds }
      try erase(&message, named: own, in: number)
    }
  }

  /// The server has refused to take a message back: it is shown again.
  func refuseUnsend(
    of id: MessageID, in conversation: ConversationID, because failure: Failure?
  ) throws(StoreError) -> Bool {
    try changeHidden(id, in: conversation) { (message, _, _) throws(StoreError) in
      message.traits.marks.remove(.hidden)
      message.traits.unsentAt = nil
      message.traits.sending.failure = failure
    }
  }

  private func changeHidden(
    _ id: MessageID, in conversation: ConversationID,
    _ body: (inout StoredMessage, MessageID, UInt32) throws(StoreError) -> Void
  ) throws(StoreError) -> Bool {
    try change { () throws(StoreError) in
      guard let open = try existingConversation(conversation),
        let position = try reader.position(of: id, in: open.number)
      else { return false }
      let old = try reader.message(at: position, in: open.number)
      guard old.traits.marks.contains(.hidden) else { return false }
      var new = old
      try body(&new, old.id(at: position), open.number)
      try replace(old, at: position, with: new, at: position, in: open)
      return true
    }
  }
}
