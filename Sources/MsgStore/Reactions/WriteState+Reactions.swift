import PageFile

/// Adding and removing reactions.
extension WriteState {
  /// Merges what was received of a reaction.
  ///
  /// Returns whether that is news.
  func receive(
    _ reaction: Reaction, isRemoved: Bool, to id: MessageID, in conversation: ConversationID
  ) throws(StoreError) -> Bool {
    try id.validate()
    try conversation.validate()
    try reaction.validate()
    return try change { () throws(StoreError) in
      let conversation = try self.conversation(conversation) {
        ConversationDetails(id: conversation)
      }
      let member = try memberNumber(of: reaction.member)
      let record = ReactionRecord(time: reaction.time.microseconds, isRemoved: isRemoved)
      return try withFacts(of: id, in: conversation) { (own) throws(StoreError) in
        try mergeReaction(record, reaction.emoji, member, of: own, in: conversation.number)
      }
    }
  }

  /// Merges reactions that came with a message.
  func mergeReactions(
    _ reactions: [Reaction], of id: MessageID, in conversation: UInt32
  ) throws(StoreError) -> Bool {
    var isNews = false
    for reaction in reactions {
      let record = ReactionRecord(time: reaction.time.microseconds, isRemoved: false)
      let member = try memberNumber(of: reaction.member)
      if try mergeReaction(record, reaction.emoji, member, of: id, in: conversation) { isNews = true }
    }
    return isNews
  }

  func mergeReaction(
    _ record: ReactionRecord, _ emoji: String, _ member: UInt32, of id: MessageID,
    in conversation: UInt32
  ) throws(StoreError) -> Bool {
    let key = ReactionRecord.key(conversation, id, member: member, emoji: emoji)
    if let old = try reaction(key.bytes), !record.succeeds(old),
      !StoreDefect.olderReactionWins.isPlanted
    {
      return false
    }
    hasAdded = true
    var value = ByteBuffer()
    record.appendChecked(to: &value)
    try insert(key.bytes, value.bytes, in: Schema.facts)
    return true
  }

  func reaction(_ key: Bytes) throws(StoreError) -> ReactionRecord? {
    var value = ByteBuffer()
    guard try reader.value(of: key, in: Schema.facts, appendTo: &value) else { return nil }
    guard let record = ReactionRecord(value.bytes) else {
      throw reader.corrupt(Schema.facts, "a reaction is no record")
    }
    return record
  }

  /// Reacts in the local member's name, or takes that back.
  func react(
    _ emoji: String, isRemoved: Bool, to id: MessageID, in conversation: ConversationID
  ) throws(StoreError) -> Bool {
    let local = try localMemberID()
    try Reaction(emoji, from: local, at: Timestamp(microseconds: 0)).validate()
    return try change { () throws(StoreError) in
      let target = try ownTarget(id, in: conversation)
      guard let member = localMember else { throw .noLocalMember }
      let key = ReactionRecord.key(
        target.conversation.number, target.id, member: member, emoji: emoji)
      let old = try reaction(key.bytes)
      guard (old?.isRemoved ?? true) != isRemoved else { return false }
      let time = Self.provisionalTime(
        after: old?.time, try newestServerTime(in: target.conversation))
      let record = ReactionRecord(time: time, isRemoved: isRemoved)
      let number = target.conversation.number
      let isNews = try withFacts(of: id, in: target.conversation) { (own) throws(StoreError) in
        try mergeReaction(record, emoji, member, of: own, in: number)
      }
      if isNews { try enterReaction(emoji, isRemoved: isRemoved, to: target.id, in: number) }
      return isNews
    }
  }
}
