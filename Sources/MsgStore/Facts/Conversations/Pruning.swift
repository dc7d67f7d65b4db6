import PageFile

/// Removes the history that no rule keeps, a part in each commit.
///
/// See docs/message-format.md, P-2 and P-3.
///
///  1. A thread is walked from its beginning. The walk removes the messages to be pruned, passes
///     over the spared ones, and ends at the first message that the rule keeps.
///  2. The messages before the walk are the spared ones. Their number is kept from step to step, so
///     the number of those behind it is known without a walk from the other end. They are counted
///     anew after one of them has changed, and after the store was opened.
///  3. Sequence numbers stay known, as after each removal.
struct Pruning: TransactionPart {
  let transaction: Transaction

  private static let microsecondsPerDay: Int64 = 24 * 3600 * 1_000_000
  /// The number of conversations of a section that are looked at for the newest message.
  ///
  /// A conversation with only pending messages is listed by their local times.
  private static let maximumNewestCount = 100

  /// Performs one step; returns true if nothing is left to do.
  func prune(_ work: WorkRecord, _ start: PruneProgress, at ordinal: UInt64) throws(StoreError)
    -> Bool
  {
    var number = work.conversation
    var progress = start
    var count = 0
    // Looked up once a step, if a rule has days.
    var now: Int64?
    while true {
      // Number 0 is where a walk through all conversations begins.
      if number != RetentionRecord.store, try transaction.isStored(number),
        try !prune(number, &progress, &now, &count)
      {
        break
      }
      guard progress.goesOn, let next = try nextConversation(after: number) else { return true }
      number = next
      progress = PruneProgress(goesOn: true)
      count += 1
      if transaction.isStepFull(count, of: transaction.maximumSweepCount) { break }
    }
    try transaction.workQueue.write(WorkRecord(.prune(progress), of: number), at: ordinal)
    return false
  }

  /// Prunes one conversation; returns true if nothing is left to prune in it.
  private func prune(
    _ number: UInt32, _ progress: inout PruneProgress, _ now: inout Int64?, _ count: inout Int
  ) throws(StoreError) -> Bool {
    let rule = try view.retention.rule(of: number)
    if rule == .everything { return true }
    var limit: Int64?
    if let days = rule.days {
      if now == nil { now = try presentTime() }
      limit = now.map { $0 &- Int64(days) * Self.microsecondsPerDay }
    }
    let conversation = try transaction.conversation(number)
    let answered = try view.conversations.draftRecord(number)?.replyTo
    // A rule of days alone asks for no number.
    var sparedCount =
      rule.messageCount == nil ? 0 : try messageCount(upTo: progress.reached, in: number)
    var removedCount = 0
    var isDone = false
    while !transaction.isStepFull(count, of: transaction.maximumSweepCount) {
      guard let position = try nextPosition(after: progress.reached, in: number),
        isPruned(position, by: rule, limit, behind: sparedCount, conversation.summary)
      else {
        isDone = true
        break
      }
      let message = try flushed().messages.message(at: position, in: number)
      let isUnread = isUnread(message, at: position, conversation.summary)
      if isUnread, conversation.summary.seenUpTo.map({ position > $0 }) ?? true {
        isDone = true
        break
      }
      progress.reached = position
      let isSpared = try isSpared(message, at: position, answered, in: number)
      if isUnread || isSpared {
        // Expired messages are not among those that the conversation counts.
        if !message.traits.isLetGo { sparedCount += 1 }
        count += 1
        continue
      }
      // Pruned texts are in no file afterwards, as deleted ones.
      view.source.isErasing = true
      count += try transaction.receivedMessages.takeOut(position, of: conversation)
      removedCount += 1
      if StoreDefect.floorKept.isPlanted { continue }
      try transaction.retentions.change(number) { $0.floor = latest($0.floor, position) }
    }
    memory.sparedMessages = nil
    if !isDone, rule.messageCount != nil, let reached = progress.reached {
      memory.sparedMessages = SparedMessages(
        conversation: number, reached: reached, count: sparedCount)
    }
    if removedCount > 0 { try transaction.pendingReceipts.updatePending(conversation) }
    return isDone
  }

