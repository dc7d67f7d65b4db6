import PageFile

/// Holds entries until a time, and queues them then.
///
/// See docs/message-format.md, O-32.
///
/// A scheduled entry is aside like a held one: nothing waits for it but entries that need it. When
/// its time has come it is queued at the place at which it was entered.
extension OutboxEntries {
  /// Gives a held entry the time at which it is queued.
  func setTime(
    _ time: Timestamp, of ordinal: UInt64, _ old: OutboxRecord
  ) throws(StoreError) {
    var new = old
    new.state = .scheduled(at: time.microseconds)
    try transaction.outboxEntries.replace(entry: ordinal, old, with: new)
  }

  /// Queues a scheduled entry at its place.
  func queue(_ ordinal: UInt64, _ record: OutboxRecord) throws(StoreError) {
    var new = record
    new.state = .queued
    transaction.outboxEntries.beginLimits(of: &new)
    try transaction.outboxEntries.replace(entry: ordinal, record, with: new)
    try transaction.outboxFollowing.show(.pending, of: new)
  }

  /// Queues the entries whose time has come, a bounded number of them.
  func queueDue(at now: Int64) throws(StoreError) {
    guard transaction.outboxTotals.counts.held > 0 else { return }
    var count = 0
    for (time, ordinal) in try view.outbox.scheduled(
      until: now, maximumCount: Self.maximumDueCount)
    {
      if transaction.isStepFull(count, of: Self.maximumDueCount) { return }
      count += 1
      let record = try view.outbox.indexedEntry(ordinal)
      guard record.scheduledTime == time else {
        throw view.corrupt(Schema.work, "outbox entry \(ordinal): not scheduled for \(time)")
      }
      if try transaction.outboxSweeps.isLeft(ordinal, record) { continue }
      try queue(ordinal, record)
    }
  }

  private static var maximumDueCount: Int { 64 }
}
