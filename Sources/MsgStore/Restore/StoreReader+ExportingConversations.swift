import PageFile

/// Reading all that is stored of a conversation beside its messages.
extension StoreReader {
  func exportedConversation(_ number: UInt32) throws(StoreError) -> ExportedConversation {
    var cursor = Cursor(source, Schema.conversations)
    let summary = try summary(number, &cursor)
    let details = try details(number)
    var exported = ExportedConversation()
    exported.id = details.id
    exported.aliases = details.aliases
    exported.kind = details.kind
    exported.title = details.title.text
    exported.titleAt = time(details.title.time)
    exported.avatar = details.avatar.text
    exported.avatarAt = time(details.avatar.time)
    exported.createdBy = try details.createdBy.map { (number) throws(StoreError) in
      try member(number)
    }
    exported.createdAt = time(details.createdAt)
    exported.since = summary.created == details.createdAt ? nil : time(summary.created)
    exported.isPinned = summary.marks.contains(.pinned)
    exported.pinnedAt = time(details.pinnedAt)
    exported.isMuted = summary.marks.contains(.muted)
    exported.mutedAt = time(details.mutedAt)
    exported.isArchived = summary.marks.contains(.archived)
    exported.archivedAt = time(details.archivedAt)
    exported.isHidden = summary.marks.contains(.hidden)
    exported.deletedUpTo = time(summary.deletedUpTo)
    let members = try members(number)
    exported.completeAt = time(members.completeAt)
    for member in try ordered(members.members) {
      var known = ExportedMember()
      known.member = try self.member(member.number)
      known.time = Timestamp(microseconds: member.time)
      known.hasLeft = !member.isActive
      known.joinedAt = time(member.joinedAt)
      exported.members.append(known)
    }
    return exported
  }

  func exportedDraft(
    _ number: UInt32, _ id: ConversationID
  ) throws(StoreError) -> ExportedDraft? {
    guard let record = try draftRecord(number) else { return nil }
    var exported = ExportedDraft()
    exported.conversation = id
    exported.text = record.text
    exported.replyTo = record.replyTo
    exported.time = Timestamp(microseconds: record.time)
    return exported
  }

  func exportedMarks(
    _ number: UInt32, _ id: ConversationID
  ) throws(StoreError) -> ExportedMarks {
    var cursor = Cursor(source, Schema.conversations)
    let own = try receipts(number)
    var exported = ExportedMarks()
    exported.conversation = id
    exported.readMark = try summary(number, &cursor).mark
    exported.deliveredMark = own.deliveredMark
    exported.confirmedRead = own.confirmedRead
    exported.confirmedDelivered = own.confirmedDelivered
    exported.read = steps(own.readTimes)
    exported.delivered = steps(own.deliveredTimes)
    return exported
  }

  /// The receipts of all members, by name.
  func exportedReceipts(
    _ number: UInt32, _ id: ConversationID
  ) throws(StoreError) -> [ExportedReceipts] {
    var found: [ExportedReceipts] = []
    try forEachReceipts(number) { (member, record) throws(StoreError) in
      var exported = ExportedReceipts()
      exported.conversation = id
      exported.member = try self.member(member)
      exported.read = steps(record.read)
      exported.delivered = steps(record.delivered)
      found.append(exported)
      return true
    }
    return found.sorted { $0.member < $1.member }
  }

  /// The messages that have to be told by their names.
  func exportedUntold(
    _ number: UInt32, _ id: ConversationID
  ) throws(StoreError) -> [ExportedUntold] {
    var cursor = Cursor(source, Schema.conversations)
    let ordinals = (
      read: try summary(number, &cursor).markOrdinal,
      delivered: try receipts(number).deliveredOrdinal
    )
    var found: [ExportedUntold] = []
    for kind in ReceiptKind.allCases {
      try forEachExact(kind, number) { (message, first) in
        var exported = ExportedUntold()
        exported.conversation = id
        exported.message = message
        exported.kind = kind
        exported.isLate = first > (kind == .read ? ordinals.read : ordinals.delivered)
        found.append(exported)
        return true
      }
    }
    return found
  }

  private func steps(_ steps: ReceiptSteps) -> [ExportedStep] {
    steps.steps.map { ExportedStep($0.position, time($0.time)) }
  }

  func time(_ microseconds: Int64?) -> Timestamp? {
    microseconds.map(Timestamp.init(microseconds:))
  }
}

extension StoreSnapshot {
  /// All that is stored of every conversation beside its messages, also of deleted ones, in the order
  /// in which they came to this store.
  package func forEachExportedConversation(
    _ body: (ExportedConversation) throws -> Void
  ) throws {
    var number: UInt32? = 0
    while let last = number {
      let next = try within { (reader) throws(StoreError) -> (UInt32, ExportedConversation)? in
        var cursor = Cursor(reader.source, Schema.conversations)
        guard let next = try reader.nextConversation(after: last, &cursor) else { return nil }
        return (next, try reader.exportedConversation(next))
      }
      if let next { try body(next.1) }
      number = next?.0
    }
  }

  package func exportedDraft(of id: ConversationID) throws(StoreError) -> ExportedDraft? {
    try withNumber(of: id) { (reader, number) throws(StoreError) in
      try reader.exportedDraft(number, id)
    } ?? nil
  }

  /// How far the local member has come here.
  package func exportedMarks(of id: ConversationID) throws(StoreError) -> ExportedMarks? {
    try withNumber(of: id) { (reader, number) throws(StoreError) in
      try reader.exportedMarks(number, id)
    }
  }

  /// What the server has told of members' receipts, by name.
  package func exportedReceipts(of id: ConversationID) throws(StoreError) -> [ExportedReceipts] {
    try withNumber(of: id) { (reader, number) throws(StoreError) in
      try reader.exportedReceipts(number, id)
    } ?? []
  }

  /// The messages that have to be told to the server by their names.
  package func exportedUntold(of id: ConversationID) throws(StoreError) -> [ExportedUntold] {
    try withNumber(of: id) { (reader, number) throws(StoreError) in
      try reader.exportedUntold(number, id)
    } ?? []
  }

  /// The known sequence numbers of a conversation, deleted or not, as runs that begin above a number.
  package func exportedSequences(
    of id: ConversationID, count: Int, after number: Int64?
  ) throws(StoreError) -> [ClosedRange<Int64>] {
    try withNumber(of: id) { (reader, conversation) throws(StoreError) in
      try reader.knownSequences(of: conversation).runs(count: count, after: number)
    } ?? []
  }

  private func withNumber<R>(
    of id: ConversationID, _ body: (StoreReader, UInt32) throws(StoreError) -> R
  ) throws(StoreError) -> R? {
    try within { (reader) throws(StoreError) in
      guard let number = try reader.number(of: id) else {
        return nil
      }
      return try body(reader, number)
    }
  }
}
