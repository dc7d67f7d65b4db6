import PageFile

/// The reactions to messages, kept as facts.
extension MessageFacts {
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
  @inline(never)
  package func mergeReaction(
    _ given: ReactionRecord, _ emoji: String, _ member: UInt32, of id: MessageID,
    in conversation: UInt32, counting counts: inout ReactionCounts?
  ) throws(StoreError) -> Bool {
    let old = try stored(emoji, of: member, to: id, in: conversation)
    var record = given
    if let old, !StoreDefect.olderReactionWins.isPlanted {
      record = given.joined(with: old.record)
    }
    if record == old?.record { return false }
    transaction.hasAdded = true
    if let old, old.kind != record.kind {
      let key = ReactionRecord.key(conversation, id, old.kind, member: member, emoji: emoji)
      try transaction.remove(key, in: Schema.facts)
    }
    let key = ReactionRecord.key(conversation, id, record.kind, member: member, emoji: emoji)
    try transaction.put(record, at: key)
    if record.isRemoved != (old?.record.isRemoved ?? true), let known = counts {
      let isOwn = member == localMember
      counts = try countsWithRarer(
        known, emoji, isRemoved: record.isRemoved, isOwn: isOwn, of: id, in: conversation)
    }
    return true
  }

  /// Returns the numbers to be stored with a message that has reactions, counted one by one.
  ///
  /// The numbers for which its record has no room become facts.
  func reactionCounts(
    of id: MessageID, in conversation: UInt32
  ) throws(StoreError) -> ReactionCounts? {
    guard localMember != nil else { return nil }
    var counts = try view.facts.reactionCounts(of: id, in: conversation)
    try replaceRarerEmoji(
      with: counts.keepMostUsed(), of: id, in: conversation)
    return counts
  }

  /// Returns what is known of one member's reaction with one emoji.
  func reaction(
    _ emoji: String, of member: UInt32, to id: MessageID, in conversation: UInt32
  ) throws(StoreError) -> ReactionRecord? {
    try stored(emoji, of: member, to: id, in: conversation)?.record
  }

  /// Returns the record, and the kind under which it lies.
  @inline(never)
  private func stored(
    _ emoji: String, of member: UInt32, to id: MessageID, in conversation: UInt32
  ) throws(StoreError) -> (record: ReactionRecord, kind: FactKind)? {
    for kind in [FactKind.reaction, .removedReaction] {
      let key = ReactionRecord.key(conversation, id, kind, member: member, emoji: emoji)
      let record: ReactionRecord? = try view.record(key)
      if let record { return (record, kind) }
    }
    return nil
  }

  /// Merges the reactions of a message with those under another name.
  ///
  /// The caller removes them under the first one, and counts them unless there were none under the
  /// other.
  func copyReactions(
    of id: MessageID, in conversation: UInt32, to other: MessageID, in target: UInt32
  ) throws(StoreError) {
    var found: [(UInt32, String, ReactionRecord)] = []
    for kind in [FactKind.reaction, .removedReaction] {
      let prefix = FactKey.prefix(conversation, id, kind)
      try view.facts.forEachFact(prefix) { (rest, value) throws(StoreError) in
        let (member, emoji, record) = try view.facts.reaction(rest, value, to: id)
        found.append((member, emoji.repairedText(), record))
      }
    }
    var counts: ReactionCounts?
    for (member, emoji, record) in found {
      _ = try mergeReaction(record, emoji, member, of: other, in: target, counting: &counts)
    }
    try copyRarerEmoji(of: id, in: conversation, to: other, in: target)
  }
}
