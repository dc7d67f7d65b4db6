import PageFile

/// Changes messages that are here, and the waiting facts of messages that are not.
package struct MessageUpdates: TransactionPart {
  package let transaction: Transaction

  /// Runs `body`, which changes facts, with the name under which they are kept, and the numbers of
  /// reactions in the message's record, if it has any.
  ///
  /// The record of a stored message gets the marks that tell which kinds of facts it has; a message
  /// that is not here begins to wait. Nothing is kept for a message that was deleted, and without
  /// `keepsRetracted` for one that was retracted: then `body` does not run.
  ///
  /// - Parameter kind: The kind of the facts that `body` changes; nil if it changes several.
  /// - Returns: The result of `body`: true if anything changed.
  @inline(never)
  package func withFacts(
    of id: MessageID, in conversation: OpenConversation, keepsRetracted: Bool = false,
    kind: FactKind? = nil, _ body: (MessageID, inout ReactionCounts?) throws(StoreError) -> Bool
  ) throws(StoreError) -> Bool {
    switch try view.ids.entry(of: id, in: conversation.number) {
    case .deleted?:
      return false
    case .here(let position)?:
      let old = try flushed().messages.message(at: position, in: conversation.number)
      if old.traits.marks.contains(.retracted) && !keepsRetracted { return false }
      let own = old.id(at: position)
      var new = old
      // A message without the mark has no reactions to count.
      if localMember != nil, !old.traits.marks.contains(.reactions) {
        new.traits.reactionCounts = ReactionCounts()
      }
      guard try body(own, &new.traits.reactionCounts) else { return false }
      try transaction.messageFacts.noteFacts(
        of: own, in: conversation.number, &new, keepsCounts: true, changed: kind)
      try transaction.messages.replace(old, at: position, with: new, at: position, in: conversation)
      return true
    case .alias(let own)?:
      return try withWaitingFacts(of: own, in: conversation, keepsRetracted, body)
    case nil:
      return try withWaitingFacts(of: id, in: conversation, keepsRetracted, body)
    }
  }

  @inline(never)
  private func withWaitingFacts(
    of id: MessageID, in conversation: OpenConversation, _ keepsRetracted: Bool,
    _ body: (MessageID, inout ReactionCounts?) throws(StoreError) -> Bool
  ) throws(StoreError) -> Bool {
    var counts: ReactionCounts?
    if let waiting = try transaction.waitingMessages.waiting(id, in: conversation.number) {
      if waiting.traits.marks.contains(.retracted) && !keepsRetracted { return false }
      return try body(id, &counts)
    }
    guard try body(id, &counts) else { return false }
    try transaction.waitingMessages.noteWaiting(id, in: conversation.number)
    return true
  }

  /// Changes a message that is here, or the waiting facts of one that is not.
  ///
  /// Returns true if anything changed.
  func update(
    _ id: MessageID, in conversation: OpenConversation,
    here: (inout StoredMessage, MessageID) throws(StoreError) -> Void,
    waiting change: (inout WaitingFacts, MessageID) throws(StoreError) -> Void
  ) throws(StoreError) -> Bool {
    switch try view.ids.entry(of: id, in: conversation.number) {
    case .deleted?:
      return false
    case .here(let position)?:
      let old = try flushed().messages.message(at: position, in: conversation.number)
      var new = old
      try here(&new, old.id(at: position))
      guard new != old else { return false }
      try transaction.messages.replace(old, at: position, with: new, at: position, in: conversation)
      return true
    case .alias(let own)?:
      return try transaction.waitingMessages.noteWaiting(own, in: conversation.number) {
        (facts) throws(StoreError) in
        try change(&facts, own)
      }
    case nil:
      return try transaction.waitingMessages.noteWaiting(id, in: conversation.number) {
        (facts) throws(StoreError) in
        try change(&facts, id)
      }
    }
  }

  /// Merges a reaction that was received, at a time that the caller has found plausible, or one of
  /// an export, at any time.
  ///
  /// Returns true if anything changed.
  package func receive(
    _ reaction: Reaction, isRemoved: Bool, to id: MessageID, in conversation: ConversationID
  ) throws(StoreError) -> Bool {
    try id.validate()
    try conversation.validate()
    try reaction.validate()
    let conversation = try transaction.conversation(conversation) {
      ConversationDetails(id: conversation)
    }
    let member = try transaction.memberNumber(of: reaction.member)
    let record = ReactionRecord(
      time: reaction.time.microseconds, isRemoved: isRemoved, serverName: reaction.serverName)
    return try merge(record, reaction.emoji, of: member, to: id, in: conversation)
  }

  /// Merges what is known of one member's reaction with one emoji.
  ///
  /// Returns true if anything changed.
  func merge(
    _ record: ReactionRecord, _ emoji: String, of member: UInt32, to id: MessageID,
    in conversation: OpenConversation
  ) throws(StoreError) -> Bool {
    try withFacts(of: id, in: conversation, kind: .reaction) { (own, counts) throws(StoreError) in
      try transaction.messageFacts.mergeReaction(
        record, emoji, member, of: own, in: conversation.number, counting: &counts)
    }
  }
}

extension Transaction {
  package var messageUpdates: MessageUpdates { MessageUpdates(transaction: self) }
}
