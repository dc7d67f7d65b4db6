/// What the local member composes.
extension WriteState {
  func send(_ message: Message) throws(StoreError) -> Message {
    let local = try localMemberID()
    guard message.sender == local else {
      throw .notOwnMessage(message.id, in: message.conversation)
    }
    try check(message.text, hasAttachment: !message.attachments.isEmpty)
    try Self.validateMessage(message)
    for attachment in message.attachments {
      // The source may be larger than what is uploaded in the end, which is checked then.
      var source = attachment
      source.byteCount = nil
      if let problem = rules.attachmentLimits.check(source) { throw .invalidAttachment(problem) }
    }
    return try change { () throws(StoreError) in
      if let open = try existingConversation(message.conversation) {
        try checkMembership(open, message.conversation)
        if try reader.entry(of: message.id, in: open.number) != nil {
          throw .idInUse(message.id, in: message.conversation)
        }
      }
      // How far a message that is sent again or forwarded had come is not how far this one has; that it
      // is to be held is for whoever sends it to say.
      let isHeld = message.status == .held ? true : try holdsComposed
      var composed = Message(
        id: message.id, in: message.conversation, from: local, text: message.text,
        localTime: message.localTime ?? clock(), status: isHeld ? .held : .pending,
        replyTo: message.replyTo)
      composed.mentions = message.mentions
      composed.attachments = message.attachments
      guard try insert(valid: composed, as: .live) == .inserted else {
        throw .idInUse(message.id, in: message.conversation)
      }
      guard let open = try existingConversation(message.conversation) else {
        throw reader.corrupt(Schema.conversations, "a conversation is gone that was written to")
      }
      try enterSend(composed, in: open.number)
      guard let stored = try reader.message(message.id, in: message.conversation) else {
        throw reader.corrupt(Schema.messages, "a message is gone that was written")
      }
      return stored
    }
  }

  /// Refuses what somebody does in a conversation that they have left.
  ///
  /// One that is known from its messages only has been left by nobody.
  func checkMembership(
    _ conversation: OpenConversation, _ id: ConversationID
  ) throws(StoreError) {
    if try reader.details(conversation.number).hasLeft { throw .notAParticipant(id) }
  }

  /// Refuses a composed text beyond the limits.
  func check(_ text: String, hasAttachment: Bool) throws(StoreError) {
    if let problem = rules.textLimits.check(text, hasAttachment: hasAttachment).problem {
      throw .invalidText(problem)
    }
  }
}
