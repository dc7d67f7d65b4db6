package import MsgStore
import PageFile

/// Exports of a conversation beside its messages.
extension ExportReader {
  func conversation(_ number: UInt32) throws(StoreError) -> ExportedConversation {
    let summary = try view.conversations.summary(number)
    let details = try view.conversations.details(number)
    var exported = ExportedConversation()
    exported.id = details.id
    exported.aliases = details.aliases
    exported.kind = details.kind
    exported.title = details.title.text
    exported.titleAt = Timestamp(known: details.title.time)
    exported.avatar = details.avatar.text
    exported.avatarAt = Timestamp(known: details.avatar.time)
    exported.createdBy = try details.createdBy.map { (number) throws(StoreError) in
      try view.member(number)
    }
    exported.createdAt = Timestamp(known: details.createdAt)
    exported.since = summary.created == details.createdAt ? nil : Timestamp(known: summary.created)
    exported.isPinned = summary.marks.contains(.pinned)
    exported.pinnedAt = Timestamp(known: details.pinnedAt)
    // As it was told: the mark of a mute with an end follows the clock.
    exported.isMuted =
      details.mutedUntil == nil ? summary.marks.contains(.muted) : !details.hasMuteEnded
    exported.mutedAt = Timestamp(known: details.mutedAt)
    exported.mutedUntil = Timestamp(known: details.mutedUntil)
    exported.isArchived = summary.marks.contains(.archived)
    exported.archivedAt = Timestamp(known: details.archivedAt)
    exported.isMarkedUnread = summary.marks.contains(.markedUnread)
    exported.markedUnreadAt = Timestamp(known: details.markedUnreadAt)
    exported.isHidden = summary.marks.contains(.hidden)
    exported.deletedUpTo = Timestamp(known: summary.deletedUpTo)
    let retention = try view.retention.record(number)
    exported.retention = retention.rule
    exported.prunedUpTo = retention.floor
    exported.own = try view.conversations.ownFields(number)
    let members = try view.conversations.members(number)
    exported.completeAt = Timestamp(known: members.completeAt)
    for member in try view.conversations.ordered(members.members) {
      var known = ExportedMember()
      known.member = try view.member(member.number)
      known.time = Timestamp(microseconds: member.time)
      known.hasLeft = !member.isActive
      known.joinedAt = Timestamp(known: member.joinedAt)
      exported.members.append(known)
    }
    return exported
  }

  func draft(
    _ number: UInt32, _ id: ConversationID
  ) throws(StoreError) -> ExportedDraft? {
    guard let record = try view.conversations.draftRecord(number) else { return nil }
    var exported = ExportedDraft()
    exported.conversation = id
    exported.text = record.text
    exported.replyTo = record.replyTo
    exported.time = Timestamp(microseconds: record.time)
    return exported
  }

  func marks(
    _ number: UInt32, _ id: ConversationID
  ) throws(StoreError) -> ExportedMarks {
    let summary = try view.conversations.summary(number)
    return ExportedMarks(try view.receipts.receipts(number), readMark: summary.mark, of: id)
  }

  /// Returns the receipts of all members, sorted by name.
  func receipts(
    _ number: UInt32, _ id: ConversationID
  ) throws(StoreError) -> [ExportedReceipts] {
    var found: [ExportedReceipts] = []
    try view.receipts.forEachReceipts(number) { (member, record) throws(StoreError) in
      found.append(ExportedReceipts(record, of: try view.member(member), in: id))
      return true
    }
    return found.sorted { $0.member < $1.member }
  }

  /// Returns the messages with pending named receipts.
  func untold(
    _ number: UInt32, _ id: ConversationID
  ) throws(StoreError) -> [ExportedUntold] {
    let ordinals = (
      read: try view.conversations.summary(number).markOrdinal,
      delivered: try view.receipts.receipts(number).deliveredOrdinal
    )
    var found: [ExportedUntold] = []
    for kind in ReceiptKind.allCases {
      let start = found.count
      try view.pendingReceipts.forEachExact(kind, number) { (message, first) in
        var exported = ExportedUntold()
        exported.conversation = id
        exported.message = message
        exported.kind = kind
        exported.isLate = first > (kind == .read ? ordinals.read : ordinals.delivered)
        found.append(exported)
        return true
      }
      // In the store they are in the order of marks, which is another one after a restore.
      found[start...].sort { $0.message < $1.message }
    }
    return found
  }
}

