import PageFile

/// Keeps the counts of unread messages and mentions in the summaries.
///
/// See docs/message-format.md, U-1 … U-6.
struct UnreadCounts: TransactionPart {
  let transaction: Transaction

  /// Preserves the seen state of a message that moves, even if it crosses the read mark.
  ///
  /// A message that came as history has one, too: it counts once a live copy comes.
  @inline(never)
  func carry(
    from old: StoredMessage, at oldPosition: MessagePosition, to new: inout StoredMessage,
    at position: MessagePosition, _ conversation: OpenConversation
  ) {
    let isBelowMark = conversation.summary.mark.map { position <= $0 } ?? false
    let wasCovered = conversation.summary.isCovered(old, at: oldPosition)
    new.markOrdinal = !wasCovered && isBelowMark ? conversation.summary.markOrdinal : nil
    if wasCovered, !isBelowMark { new.traits.marks.insert(.seen) }
  }

  /// Updates the counts for a changed message.
  func replaced(
    _ old: some Seeable, at oldPosition: MessagePosition, by new: some Seeable,
    at position: MessagePosition,
    in conversation: OpenConversation
  ) {
    if StoreDefect.unreadKept.isPlanted { return }
    let before = view.receipts.unreadCount(old, at: oldPosition, conversation.summary)
    let after = view.receipts.unreadCount(new, at: position, conversation.summary)
    if after != before { conversation.summary.count(after - before) }
  }

  /// Removes a message from the counts.
  func removed(
    _ message: StoredMessage, from position: MessagePosition, in conversation: OpenConversation
  ) {
    let count = view.receipts.unreadCount(message, at: position, conversation.summary)
    conversation.summary.count(UnreadCount() - count)
  }

  /// Counts the unread messages behind a position.
  ///
  /// Costs a step for each segment, and for each message without one.
  func countUnread(
    _ conversation: UInt32, _ summary: ConversationSummary, after position: MessagePosition
  ) throws(StoreError) -> UnreadCount {
    var count = UnreadCount()
    guard localMember != nil else { return count }
    var scan = try UnreadScan(flushed(), conversation, summary, after: position)
    while let next = try scan.next() { count = count + next }
    return count
  }

  /// Counts the messages that stay unread when one of the marks moves forward to a position.
  ///
  /// The messages that stay unread lie behind the position, and the messages that were unread lie
  /// on both sides of it. So those before and behind it are counted in turns, a segment or a
  /// message at a time, and the side that ends first decides. The cost of marking is that of the
  /// shorter side.
  func countUnread(
    _ conversation: OpenConversation, _ summary: ConversationSummary,
    was old: ConversationSummary, after mark: MessagePosition
  ) throws(StoreError) -> UnreadCount {
    guard localMember != nil, old.unreadCount > 0 else { return UnreadCount() }
    let number = conversation.number
    // Usually a thread is read up to its end, and then its beginning need not be found.
    var start = mark
    if let newest = try transaction.summaries.knownNewest(in: conversation), newest <= mark {
      guard conversation.mayHavePending else { return UnreadCount() }
      start = .firstPending
    }
    var behind = try UnreadScan(flushed(), number, summary, after: start)
    guard var next = try behind.next() else { return UnreadCount() }
    var left = UnreadCount()
    var covered = UnreadCount()
    let first = try flushed().delivery.unreadStart(number, old)
    var before = try UnreadScan(flushed(), number, old, from: first ?? .start, through: mark)
    while true {
      left = left + next
      guard let other = try before.next() else { return old.counted - covered }
      covered = covered + other
      guard let following = try behind.next() else { return left }
      next = following
    }
  }
}

extension Transaction {
  var unreadCounts: UnreadCounts { UnreadCounts(transaction: self) }
}
