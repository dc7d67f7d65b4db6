import PageFile

struct UnreadCounts: TransactionPart {
  let transaction: Transaction

  init(_ transaction: Transaction) { self.transaction = transaction }

  /// Counts a new message.
  func inserted(
    _ message: StoredMessage, at position: Position, in conversation: OpenConversation
  ) {
    let count = view.receipts.unreadCount(message, at: position, conversation.summary)
    conversation.summary.count(count)
  }

  /// Keeps across a move whether a message was seen, also if it crosses the read mark.
  func carry(
    from old: StoredMessage, at oldPosition: Position, to new: inout StoredMessage,
    at position: Position, _ conversation: OpenConversation
  ) {
    let isBelowMark = conversation.summary.mark.map { position <= $0 } ?? false
    let wasUnseen = conversation.summary.isUnseenHere(old, at: oldPosition)
    new.markOrdinal = wasUnseen && isBelowMark ? conversation.summary.markOrdinal : nil
    if !wasUnseen, !isBelowMark, !old.flags.contains(.history) {
      new.traits.marks.insert(.seen)
    }
  }

  /// Counts a changed message anew.
  func replaced(
    _ old: some Seeable, at oldPosition: Position, by new: some Seeable, at position: Position,
    in conversation: OpenConversation
  ) {
    if StoreDefect.unreadKept.isPlanted { return }
    let before = view.receipts.unreadCount(old, at: oldPosition, conversation.summary)
    let after = view.receipts.unreadCount(new, at: position, conversation.summary)
    if after != before { conversation.summary.count(after - before) }
  }

  /// Takes a message out of the counters.
  func removed(
    _ message: StoredMessage, from position: Position, in conversation: OpenConversation
  ) {
    let count = view.receipts.unreadCount(message, at: position, conversation.summary)
    conversation.summary.count(UnreadCount() - count)
  }

  /// How many messages behind a position are unread.
  ///
  /// Reads all of them.
  func countUnread(
    _ conversation: UInt32, _ summary: ConversationSummary, after position: Position
  ) throws(StoreError) -> UnreadCount {
    var count = UnreadCount()
    guard localMember != nil else { return count }
    var scan = try ThreadScan(flushed(), conversation, after: position)
    while let record = try scan.next() {
      count = count + view.receipts.unreadCount(record, at: try scan.position(), summary)
    }
    return count
  }

  /// How many messages are unread when one of the marks has gone forward to a position.
  ///
  /// What is left lies behind it; what was unread before lies on both sides. So the messages before
  /// and those behind are gone through by turns, and whichever come to their end first tell: marking
  /// costs no more for what it does not concern, be it on this side or on that.
  func countUnread(
    _ conversation: UInt32, _ summary: ConversationSummary, was old: ConversationSummary,
    after mark: Position
  ) throws(StoreError) -> UnreadCount {
    guard localMember != nil, old.unreadCount > 0 else { return UnreadCount() }
    var behind = try ThreadScan(flushed(), conversation, after: mark)
    // Mostly a thread is read up to its end, and then there is no need to look for the beginning.
    guard var record = try behind.next() else { return UnreadCount() }
    var left = UnreadCount()
    var covered = UnreadCount()
    let start = try flushed().delivery.unreadStart(conversation, old)
    var before = try ThreadScan(flushed(), conversation, from: start ?? .start)
    while true {
      left = left + view.receipts.unreadCount(record, at: try behind.position(), summary)
      guard let other = try before.next(), case let position = try before.position(),
        position <= mark
      else { return old.counted - covered }
      covered = covered + view.receipts.unreadCount(other, at: position, old)
      guard let next = try behind.next() else { return left }
      record = next
    }
  }
}

extension Transaction {
  var unreadCounts: UnreadCounts { UnreadCounts(self) }
}
