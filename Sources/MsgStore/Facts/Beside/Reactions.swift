import PageFile

/// The reactions to messages, kept as facts.
package struct Reactions: TransactionPart {
  package let transaction: Transaction

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
    if let old = try reaction(key), !record.succeeds(old),
      !StoreDefect.olderReactionWins.isPlanted
    {
      return false
    }
    transaction.hasAdded = true
    try transaction.put(record, at: key)
    return true
  }

  func reaction(_ key: borrowing ByteBuffer) throws(StoreError) -> ReactionRecord? {
    try view.record(key)
  }
}

extension Transaction {
  package var reactions: Reactions { Reactions(transaction: self) }
}
