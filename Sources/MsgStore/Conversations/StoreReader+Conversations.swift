import PageFile

/// Reading conversations: one by its name, the list by activity, all of them by number.
extension StoreReader {
  /// A conversation as lists show it; nil when it is not there, or was deleted.
  func conversation(_ id: ConversationID) throws(StoreError) -> Conversation? {
    guard let number = try number(of: id) else { return nil }
    var cursor = Cursor(source, Schema.conversations)
    let conversation = try conversation(number, &cursor)
    return conversation.isDeleted ? nil : conversation
  }

  /// The number of a conversation that was not deleted.
  func visibleConversation(_ id: ConversationID) throws(StoreError) -> UInt32? {
    guard let number = try number(of: id) else { return nil }
    var cursor = Cursor(source, Schema.conversations)
    return try summary(number, &cursor).marks.contains(.hidden) ? nil : number
  }

  /// The conversations that come next in one of the two lists after a position.
  func conversations(
    count: Int, after position: ConversationPosition?, isArchived: Bool
  ) throws(StoreError) -> ConversationSlice {
    guard count >= 1 else { throw .invalidCount(count) }
    var list = Cursor(source, Schema.activity)
    var cursor = Cursor(source, Schema.conversations)
    var found: [Conversation] = []
    found.reserveCapacity(min(count, 100))
    var key = ByteBuffer()
    try storage { () throws(PageFileError) in
      if position == nil && !isArchived {
        _ = try list.last()
      } else {
        let end = position.map { $0.place.key($0.number) } ?? ListPlace.archivedEnd
        _ = try list.seek(end.bytes)
        _ = try list.previous()
      }
    }
    var hasMore = false
    while list.isAtCell {
      key.removeAll()
      list.appendKey(to: &key)
      guard let entry = ListPlace.parts(key.bytes) else {
        throw corrupt(Schema.activity, "a key of \(key.count) bytes is no place in a list")
      }
      guard (entry.place.section == .archived) == isArchived else { break }
      hasMore = found.count == count
      if hasMore { break }
      found.append(try conversation(entry.number, &cursor))
      try storage { () throws(PageFileError) in _ = try list.previous() }
    }
    return ConversationSlice(found, older: hasMore ? found.last?.position : nil)
  }

  /// All conversations, also deleted ones, in the order in which they came to this store.
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

  /// What a list shows of a conversation, read with a cursor of the conversations tree.
  func conversation(_ number: UInt32, _ cursor: inout Cursor) throws(StoreError) -> Conversation {
    var key = KeyEncoding.key(number)
    var copy = ByteBuffer()
    let summary = try summary(number, key.bytes, &cursor, &copy)
    try storage { () throws(PageFileError) in _ = try cursor.next() }
    key.append(ConversationDetails.keySuffix)
    copy.removeAll()
    let details = try details(number, key.bytes, cursor, &copy)
    return try conversation(
      number, summary, details, participants: try names(of: details.firstParticipants))
  }

  /// The same with all who take part, which costs as much as there are members.
  func wholeConversation(
    _ number: UInt32, _ cursor: inout Cursor
  ) throws(StoreError) -> Conversation {
    let summary = try summary(number, &cursor)
    try storage { () throws(PageFileError) in _ = try cursor.next() }
    let details = try details(number, &cursor)
    let active = try ordered(try members(number).members.filter(\.isActive))
    return try conversation(
      number, summary, details, participants: try names(of: active.map(\.number)))
  }

  private func conversation(
    _ number: UInt32, _ summary: ConversationSummary, _ details: ConversationDetails,
    participants: [MemberID]
  ) throws(StoreError) -> Conversation {
    let preview = try preview(number, summary)
    let place = summary.listPlace
    let fields = Conversation.Fields(
      id: details.id, otherIDs: details.aliases, kind: details.kind, participants: participants,
      participantCount: details.participantCount, isMember: !details.hasLeft,
      title: details.title.text, avatar: details.avatar.text,
      createdBy: try details.createdBy.map { (number) throws(StoreError) in try member(number) },
      createdAt: details.createdAt.map { Timestamp(microseconds: $0) },
      isPinned: summary.marks.contains(.pinned), isMuted: summary.marks.contains(.muted),
      isArchived: summary.marks.contains(.archived), hasDraft: details.hasDraft,
      deletedUpTo: summary.deletedUpTo.map { Timestamp(microseconds: $0) },
      lastActivity: summary.hasLast ? Timestamp(microseconds: summary.activity) : nil,
      // Where the first opening with a local member was not finished, some are counted already.
      unreadCount: localMember == nil ? 0 : summary.unreadCount,
      unreadMentionCount: localMember == nil ? 0 : summary.mentionCount,
      messageCount: summary.messageCount, preview: preview,
      position: ConversationPosition(
        place: place ?? ListPlace(section: .normal, time: summary.listTime), number: number),
      isDeleted: place == nil)
    return Conversation(fields)
  }

