import PageFile

/// The numbers of reactions with emoji for which the record of a message has no room, kept as
/// facts.
///
/// Each change costs a few lookups, however many emoji there are. Which emoji the record has
/// follows from the numbers alone, not from the order of changes: those that are used most.
///
/// See docs/message-format.md, X-7 and F-30.
extension MessageFacts {
  /// Counts the addition or the removal of one reaction.
  ///
  /// - Parameter known: The numbers in the message's record.
  /// - Returns: The numbers of the record from now on; nil if the stored ones do not agree with the
  ///   change, and have to be counted anew.
  @inline(never)
  func countsWithRarer(
    _ known: ReactionCounts, _ emoji: String, isRemoved: Bool, isOwn: Bool, of id: MessageID,
    in conversation: UInt32
  ) throws(StoreError) -> ReactionCounts? {
    if isRemoved, StoreDefect.removedReactionCounted.isPlanted { return known }
    var counts = known
    let kept = counts[emoji]
    let isFull = counts.isFull
    let old =
      kept == nil && isFull
      ? try view.facts.rarerEmoji(emoji, of: id, in: conversation) : kept
    if isRemoved, old == nil { return nil }
    let new =
      isRemoved
      ? old?.removing(isOwn: isOwn)
      : old?.adding(isOwn: isOwn) ?? ReactionCount(emoji, count: 1, isOwn: isOwn)
    guard kept == nil && isFull else {
      counts.set(emoji, new)
      // Another emoji may be used more than this one is now.
      if isRemoved, isFull { try refill(&counts, of: id, in: conversation) }
      return counts
    }
    if let new, let least = counts.leastUsed, new.isUsedMore(than: least) {
      try replace(old, with: nil, of: id, in: conversation)
      try replace(nil, with: least, of: id, in: conversation)
      counts.set(least.emoji, nil)
      counts.set(emoji, new)
    } else {
      try replace(old, with: new, of: id, in: conversation)
    }
    return counts
  }

  /// Takes the most used of the other emoji into the record if it has room for it, or if an emoji
  /// of the record is used less.
  private func refill(
    _ counts: inout ReactionCounts, of id: MessageID, in conversation: UInt32
  ) throws(StoreError) {
    var first: ReactionCount?
    try view.facts.forEachRarerEmoji(of: id, in: conversation) {
      first = $0
      return false
    }
    guard let first else { return }
    if counts.isFull {
      guard let least = counts.leastUsed, first.isUsedMore(than: least) else { return }
      counts.set(least.emoji, nil)
      try replace(nil, with: least, of: id, in: conversation)
    }
    try replace(first, with: nil, of: id, in: conversation)
    counts.set(first.emoji, first)
  }

  @inline(never)
  private func replace(
    _ old: ReactionCount?, with new: ReactionCount?, of id: MessageID, in conversation: UInt32
  ) throws(StoreError) {
    if let old {
      try transaction.remove(EmojiCountRecord.rank(conversation, id, old), in: Schema.facts)
      if new == nil {
        let key = EmojiCountRecord.key(conversation, id, old.emoji)
        try transaction.remove(key, in: Schema.facts)
      }
    }
    guard let new else { return }
    let key = EmojiCountRecord.key(conversation, id, new.emoji)
    try transaction.put(EmojiCountRecord(new), at: key)
    let rank = EmojiCountRecord.rank(conversation, id, new)
    try transaction.insert(rank.bytes, .empty, in: Schema.facts)
  }

  /// Replaces all numbers that are facts of a message.
  func replaceRarerEmoji(
    with new: [ReactionCount], of id: MessageID, in conversation: UInt32
  ) throws(StoreError) {
    let old = try all(of: id, in: conversation)
    if old == new { return }
    for count in old { try replace(count, with: nil, of: id, in: conversation) }
    for count in new { try replace(nil, with: count, of: id, in: conversation) }
  }

  /// Copies the numbers of a message that gets another name.
  func copyRarerEmoji(
    of id: MessageID, in conversation: UInt32, to other: MessageID, in target: UInt32
  ) throws(StoreError) {
    let counts = try all(of: id, in: conversation)
    if !counts.isEmpty { try replaceRarerEmoji(with: counts, of: other, in: target) }
  }

  private func all(
    of id: MessageID, in conversation: UInt32
  ) throws(StoreError) -> [ReactionCount] {
    var all: [ReactionCount] = []
    try view.facts.forEachRarerEmoji(of: id, in: conversation) {
      all.append($0)
      return true
    }
    return all
  }
}
