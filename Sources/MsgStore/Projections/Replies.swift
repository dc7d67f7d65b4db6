import PageFile

/// Keeps the index of replies: for each message that was answered, the times of its replies.
///
/// An entry names a conversation, the digest of the answered name, and a time. It does not name the
/// reply: readers find it among the messages of that time. So a message that gets another name has
/// the same entries, and readers look under all its names. See docs/message-format.md, F-14 and
/// F-15.
///
/// Costs nothing for a message that is no reply, else one walk.
struct Replies: TransactionPart {
  let transaction: Transaction

  /// Enters a message that was inserted, if it is a reply.
  func inserted(
    _ message: StoredMessage, at position: MessagePosition, in conversation: UInt32
  ) throws(StoreError) {
    try update(from: nil, to: reply(message, at: position, in: conversation))
  }

  /// Updates the entry of a message that was replaced, possibly at another place.
  func replaced(
    _ old: StoredMessage, at oldPosition: MessagePosition, by new: StoredMessage,
    at position: MessagePosition, in conversation: UInt32
  ) throws(StoreError) {
    if StoreDefect.movedReplyKept.isPlanted { return }
    try update(
      from: reply(old, at: oldPosition, in: conversation),
      to: reply(new, at: position, in: conversation))
  }

  /// Removes the entry of a message that was removed from its place.
  func removed(
    _ message: StoredMessage, from position: MessagePosition, in conversation: UInt32
  ) throws(StoreError) {
    try update(from: reply(message, at: position, in: conversation), to: nil)
  }

  /// Returns what the entry of a message follows from, or nil if it is no reply.
  @inline(__always)
  private func reply(
    _ message: StoredMessage, at position: MessagePosition, in conversation: UInt32
  ) -> ReplyKey.Record? {
    guard message.replyTo != nil, let answered = message.shownReply else { return nil }
    return ReplyKey.Record(answered, position.place, in: conversation)
  }

  @inline(__always)
  private func update(
    from old: ReplyKey.Record?, to new: ReplyKey.Record?
  ) throws(StoreError) {
    if old == new { return }
    if StoreDefect.replyCountKept.isPlanted, let old, new == nil { return try removeAll(old) }
    try transaction.update(ReplyKey.self, from: old, to: new)
  }

  /// Removes the entry of all replies of a moment: a planted defect.
  private func removeAll(_ reply: ReplyKey.Record) throws(StoreError) {
    try ReplyKey.forEachKey(of: reply) { (key) throws(StoreError) in
      try transaction.remove(key.bytes, in: Schema.index)
    }
  }
}

extension Transaction {
  var replies: Replies { Replies(transaction: self) }
}