  func names(of members: [UInt32]) throws(StoreError) -> [MemberID] {
    var names: [MemberID] = []
    names.reserveCapacity(members.count)
    for number in members { names.append(try member(number)) }
    return names
  }

  /// Members in the order in which they came: by when they joined, then by the time of what is known
  /// of them, then by name, so that all stores agree.
  func ordered(
    _ members: [ConversationMembers.Member]
  ) throws(StoreError) -> [ConversationMembers.Member] {
    typealias Member = ConversationMembers.Member
    func precedes(_ a: Member, _ b: Member) -> Bool? {
      let (joinedA, joinedB) = (a.joinedAt ?? .min, b.joinedAt ?? .min)
      if joinedA != joinedB { return joinedA < joinedB }
      return a.time == b.time ? nil : a.time < b.time
    }
    var sorted = members.sorted { a, b in precedes(a, b) ?? false }
    // Names are looked up for those only that nothing else tells apart.
    var start = 0
    while start < sorted.count {
      var end = start + 1
      while end < sorted.count, precedes(sorted[start], sorted[end]) == nil { end += 1 }
      if end - start > 1 {
        var named: [(id: MemberID, member: Member)] = []
        for member in sorted[start..<end] {
          named.append((try self.member(member.number), member))
        }
        named.sort { $0.id < $1.id }
        sorted.replaceSubrange(start..<end, with: named.map(\.member))
      }
      start = end
    }
    return sorted
  }

  /// Everything that is known of who takes part.
  func members(_ number: UInt32) throws(StoreError) -> ConversationMembers {
    let key = ConversationMembers.key(number)
    var value = ByteBuffer(capacity: 256)
    guard try self.value(of: key.bytes, in: Schema.conversations, appendTo: &value) else {
      return ConversationMembers()
    }
    guard let members = ConversationMembers(value.bytes) else {
      throw corrupt(Schema.conversations, "the members of conversation \(number) are no record")
    }
    return members
  }

  /// Everything that is known of who takes part, with names.
  func participations(_ id: ConversationID) throws(StoreError) -> [Participation] {
    guard let number = try visibleConversation(id) else { return [] }
    var found: [Participation] = []
    for member in try ordered(try members(number).members) {
      found.append(
        Participation(
          member: try self.member(member.number), isActive: member.isActive,
          joinedAt: member.joinedAt.map { Timestamp(microseconds: $0) },
          changedAt: Timestamp(microseconds: member.time)))
    }
    return found
  }

  /// What is known of a draft, also that there is none any more.
  func draftRecord(_ number: UInt32) throws(StoreError) -> DraftRecord? {
    let key = DraftRecord.key(number)
    var value = ByteBuffer(capacity: 256)
    guard try self.value(of: key.bytes, in: Schema.conversations, appendTo: &value) else {
      return nil
    }
    guard let draft = DraftRecord(value.bytes) else {
      throw corrupt(Schema.conversations, "the draft of conversation \(number) is none")
    }
    return draft
  }

  func draft(_ id: ConversationID) throws(StoreError) -> Draft? {
    guard let number = try visibleConversation(id), let record = try draftRecord(number),
      let text = record.text
    else { return nil }
    return Draft(
      text: text, replyTo: record.replyTo, time: Timestamp(microseconds: record.time))
  }

  /// The summary of a conversation that has a name, a place in the list, or messages.
  func summary(_ number: UInt32, _ cursor: inout Cursor) throws(StoreError) -> ConversationSummary {
    let key = KeyEncoding.key(number)
    var copy = ByteBuffer()
    return try summary(number, key.bytes, &cursor, &copy)
  }

  /// The same for whoever has the key, and a buffer for a summary that does not lie in its page.
  private func summary(
    _ number: UInt32, _ key: Bytes, _ cursor: inout Cursor, _ copy: inout ByteBuffer
  ) throws(StoreError) -> ConversationSummary {
    let isThere = try storage { () throws(PageFileError) in try cursor.seek(key) }
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
    var copy = ByteBuffer()
    return try details(number, key.bytes, cursor, &copy)
  }

  @inline(__always)
  private func details(
    _ number: UInt32, _ key: Bytes, _ cursor: borrowing Cursor, _ copy: inout ByteBuffer
  ) throws(StoreError) -> ConversationDetails {
    let isThere = cursor.isAtCell && cursor.compareKey(to: key) == 0
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
  @inline(__always)
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
