import PageFile

/// Enters changes of the client's own fields, and merges the times at which the server took them.
///
/// See docs/message-format.md, O-33. An entry has the provisional time of the value that it tells.
/// Once another value counts, it has nothing to tell.
extension OutboxEntering {
  /// Enters that a field was set.
  ///
  /// Of the entries of one field that do not run, one stays: it tells the newest value.
  func enterField(_ subject: OutboxSubject, of conversation: UInt32) throws(StoreError) {
    guard transaction.isOutboxOn else { return }
    try transaction.outboxFollowing.settle()
    let holdsNewEntries = transaction.outboxTotals.holdsNewEntries
    var isEntered = false
    for (ordinal, record) in try entries(of: subject, in: conversation) where !record.isRunning {
      let isOther = record.state == .failed || holdsNewEntries && record.state != .held
      if isOther || isEntered {
        try transaction.outboxEntries.remove(entry: ordinal)
        continue
      }
      var new = record
      new.subject = subject
      // A late answer about the former value must not end the entry.
      if !StoreDefect.fieldTokenKept.isPlanted { new.token = .random() }
      try transaction.outboxEntries.replace(entry: ordinal, record, with: new)
      isEntered = true
    }
    if !isEntered { try transaction.outboxEntries.enter(subject, of: conversation) }
  }

  /// Removes the entries of a field of which the server is not to be told any more.
  func withdraw(_ subject: OutboxSubject, of conversation: UInt32) throws(StoreError) {
    for (ordinal, record) in try entries(of: subject, in: conversation) where !record.isRunning {
      try transaction.outboxEntries.remove(entry: ordinal)
    }
  }

  /// Removes all entries of a member's fields, so that no late answer brings a value back.
  func withdrawAll(of member: UInt32) throws(StoreError) {
    if transaction.outboxEntries.isEmpty { return }
    for (ordinal, _) in try view.outbox.entries(of: MessageID("\(member)"), in: 0) {
      try transaction.outboxEntries.remove(entry: ordinal)
    }
  }

  /// Gives the entry that sends a message another token, after its fields have changed.
  func sendsOtherContent(_ id: MessageID, in conversation: UInt32) throws(StoreError) {
    for (ordinal, record) in try view.outbox.entries(of: id, in: conversation) {
      guard case .send = record.subject, record.attemptCount > 0 else { continue }
      var new = record
      new.token = .random()
      try transaction.outboxEntries.replace(entry: ordinal, record, with: new)
    }
  }

  /// Gives a value the time at which the server took it, unless it was set again since.
  func confirmField(
    _ record: OutboxRecord, _ ordinal: UInt64, _ told: OwnRegister, at time: Int64
  ) throws(StoreError) {
    let number = record.conversation
    if try entries(of: record.subject, in: number).contains(where: { $0.ordinal > ordinal }) {
      return
    }
    var told = told
    told.time = time
    switch record.subject {
    case .setMessageField(let id, let provisional, _):
      guard try transaction.isStored(number) else { return }
      let open = try transaction.conversation(number)
      _ = try transaction.messageUpdates.update(id, in: open) { (message, own) throws(StoreError) in
        if message.traits.marks.contains(.retracted) { return }
        try transaction.messageFacts.confirmOwnField(
          told, provisional, in: &message.traits.ownFields, of: own, in: number)
      } waiting: { (waiting, own) throws(StoreError) in
        if waiting.traits.marks.contains(.retracted) { return }
        try transaction.messageFacts.confirmOwnField(
          told, provisional, in: &waiting.traits.ownFields, of: own, in: number)
      }
    case .setMemberField(let member, let provisional, _):
      try transaction.profiles.confirmField(told, provisional, of: member)
    case .setConversationField(let provisional, _):
      guard try transaction.isStored(number) else { return }
      try transaction.conversations.confirmField(told, provisional, of: number)
    default: break
    }
  }

  private func entries(
    of subject: OutboxSubject, in conversation: UInt32
  ) throws(StoreError) -> [(ordinal: UInt64, record: OutboxRecord)] {
    guard !transaction.outboxEntries.isEmpty, let name = subject.indexName else { return [] }
    return try view.outbox.entries(of: name, in: conversation).filter {
      $0.record.subject.isSameField(as: subject)
    }
  }
}