  /// Returns the number of counted messages up to a position: those that earlier steps have spared.
  private func messageCount(
    upTo reached: MessagePosition?, in number: UInt32
  ) throws(StoreError) -> Int {
    guard let reached else { return 0 }
    if let known = memory.sparedMessages, known.conversation == number, known.reached == reached {
      return known.count
    }
    var count = 0
    var scan = try ThreadScan(flushed(), number, from: .start)
    while let record = try scan.next() {
      let isCounted = !record.marks.contains(.expired)
      guard try scan.position() <= reached else { break }
      if isCounted { count += 1 }
    }
    return count
  }

  private func nextPosition(
    after reached: MessagePosition?, in number: UInt32
  ) throws(StoreError) -> MessagePosition? {
    var scan = try ThreadScan(flushed(), number, after: reached ?? .start)
    guard try scan.next() != nil else { return nil }
    return try scan.position()
  }

  /// Returns true if a message is old enough to be pruned, or enough newer ones follow it.
  private func isPruned(
    _ position: MessagePosition, by rule: Retention, _ limit: Int64?, behind sparedCount: Int,
    _ summary: ConversationSummary
  ) -> Bool {
    if position.place.isPending { return false }
    if let limit, position.place.time < limit { return true }
    guard var kept = rule.messageCount else { return false }
    if StoreDefect.oneMorePruned.isPlanted { kept -= 1 }
    return summary.messageCount - sparedCount > kept
  }

  private func isUnread(
    _ message: StoredMessage, at position: MessagePosition, _ summary: ConversationSummary
  ) -> Bool {
    summary.unreadCount > 0
      && view.receipts.unreadCount(message, at: position, summary).messages > 0
  }

  /// Returns true if a message that was read has to stay.
  private func isSpared(
    _ message: StoredMessage, at position: MessagePosition, _ answered: MessageID?,
    in number: UInt32
  ) throws(StoreError) -> Bool {
    if StoreDefect.sparedPruned.isPlanted { return false }
    if message.traits.marks.contains(.hidden) || !message.traits.pendingEdits.isEmpty {
      return true
    }
    if !message.traits.tags.isDisjoint(with: .everywhere) { return true }
    if let answered, answered == position.id || message.traits.names.contains(answered) {
      return true
    }
    return try !view.outbox.entries(of: message.id(at: position), in: number).isEmpty
  }

  /// Returns the time from which days are counted back.
  private func presentTime() throws(StoreError) -> Int64 {
    let clock = transaction.clock().microseconds
    return try newestTime().map { min($0, clock) } ?? clock
  }

  /// Returns the time of the newest acknowledged message of the store, or nil without one.
  ///
  /// A conversation is listed under its newest time or a later one, so the first ones of each
  /// section are enough.
  private func newestTime() throws(StoreError) -> Int64? {
    _ = try flushed()
    var newest: Int64?
    for section in [ListPlace.Section.pinned, .normal, .archived] {
      var count = 0
      var end = ListPlace(section: section, time: .max).key(.max)
      while count < Self.maximumNewestCount, let (place, number) = try listed(before: end),
        place.section == section, newest.map({ place.time > $0 }) ?? true
      {
        count += 1
        end = place.key(number)
        let last = try flushed().messages.lastPosition(upTo: .firstPending, in: number)
        if let time = last?.place.time { newest = max(time, newest ?? time) }
      }
    }
    return newest
  }

  private func listed(
    before key: borrowing ByteBuffer
  ) throws(StoreError) -> (place: ListPlace, number: UInt32)? {
    var cursor = Cursor(view.source, Schema.activity)
    var found = ByteBuffer()
    try storage { () throws(PageFileError) in
      _ = try cursor.seek(key.bytes)
      _ = try cursor.previous()
    }
    guard cursor.isAtCell else { return nil }
    cursor.appendKey(to: &found)
    guard let parts = ListPlace.parts(found.bytes) else {
      throw view.corrupt(Schema.activity, "malformed key")
    }
    return parts
  }

  private func nextConversation(after number: UInt32) throws(StoreError) -> UInt32? {
    try transaction.summaries.flush()
    var cursor = Cursor(view.source, Schema.conversations)
    return try view.conversations.nextConversation(after: number, &cursor)
  }
}

extension Transaction {
  var pruning: Pruning { Pruning(transaction: self) }
}