extension StoreSnapshot {
  /// Calls `body` with the exported form of every conversation, without its messages.
  ///
  /// Deleted conversations are included. The order is that in which the conversations came to this
  /// store.
  package func forEachExportedConversation(
    _ body: (ExportedConversation) throws -> Void
  ) throws {
    var number: UInt32? = 0
    while let last = number {
      let next = try within { (view) throws(StoreError) -> (UInt32, ExportedConversation)? in
        var cursor = Cursor(view.source, Schema.conversations)
        guard let next = try view.conversations.nextConversation(after: last, &cursor) else {
          return nil
        }
        return (next, try view.exports.conversation(next))
      }
      if let next { try body(next.1) }
      number = next?.0
    }
  }

  /// Returns the exported form of a conversation, without its messages; nil if it does not exist.
  package func exportedConversation(
    _ id: ConversationID
  ) throws(StoreError) -> ExportedConversation? {
    try withNumber(of: id) { (view, number) throws(StoreError) in
      try view.exports.conversation(number)
    }
  }

  /// Calls `body` with the number of messages in each conversation, or in one of them, as the
  /// summaries state it.
  package func forEachMessageCount(
    in id: ConversationID?, _ body: (Int) throws -> Void
  ) throws {
    if let id {
      let count = try withNumber(of: id) { (view, number) throws(StoreError) in
        try view.conversations.summary(number).messageCount
      }
      if let count { try body(count) }
      return
    }
    var last: UInt32? = 0
    while let start = last {
      var counts: [Int] = []
      last = try within { (view) throws(StoreError) -> UInt32? in
        var cursor = Cursor(view.source, Schema.conversations)
        var last = start
        while counts.count < ExportReader.batchCount {
          guard let next = try view.conversations.nextConversation(after: last, &cursor) else {
            return nil
          }
          counts.append(try view.conversations.summary(next, &cursor).messageCount)
          last = next
        }
        return last
      }
      for count in counts { try body(count) }
    }
  }

  /// Returns the draft of a conversation, or the fact that it was discarded; nil if none is known.
  package func exportedDraft(of id: ConversationID) throws(StoreError) -> ExportedDraft? {
    try withNumber(of: id) { (reader, number) throws(StoreError) in
      try view.exports.draft(number, id)
    } ?? nil
  }

  /// Returns the local member's own marks in a conversation, or nil if it is not there.
  package func exportedMarks(of id: ConversationID) throws(StoreError) -> ExportedMarks? {
    try withNumber(of: id) { (reader, number) throws(StoreError) in
      try view.exports.marks(number, id)
    }
  }

  /// Returns the receipts of members as told by the server, sorted by name.
  package func exportedReceipts(of id: ConversationID) throws(StoreError) -> [ExportedReceipts] {
    try withNumber(of: id) { (reader, number) throws(StoreError) in
      try view.exports.receipts(number, id)
    } ?? []
  }

  /// Returns the messages with pending named receipts.
  package func exportedUntold(of id: ConversationID) throws(StoreError) -> [ExportedUntold] {
    try withNumber(of: id) { (reader, number) throws(StoreError) in
      try view.exports.untold(number, id)
    } ?? []
  }

  /// Returns the known sequences of a conversation, deleted or not, as runs that begin above a
  /// number.
  package func exportedSequences(
    of id: ConversationID, count: Int, after number: Int64?
  ) throws(StoreError) -> [ClosedRange<Int64>] {
    try withNumber(of: id) { (reader, conversation) throws(StoreError) in
      try view.conversations.knownSequences(of: conversation).runs(count: count, after: number)
    } ?? []
  }

  private func withNumber<R>(
    of id: ConversationID, _ body: (StoreView, UInt32) throws(StoreError) -> R
  ) throws(StoreError) -> R? {
    try within { (view) throws(StoreError) in
      guard let number = try view.number(of: id) else {
        return nil
      }
      return try body(view, number)
    }
  }
}
