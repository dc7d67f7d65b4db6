import PageFile

/// Which messages the local member has not read, and how many they are.
///
/// See docs/message-format.md, U-1 … U-5.
///
/// Every conversation has a read mark: the place up to which everything has been read. A message is
/// unseen when it came live and
///  1. lies above the mark, or
///  2. came to lie below it after it was made: then its record has the mark ordinal of that moment,
///     and the ordinal is still the same. Each change of the mark increases the ordinal.
///
/// An unseen message of somebody else is unread. The number is stored and changed with each message,
/// so reading it costs nothing and marking a thread read up to its end is one small record.
extension WriteState {
  func isUnseen(
    _ record: MessageRecord, at position: Position, _ summary: ConversationSummary
  ) -> Bool {
    guard !record.flags.contains(.history) else { return false }
    guard let mark = summary.mark, position <= mark else { return true }
    return record.markOrdinal == summary.markOrdinal
  }

  func isUnseen(
    _ message: StoredMessage, at position: Position, _ summary: ConversationSummary
  ) -> Bool {
    guard !message.flags.contains(.history) else { return false }
    guard let mark = summary.mark, position <= mark else { return true }
    return message.markOrdinal == summary.markOrdinal
  }

  func isUnread(
    _ message: StoredMessage, at position: Position, _ summary: ConversationSummary
  ) -> Bool {
    guard let localMember, message.sender != localMember else { return false }
    return isUnseen(message, at: position, summary)
  }

  func isUnread(
    _ record: MessageRecord, at position: Position, _ summary: ConversationSummary
  ) -> Bool {
    guard let localMember, record.sender != localMember else { return false }
    return isUnseen(record, at: position, summary)
  }

  /// Moves the read mark up to the newest acknowledged message that is not behind a position.
  ///
  /// Returns whether anything changed.
  func markRead(_ id: ConversationID, upTo limit: Position?) throws(StoreError) -> Bool {
    try change { () throws(StoreError) in
      guard let conversation = try existingConversation(id) else { return false }
      var summary = conversation.summary
      let limit = min(limit ?? .firstPending, .firstPending)
      if let mark = summary.mark, limit < mark { return false }
      let newest = try reader.lastPosition(upTo: limit, in: conversation.number)
      // The message at the mark may be gone; the mark stays where it is all the same.
      guard let target = [newest, summary.mark].compactMap({ $0 }).max() else { return false }
      if target == summary.mark && summary.unreadCount == 0 && localMember != nil { return false }
      summary.mark = target
      summary.markOrdinal += 1
      summary.unreadCount = try countUnread(conversation.number, summary, after: target)
      // Without a local member nobody knows whether something came to lie below the mark.
      let isSame =
        target == conversation.summary.mark
        && summary.unreadCount == conversation.summary.unreadCount && localMember != nil
      if isSame { return false }
      conversation.summary = summary
      return true
    }
  }

  /// Counts anew in all conversations, after the local member has become known.
  func recountUnread() throws(StoreError) {
    try change { () throws(StoreError) in
      var number: UInt32 = 0
      while true {
        var cursor = Cursor(reader.source, Schema.conversations)
        guard let next = try reader.nextConversation(after: number, &cursor) else { return }
        let conversation = try conversation(next)
        conversation.summary.unreadCount = try countUnread(
          next, conversation.summary, after: .start)
        number = next
      }
    }
  }

  /// How many messages behind a position are unread.
  ///
  /// Reads all of them.
  private func countUnread(
    _ conversation: UInt32, _ summary: ConversationSummary, after position: Position
  ) throws(StoreError) -> Int {
    guard localMember != nil else { return 0 }
    var cursor = Cursor(reader.source, Schema.messages)
    let key = KeyEncoding.key(conversation, position)
    try storage { () throws(PageFileError) in
      if try cursor.seek(key.bytes) { _ = try cursor.next() }
    }
    let prefix = key.bytes.slice(0, KeyEncoding.numberByteCount)
    var value = ByteBuffer(capacity: 256)
    var count = 0
    while cursor.isAtCell, cursor.keyHasPrefix(prefix) {
      value.removeAll()
      try reader.append(cursor, to: &value)
      let position = try reader.position(cursor)
      guard let record = MessageRecord(value.bytes) else {
        throw reader.corrupt(Schema.messages, "message \"\(position.id)\" is no record")
      }
      if isUnread(record, at: position, summary) { count += 1 }
      try storage { () throws(PageFileError) in _ = try cursor.next() }
    }
    return count
  }
}
