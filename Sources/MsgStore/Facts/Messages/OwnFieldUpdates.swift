/// Receives the client's own fields of messages, whether they are here or not.
extension MessageUpdates {
  /// Merges received statements about the fields of a message.
  ///
  /// Returns true if anything changed.
  func receive(
    _ fields: [OwnField], of id: MessageID, in conversation: ConversationID
  ) throws(StoreError) -> Bool {
    try id.validate()
    try conversation.validate()
    try OwnField.validate(fields)
    let registers = fields.map(\.register).filter { !$0.isLarge }
    if registers.isEmpty { return false }
    let open = try transaction.conversation(conversation) {
      ConversationDetails(id: conversation)
    }
    return try merge(registers, of: id, in: open)
  }

  /// Merges registers with whole values into the fields of a message.
  ///
  /// A message that was retracted or deleted keeps none.
  package func merge(
    _ registers: [OwnRegister], of id: MessageID, in open: OpenConversation
  ) throws(StoreError) -> Bool {
    try update(id, in: open) { (message, own) throws(StoreError) in
      if message.traits.marks.contains(.retracted) { return }
      try transaction.messageFacts.mergeOwnFields(
        registers, into: &message.traits.ownFields, of: own, in: open.number)
    } waiting: { (waiting, own) throws(StoreError) in
      if waiting.traits.marks.contains(.retracted) { return }
      try transaction.messageFacts.mergeOwnFields(
        registers, into: &waiting.traits.ownFields, of: own, in: open.number)
    }
  }
}
