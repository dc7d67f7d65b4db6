extension StoreSnapshot {
  /// The outbox, for reading.
  public var outbox: OutboxReader { OutboxReader(view: view, transaction: nil) }
}

/// The entries of the outbox, for reading.
///
/// A reader belongs to the closure it was taken in, and throws `transactionEnded` after it. All
/// functions throw `storage` and `corruptRecord`.
public struct OutboxReader: ~Copyable {
  let view: StoreView
  let transaction: Transaction?

  private func within<R>(
    _ body: (StoreView) throws(StoreError) -> R
  ) throws(StoreError) -> R {
    guard let transaction else {
      return try view.within { () throws(StoreError) in try body(view) }
    }
    return try transaction.read(body)
  }

  /// Returns the number of entries in each state, in one conversation or in all.
  ///
  /// Costs one lookup.
  public func counts(in conversation: ConversationID? = nil) throws(StoreError) -> OutboxCounts {
    try within { (view) throws(StoreError) in
      guard let conversation else { return try view.outbox.totals().counts }
      guard let number = try view.number(of: conversation) else { return OutboxCounts() }
      return try view.outbox.lane(number).counts
    }
  }

  /// True if new entries are held; see `OutboxWriter.setHolding(_:)`.
  public var isHolding: Bool {
    get throws(StoreError) {
      try within { (view) throws(StoreError) in try view.outbox.totals().isHolding }
    }
  }

  /// The time at which `OutboxWriter.next` will have work, as far as is known now.
  ///
  /// It is nil if there will be none until an entry is added, released, retried or done. A time in
  /// the past means that there is work now. Costs one lookup. `MessageStore.work(for:)` waits for
  /// this time by itself.
  public var nextTime: Timestamp? {
    get throws(StoreError) {
      try within { (view) throws(StoreError) in
        try view.outbox.firstDueTime().map { Timestamp(microseconds: $0) }
      }
    }
  }

  /// Returns entries in the order in which they were entered.
  ///
  /// The cost depends on the number of entries returned, and on those of deleted conversations that
  /// are still to be removed, which are skipped.
  ///
  /// - Parameters:
  ///   - conversation: Limits the result to entries about this conversation; nil means all.
  ///   - count: The maximum number of entries, 1 or more.
  ///   - first: The entry to start at, from `OutboxSlice.next`; nil starts at the beginning.
  /// - Throws: Also `invalidCount`.
  public func entries(
    in conversation: ConversationID? = nil, count: Int, from first: OutboxEntry.ID? = nil
  ) throws(StoreError) -> OutboxSlice {
    guard count >= 1 else { throw .invalidCount(count) }
    return try within { (view) throws(StoreError) in
      try view.tasks.slice(in: conversation, count: count, from: first?.rawValue ?? 0)
    }
  }

  /// Returns an entry, or nil if it is not or no longer in the outbox.
  public func entry(_ id: OutboxEntry.ID) throws(StoreError) -> OutboxEntry? {
    try within { (view) throws(StoreError) in
      guard let record = try view.outbox.entry(id.rawValue),
        try view.outbox.sweepTarget(of: record.conversation) == nil
      else { return nil }
      return try view.tasks.shownEntry(record, id.rawValue)
    }
  }
}
