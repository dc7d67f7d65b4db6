/// What the local member composes.
extension WriteState {
  func send(_ message: Message) throws(StoreError) -> Message {
    let local = try localMemberID()
    guard message.sender == local else {
      throw .notOwnMessage(message.id, in: message.conversation)
    }
    try check(message.text, hasAttachment: !message.attachments.isEmpty)
    try Self.validate(message)
    for attachment in message.attachments {
      // The source may be larger than what is uploaded in the end, which is checked then.
      var source = attachment
      source.byteCount = nil
      if let problem = rules.attachmentLimits.check(source) { throw .invalidAttachment(problem) }
    }
    // What a message that was forwarded has come to elsewhere is not this one's.
    var status = message.status.isServerKnowledge ? .pending : message.status
    if status == .pending, try change({ () throws(StoreError) in try holdsComposed }) {
      status = .held
    }
    var composed = Message(
      id: message.id, in: message.conversation, from: local, text: message.text,
      localTime: message.localTime ?? clock(), status: status, replyTo: message.replyTo)
    composed.mentions = message.mentions
    composed.attachments = message.attachments
    let outcome = try change { () throws(StoreError) -> InsertOutcome in
      if let open = try existingConversation(message.conversation) {
        try checkMembership(open, message.conversation)
        if try reader.entry(of: message.id, in: open.number) != nil {
          throw .idInUse(message.id, in: message.conversation)
        }
      }
      let outcome = try insert(composed, as: .live)
      if outcome == .inserted, let open = try existingConversation(message.conversation) {
        try enterSend(composed, in: open.number)
      }
      return outcome
    }
    guard outcome == .inserted,
      let stored = try reader.message(message.id, in: message.conversation)
    else { throw .idInUse(message.id, in: message.conversation) }
    return stored
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
