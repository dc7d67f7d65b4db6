import PageFile

/// The reactions to messages, kept as facts.
package struct Reactions: TransactionPart {
  package let transaction: Transaction

  init(_ transaction: Transaction) { self.transaction = transaction }

  /// Merges the reactions that came with a message.
  ///
  /// Returns true if anything changed.
  func mergeReactions(
    _ reactions: [Reaction], of id: MessageID, in conversation: UInt32
  ) throws(StoreError) -> Bool {
    var isNews = false
    for reaction in reactions {
      let record = ReactionRecord(time: reaction.time.microseconds, isRemoved: false)
      let member = try transaction.memberNumber(of: reaction.member)
      if try mergeReaction(record, reaction.emoji, member, of: id, in: conversation) {
        isNews = true
      }
    }
    return isNews
  }

  package func mergeReaction(
    _ record: ReactionRecord, _ emoji: String, _ member: UInt32, of id: MessageID,
    in conversation: UInt32
  ) throws(StoreError) -> Bool {
    let key = ReactionRecord.key(conversation, id, member: member, emoji: emoji)
    if let old = try reaction(key.bytes), !record.succeeds(old),
      !StoreDefect.olderReactionWins.isPlanted
    {
      return false
    }
    transaction.hasAdded = true
    var value = ByteBuffer()
    record.appendChecked(to: &value)
    try transaction.insert(key.bytes, value.bytes, in: Schema.facts)
    return true
  }

  func reaction(_ key: Bytes) throws(StoreError) -> ReactionRecord? {
    var value = ByteBuffer()
    guard try view.value(of: key, in: Schema.facts, appendTo: &value) else { return nil }
    guard let record = ReactionRecord(value.bytes) else {
      throw view.corrupt(Schema.facts, "malformed reaction")
    }
    return record
  }
}

extension Transaction {
  package var reactions: Reactions { Reactions(self) }
}
