import PageFile

/// Merges the times at which the server says that it took an act.
///
/// From then on the act is a fact like any other.
///
/// If the local member has done the same kind of act since, the newer one stays as it is: its own
/// answer is still to come. See docs/message-format.md, O-16.
extension OutboxAnswers {
  func confirmReaction(
    _ emoji: String, isRemoved: Bool, to id: MessageID, in conversation: UInt32,
    _ ordinal: UInt64, _ serverTime: Timestamp
  ) throws(StoreError) {
    guard let localMember, try flushed().messages.found(id, in: conversation) != nil else {
      return
    }
    for (other, record) in try view.outbox.entries(of: id, in: conversation) where other > ordinal {
      if case .react(_, let newer, _) = record.subject, newer.hasSameBytes(as: emoji) { return }
    }
    let record = ReactionRecord(time: serverTime.microseconds, isRemoved: isRemoved)
    let open = try transaction.conversation(conversation)
    _ = try transaction.messageUpdates.merge(record, emoji, of: localMember, to: id, in: open)
  }

  /// Merges the server's time of an act on a conversation.
  func confirm(
    _ record: OutboxRecord, _ ordinal: UInt64, _ task: OutboxTask, at time: Int64
  ) throws(StoreError) {
    let number = record.conversation
    switch (record.subject, task) {
    case (.setTitle, .setTitle(let title)):
      guard try transaction.outboxEntries.lane(number).title == ordinal else { return }
      try confirm(number) { new in new.details.title.merge(TextRegister(title, time: time)) }
    case (.setAvatar, .setAvatar(let avatar)):
      guard try transaction.outboxEntries.lane(number).avatar == ordinal else { return }
      try confirm(number) { new in new.details.avatar.merge(TextRegister(avatar, time: time)) }
    case (.createConversation, .createConversation(let told)):
      _ = try confirmCreation(of: number, told, at: time)
    case (.changeMembers(let added, let removed), _):
      let changed = try membersChanged(behind: ordinal, in: number)
      try confirm(number) { (new) throws(StoreError) in
        for member in added where !changed.contains(member) {
          try new.members.merge(.init(member, time: time, isActive: true, joinedAt: time))
        }
        for member in removed where !changed.contains(member) {
          try new.members.merge(.init(member, time: time, isActive: false))
        }
      }
    case (.leaveConversation, _):
      guard let localMember else { return }
      try confirm(number) { (new) throws(StoreError) in
        try new.members.merge(.init(localMember, time: time, isActive: false))
      }
    case (.deleteConversation, _): try transaction.deletions.confirmDeletion(of: number, at: time)
    default: break
    }
  }

  /// Merges the server's time of the making of a conversation, which replaces the device's.
  ///
  /// Returns true if anything changed.
  func confirmCreation(
    of number: UInt32, _ told: Conversation, at time: Int64
  ) throws(StoreError) -> Bool {
    let lane = try transaction.outboxEntries.lane(number)
    return try transaction.conversations.update(try transaction.conversation(number)) { new in
      let known = new.details.createdAt
      new.details.createdAt =
        known == told.createdAt?.microseconds ? time : min(known ?? time, time)
      if lane.title == 0, new.details.title.time != nil {
        new.details.title.merge(TextRegister(told.title, time: time))
      }
      if lane.avatar == 0, new.details.avatar.time != nil {
        new.details.avatar.merge(TextRegister(told.avatar, time: time))
      }
    }
  }

  @inline(never)
  private func confirm(
    _ number: UInt32, _ body: (inout Conversations.Attributes) throws(StoreError) -> Void
  ) throws(StoreError) {
    _ = try transaction.conversations.update(try transaction.conversation(number), body)
  }

  /// Returns the members whom later entries of a conversation add or remove.
  private func membersChanged(
    behind ordinal: UInt64, in conversation: UInt32
  ) throws(StoreError) -> Set<UInt32> {
    var changed: Set<UInt32> = []
    var numbers = [conversation]
    if transaction.outboxTotals.hasSteps {
      for sweep in try view.outbox.sweeps() where sweep.target == conversation {
        numbers.append(sweep.conversation)
      }
    }
    for number in numbers {
      for (other, record) in try view.outbox.entries(in: number) where other > ordinal {
        if case .changeMembers(let added, let removed) = record.subject {
          changed.formUnion(added + removed)
        }
      }
    }
    return changed
  }
}
