import PageFile

/// A reader of conversations as lists show them: one by its name, the lists by activity, and all of
/// them by number.
struct ListReader {
  let view: StoreView

  /// Returns a conversation as lists show it, or nil if it is unknown or was deleted.
  func conversation(_ id: ConversationID) throws(StoreError) -> Conversation? {
    guard let number = try view.number(of: id) else { return nil }
    var cursor = Cursor(view.source, Schema.conversations)
    var profiles = ListedProfiles(view)
    let conversation = try conversation(number, &cursor, &profiles)
    return conversation.isDeleted ? nil : conversation
  }

  /// Returns the number of a conversation, or nil if it is unknown or was deleted.
  func visibleConversation(_ id: ConversationID) throws(StoreError) -> UInt32? {
    guard let number = try view.number(of: id) else { return nil }
    var cursor = Cursor(view.source, Schema.conversations)
    return try view.conversations.summary(number, &cursor).marks.contains(.hidden) ? nil : number
  }

  /// Returns the name that leads to a conversation's number, or nil if no name leads to it any
  /// more.
  func id(of number: UInt32) throws(StoreError) -> ConversationID? {
    let key = ConversationDetails.key(number)
    guard try view.contains(key, in: Schema.conversations) else { return nil }
    let id = try view.conversations.details(number).id
    return try view.number(of: id) == number ? id : nil
  }

