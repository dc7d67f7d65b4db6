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
    var counts: ReactionCounts?
    for reaction in reactions {
      let record = ReactionRecord(
        time: reaction.time.microseconds, isRemoved: false, serverName: reaction.serverName)
      let member = try transaction.memberNumber(of: reaction.member)
      if try mergeReaction(
        record, reaction.emoji, member, of: id, in: conversation, counting: &counts)
      {
        isNews = true
      }
    }
    return isNews
  }

  /// Merges one reaction, or its removal.
  ///
  /// - Parameter counts: The numbers in the message's record, which change with it.
  /// - Returns: True if anything changed.
  package func mergeReaction(
    _ given: ReactionRecord, _ emoji: String, _ member: UInt32, of id: MessageID,
    in conversation: UInt32, counting counts: inout ReactionCounts?
  ) throws(StoreError) -> Bool {
    let key = ReactionRecord.key(conversation, id, member: member, emoji: emoji)
    let old = try reaction(key)
    var record = given
    if let old, !StoreDefect.olderReactionWins.isPlanted { record = given.joined(with: old) }
    if record == old { return false }
    transaction.hasAdded = true
    try transaction.put(record, at: key)
    if record.isRemoved != (old?.isRemoved ?? true) {
      recount(emoji, isRemoved: record.isRemoved, isOwn: member == localMember, &counts)
    }
    return true
  }

  /// Counts an addition or a removal; drops counts that do not agree with it or become too many.
  private func recount(
    _ emoji: String, isRemoved: Bool, isOwn: Bool, _ counts: inout ReactionCounts?
  ) {
    guard var new = counts else { return }
    if isRemoved {
      let isCounted =
        StoreDefect.removedReactionCounted.isPlanted || new.remove(emoji, isOwn: isOwn)
      counts = isCounted ? new : nil
    } else {
      new.add(emoji, isOwn: isOwn)
      counts = new.all.count <= ReactionCounts.maximumCount ? new : nil
    }
  }

  /// Returns the numbers to be stored with a message that has reactions.
  func counts(of id: MessageID, in conversation: UInt32) throws(StoreError) -> ReactionCounts? {
    guard localMember != nil else { return nil }
    let counts = try view.facts.reactionCounts(of: id, in: conversation)
    return counts.all.count <= ReactionCounts.maximumCount ? counts : nil
  }

  func reaction(_ key: borrowing ByteBuffer) throws(StoreError) -> ReactionRecord? {
    try view.record(key)
  }
}

extension Transaction {
  package var reactions: Reactions { Reactions(transaction: self) }
}
