import PageFile

/// Schedules what the local member composes.
///
/// See docs/message-format.md, O-32.
extension Composing {
  /// Composes a message that is to be sent at a time, or at once if that has passed.
  ///
  /// Where new entries are held, this one is held like them, without a time.
  func send(_ message: Message, at time: Timestamp) throws(StoreError) -> Message {
    try time.validate()
    var message = message
    let isLater = time > transaction.clock()
    let holdsNewEntries = try transaction.outboxEntering.holdsComposed
    if isLater { message.status = .held }
    let sent = try transaction.composing.send(message)
    guard isLater, !holdsNewEntries,
      let open = try transaction.existingConversation(sent.conversation)
    else { return sent }
    for (ordinal, record) in try view.outbox.entries(of: sent.id, in: open.number) {
      guard case .send = record.subject else { continue }
      try transaction.outboxEntries.setTime(time, of: ordinal, record)
    }
    return sent
  }

  /// Holds an entry until a time.
  func schedule(_ id: OutboxEntry.ID, at time: Timestamp) throws(StoreError) -> Bool {
    try time.validate()
    guard let old = try transaction.outboxSweeps.currentEntry(id.rawValue) else {
      throw .outbox(.notFound, id)
    }
    if old.isRunning { throw .outbox(.leased, id) }
    if old.scheduledTime == time.microseconds { return false }
    _ = try transaction.outboxDecisions.hold(id)
    guard let held = try view.outbox.entry(id.rawValue) else { throw .outbox(.notFound, id) }
    try transaction.outboxEntries.setTime(time, of: id.rawValue, held)
    return true
  }
}