  /// Returns the next conversations in one of the two lists after a position.
  func conversations(
    count: Int, after position: ConversationPosition?, isArchived: Bool
  ) throws(StoreError) -> ConversationSlice {
    let count = try count.validatedRequest()
    var list = Cursor(view.source, Schema.activity)
    var cursor = Cursor(view.source, Schema.conversations, isScattered: true)
    var profiles = ListedProfiles(view)
    var found: [Conversation] = []
    found.reserveCapacity(min(count, 100))
    var key = ByteBuffer()
    var copy = ByteBuffer()
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
        throw view.corrupt(Schema.activity, "malformed key (\(key.count) bytes)")
      }
      guard (entry.place.section == .archived) == isArchived else { break }
      hasMore = found.count == count
      if hasMore { break }
      found.append(try conversation(entry.number, &cursor, &profiles, &key, &copy))
      try storage { () throws(PageFileError) in _ = try list.previous() }
    }
    return ConversationSlice(found, older: hasMore ? found.last?.position : nil)
  }

  /// Runs `body` on all conversations, including deleted ones, in the order in which they came to
  /// this store.
  func forEachConversation(_ body: (Conversation) throws -> Void) throws {
    var number: UInt32? = 0
    while let last = number {
      // The body may read anything, so the walk begins anew for each conversation.
      let next = try view.within { () throws(StoreError) -> (UInt32, Conversation)? in
        var cursor = Cursor(view.source, Schema.conversations)
        guard let next = try view.conversations.nextConversation(after: last, &cursor) else {
          return nil
        }
        var profiles = ListedProfiles(view)
        return (next, try conversation(next, &cursor, &profiles))
      }
      if let next { try body(next.1) }
      number = next?.0
    }
  }

  /// Returns a conversation as a list shows it, read with a cursor of the conversations tree.
  func conversation(
    _ number: UInt32, _ cursor: inout Cursor, _ profiles: inout ListedProfiles
  ) throws(StoreError) -> Conversation {
    var key = ByteBuffer()
    var copy = ByteBuffer()
    return try conversation(number, &cursor, &profiles, &key, &copy)
  }

  /// Does the same, with buffers that a list uses for all of its rows.
  private func conversation(
    _ number: UInt32, _ cursor: inout Cursor, _ profiles: inout ListedProfiles,
    _ key: inout ByteBuffer, _ copy: inout ByteBuffer
  ) throws(StoreError) -> Conversation {
    key.removeAll()
    key.append(bigEndian: number)
    copy.removeAll()
    let summary = try view.conversations.summary(number, key.bytes, &cursor, &copy)
    try storage { () throws(PageFileError) in _ = try cursor.next() }
    key.append(ConversationDetails.keySuffix)
    copy.removeAll()
    let details = try view.conversations.details(number, key.bytes, cursor, &copy)
    return try conversation(
      number, summary, details,
      participants: try view.conversations.names(of: details.listedParticipants), &profiles)
  }

  /// Returns a conversation with all its participants.
  ///
  /// The cost grows with the number of members.
  func wholeConversation(
    _ number: UInt32, _ cursor: inout Cursor
  ) throws(StoreError) -> Conversation {
    let summary = try view.conversations.summary(number, &cursor)
    try storage { () throws(PageFileError) in _ = try cursor.next() }
    let details = try view.conversations.details(number, &cursor)
    let active = try view.conversations.ordered(
      try view.conversations.members(number).members.filter(\.isActive))
    var profiles = ListedProfiles(view)
    return try conversation(
      number, summary, details,
      participants: try view.conversations.names(of: active.map(\.number)), &profiles)
  }

  private func conversation(
    _ number: UInt32, _ summary: ConversationSummary, _ details: ConversationDetails,
    participants: [MemberID], _ profiles: inout ListedProfiles
  ) throws(StoreError) -> Conversation {
    let preview = try preview(number, summary)
    let place = summary.listPlace
    let isMuted = view.isMuted(details, summary.marks)
    let fields = Conversation.Fields(
      id: details.id, otherIDs: details.aliases, kind: details.kind, participants: participants,
      participantCount: details.participantCount, isMember: !details.hasLeft,
      title: details.title.text, avatar: details.avatar.text,
      createdBy: try details.createdBy.map { (number) throws(StoreError) in try view.member(number)
      },
      createdAt: details.createdAt.map { Timestamp(microseconds: $0) },
      isPinned: summary.marks.contains(.pinned), isMuted: isMuted,
      mutedUntil: isMuted ? details.mutedUntil.map { Timestamp(microseconds: $0) } : nil,
      isArchived: summary.marks.contains(.archived),
      isMarkedUnread: summary.marks.contains(.markedUnread), hasDraft: details.hasDraft,
      updatedAt: (details.newestTime ?? details.createdAt).map { Timestamp(microseconds: $0) },
      deletedUpTo: summary.deletedUpTo.map { Timestamp(microseconds: $0) },
      lastActivity: summary.hasLast ? Timestamp(microseconds: summary.activity) : nil,
      // If the first opening with a local member was not finished, some messages are counted
      // already.
      unreadCount: view.localMember == nil ? 0 : summary.unreadCount,
      unreadMentionCount: view.localMember == nil ? 0 : summary.mentionCount,
      messageCount: summary.messageCount, preview: preview,
      profiles: try profiles.profiles(
        title: details.title.text, participants, sender: preview?.sender),
      position: ConversationPosition(
        place: place ?? ListPlace(section: .normal, time: summary.listTime), number: number),
      isDeleted: place == nil)
    return Conversation(fields)
  }

  /// Returns everything known about a conversation's members, with their names.
  func participations(_ id: ConversationID) throws(StoreError) -> [Participation] {
    guard let number = try visibleConversation(id) else { return [] }
    var found: [Participation] = []
    for member in try view.conversations.ordered(try view.conversations.members(number).members) {
      found.append(
        Participation(
          member: try view.member(member.number), isActive: member.isActive,
          joinedAt: member.joinedAt.map { Timestamp(microseconds: $0) },
          changedAt: Timestamp(microseconds: member.time)))
    }
    return found
  }

  func draft(_ id: ConversationID) throws(StoreError) -> Draft? {
    guard let number = try visibleConversation(id),
      let record = try view.conversations.draftRecord(number),
      let text = record.text
    else { return nil }
    return Draft(
      text: text, replyTo: record.replyTo, time: Timestamp(microseconds: record.time))
  }
}

extension ListReader {
  /// Returns the totals to show.
  ///
  /// Nothing is unread while the local member is unknown.
  func shownTotals() -> Totals { view.localMember == nil ? Totals() : view.totals() }
}

extension StoreView {
  var list: ListReader { ListReader(view: self) }
}
