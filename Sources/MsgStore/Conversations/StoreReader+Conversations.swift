import PageFile

/// Reading conversations: one by its name, the list by activity, all of them by number.
extension StoreReader {
  func conversation(_ id: ConversationID) throws(StoreError) -> Conversation? {
    guard let number = try number(of: id.string, in: Schema.conversationNames) else { return nil }
    var cursor = Cursor(source, Schema.conversations)
    return try conversation(number, &cursor)
  }

  /// The conversations whose activity is next in the list after a position.
  func conversations(
    count: Int, after position: ConversationPosition?
  ) throws(StoreError) -> ConversationSlice {
    guard count >= 1 else { throw .invalidCount(count) }
    var list = Cursor(source, Schema.activity)
    var cursor = Cursor(source, Schema.conversations)
    var found: [Conversation] = []
    found.reserveCapacity(min(count, 100))
    var key = ByteBuffer()
    try storage { () throws(PageFileError) in
      if let position {
        let key = position.place.key(position.number)
        _ = try list.seek(key.bytes)
        _ = try list.previous()
      } else {
        _ = try list.last()
      }
    }
    while list.isAtCell, found.count < count {
      key.removeAll()
      list.appendKey(to: &key)
      guard let entry = ListPlace.parts(key.bytes) else {
        throw corrupt(Schema.activity, "a key of \(key.count) bytes is no place in a list")
      }
      found.append(try conversation(entry.number, &cursor))
      try storage { () throws(PageFileError) in _ = try list.previous() }
    }
    return ConversationSlice(found, older: list.isAtCell ? found.last?.position : nil)
  }

  /// All conversations, in the order in which they came to this store.
  func forEachConversation(_ body: (Conversation) throws -> Void) throws {
    var number: UInt32? = 0
    while let last = number {
      // The body may read what it likes, so the walk begins anew for each conversation.
      let next = try within { () throws(StoreError) -> (UInt32, Conversation)? in
        var cursor = Cursor(source, Schema.conversations)
        guard let next = try nextConversation(after: last, &cursor) else { return nil }
        return (next, try conversation(next, &cursor))
      }
      if let next { try body(next.1) }
      number = next?.0
    }
  }

  /// The lowest number of a conversation above a number.
  func nextConversation(
    after number: UInt32, _ cursor: inout Cursor
  ) throws(StoreError) -> UInt32? {
    guard number < .max else { return nil }
    let key = KeyEncoding.key(number + 1)
    try storage { () throws(PageFileError) in _ = try cursor.seek(key.bytes) }
    guard cursor.isAtCell else { return nil }
    var found = ByteBuffer()
    cursor.appendKey(to: &found)
    guard let next = found.bytes.bigEndianNumber(at: 0) else {
      throw corrupt(Schema.conversations, "a key has \(found.count) bytes")
    }
    return next
  }

  /// What tells of a conversation, read with a cursor of the conversations tree.
  func conversation(_ number: UInt32, _ cursor: inout Cursor) throws(StoreError) -> Conversation {
    let summary = try summary(number, &cursor)
    try storage { () throws(PageFileError) in _ = try cursor.next() }
    let details = try details(number, &cursor)
    var participants: [MemberID] = []
    participants.reserveCapacity(details.participants.count)
    for participant in details.participants { participants.append(try member(participant)) }
    let preview = try summary.last.map { (last) throws(StoreError) in
      Preview(
        messageID: last.position.id, sender: try member(last.sender), text: last.text,
        serverTimestamp: last.position.place.isPending
          ? nil : Timestamp(microseconds: last.position.place.time),
        status: last.status)
    }
    return Conversation(
      id: details.id, participants: participants, title: details.title,
      lastActivity: summary.last == nil ? nil : Timestamp(microseconds: summary.activity),
      unreadCount: summary.unreadCount, messageCount: summary.messageCount, preview: preview,
      position: ConversationPosition(
        place: summary.listPlace ?? ListPlace(section: .normal, time: summary.listTime),
        number: number))
  }

  /// The summary of a conversation that has a name, a place in the list, or messages.
  func summary(_ number: UInt32, _ cursor: inout Cursor) throws(StoreError) -> ConversationSummary {
    let key = KeyEncoding.key(number)
    var copy = ByteBuffer()
    let isThere = try storage { () throws(PageFileError) in try cursor.seek(key.bytes) }
    guard isThere, let summary = ConversationSummary(try value(at: cursor, &copy)) else {
      throw corrupt(Schema.conversations, "conversation \(number) has no summary")
    }
    return summary
  }

  /// The details that a cursor stands at.
  private func details(
    _ number: UInt32, _ cursor: inout Cursor
  ) throws(StoreError) -> ConversationDetails {
    let key = ConversationDetails.key(number)
    let isThere = cursor.isAtCell && cursor.compareKey(to: key.bytes) == 0
    var copy = ByteBuffer()
    guard isThere, let details = ConversationDetails(try value(at: cursor, &copy)) else {
      throw corrupt(Schema.conversations, "conversation \(number) has no details")
    }
    return details
  }

  /// The details of a conversation.
  func details(_ number: UInt32) throws(StoreError) -> ConversationDetails {
    var cursor = Cursor(source, Schema.conversations)
    let key = ConversationDetails.key(number)
    try storage { () throws(PageFileError) in _ = try cursor.seek(key.bytes) }
    return try details(number, &cursor)
  }

  /// The value of the cell a cursor stands at: in its page, or in the given copy.
  private func value(
    at cursor: borrowing Cursor, _ copy: inout ByteBuffer
  ) throws(StoreError) -> Bytes {
    if let value = cursor.inlineValue { return value }
    try append(cursor, to: &copy)
    return copy.bytes
  }

  func append(_ cursor: borrowing Cursor, to value: inout ByteBuffer) throws(StoreError) {
    do throws(PageFileError) {
      try cursor.appendValue(to: &value)
    } catch {
      throw .storage(error)
    }
  }
}
