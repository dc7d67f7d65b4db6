import MsgStore

/// Writes a batch of old rows into the new store, within one commit.
struct BatchWriter {
  let member: MemberID
  let now: Timestamp

  /// Takes in a batch, and adds to the report.
  ///
  /// First come the read marks of the conversations that ended in the batch before, and all lookups,
  /// then messages alone: the store packs those at the end of the commit, unless something has to
  /// look at them before.
  func take(
    _ parts: [OldPart], marksOf ended: [OldConversation], into chat: borrowing StoreWriter,
    _ report: inout MoveReport
  ) throws {
    for conversation in ended { try takeMarks(of: conversation, into: chat, &report) }
    let known = try parts.map { try knownIDs(of: $0, in: chat) }
    for (part, known) in zip(parts, known) {
      if part.isBeginning, let id = part.conversation.id {
        try refusing("conversation", part.conversation.row, &report) { () throws(StoreError) in
          try chat.receive(part.conversation.received(as: id))
        }
      }
      try takeMessages(of: part, known, into: chat, &report)
    }
  }

  /// Returns the ids of a part that the store has already.
  ///
  /// After a kill there are none: the place is stored with the messages. So they are in the old
  /// file twice.
  private func knownIDs(
    of part: OldPart, in chat: borrowing StoreWriter
  ) throws -> Set<MessageID> {
    guard !part.isBeginning, let conversation = part.conversation.id else { return [] }
    var known: Set<MessageID> = []
    for row in part.messages {
      guard let string = row.id.string else { continue }
      let id = MessageID(string)
      if try chat.message(id, in: conversation) != nil { known.insert(id) }
    }
    return known
  }

  private func takeMessages(
    of part: OldPart, _ known: Set<MessageID>, into chat: borrowing StoreWriter,
    _ report: inout MoveReport
  ) throws {
    var known = known
    let readTime = part.conversation.readTime(of: member)
    for row in part.messages {
      var message: Message
      do throws(RefusalReason) {
        message = try row.message(in: part.conversation.id, now: now)
        guard !known.contains(message.id) else { throw .duplicateID }
      } catch {
        report.refuse("message", row.row, error)
        continue
      }
      row.addFacts(to: &message, &report)
      let isTaken = try refusing("message", row.row, &report) { () throws(StoreError) in
        let isUnread = row.time > readTime && message.sender != member
        try store(message, isSent: row.state == .sent, isUnread: isUnread, in: chat)
      }
      guard isTaken else { continue }
      known.insert(message.id)
      report.count(message, isSent: row.state == .sent)
    }
  }

  /// Stores one message.
  private func store(
    _ message: Message, isSent: Bool, isUnread: Bool, in chat: borrowing StoreWriter
  ) throws(StoreError) {
    if isSent {
      // History never counts as unread.
      try chat.insert(message, as: isUnread ? .live : .history)
    } else {
      // Pending, at the end of its thread, and in the outbox by the same commit.
      try chat.send(message)
    }
  }

  /// Takes in the read marks of a conversation whose messages are all here.
  private func takeMarks(
    of conversation: OldConversation, into chat: borrowing StoreWriter,
    _ report: inout MoveReport
  ) throws {
    guard let id = conversation.id else { return }
    for mark in conversation.marks {
      try refusing("read_mark", conversation.row, &report) { () throws(StoreError) in
        try markRead(id, by: mark.member, upTo: mark.time, in: chat)
      }
    }
  }

  /// Stores that a member has read all messages up to a time, in milliseconds.
  ///
  /// A mark that is received enters no receipt into the outbox: the server has it.
  private func markRead(
    _ id: ConversationID, by member: MemberID, upTo milliseconds: Int64,
    in chat: borrowing StoreWriter
  ) throws(StoreError) {
    let time = Timestamp(milliseconds: milliseconds)
    // The first message after that time, and the one before it.
    let next = Timestamp(microseconds: min(max(time.microseconds, 0), .max - 1) + 1)
    let last = try chat.thread(id).at(next, count: 2).last { message in
      message.serverTimestamp.map { $0 <= time } ?? false
    }
    guard let last else { return }
    try chat.receive(ReceivedReceipt(in: id, of: member, .read, .upTo(last.id)))
  }

  /// Makes a call, and reports the row if the store refuses it.
  ///
  /// A refused call changes nothing, so the commit goes on. A fault of the storage ends it.
  @discardableResult
  private func refusing(
    _ table: String, _ row: Int64, _ report: inout MoveReport,
    _ body: () throws(StoreError) -> Void
  ) throws -> Bool {
    do throws(StoreError) {
      try body()
      return true
    } catch {
      switch error {
      case .input, .message, .conversation: break
      default: throw error
      }
      report.refuse(table, row, .refusedByStore, "\(error)")
      return false
    }
  }
}

extension MoveReport {
  fileprivate mutating func count(_ message: Message, isSent: Bool) {
    movedCount += 1
    if !isSent { unsentCount += 1 }
    reactionCount += message.reactions.count
    attachmentCount += message.attachments.count
  }
}
