extension StoreSnapshot {
  /// What waits to go out.
  public var outbox: OutboxReader { OutboxReader(view: view, transaction: nil) }
}

/// The outbox, to be looked at.
///
/// It belongs to the closure it was taken in, and throws `transactionEnded` after it. All functions
/// throw `storage` and `corruptRecord`.
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

  /// How many entries there are of each state, in a conversation or in all.
  ///
  /// One lookup.
  public func counts(in conversation: ConversationID? = nil) throws(StoreError) -> OutboxCounts {
    try within { (view) throws(StoreError) in
      guard let conversation else { return try view.outbox.totals().counts }
      guard let number = try view.number(of: conversation) else { return OutboxCounts() }
      return try view.outbox.lane(number).counts
    }
  }

  /// Whether new entries are held, see `OutboxWriter.setHolding(_:)`.
  public var isHolding: Bool {
    get throws(StoreError) {
      try within { (view) throws(StoreError) in try view.outbox.totals().isHolding }
    }
  }

  /// When `OutboxWriter.next` will have something, as far as is known now; nil: not before something
  /// is entered, released, retried or done.
  ///
  /// A time in the past says that it has something now. One lookup. `MessageStore.work(for:)` waits for
  /// it by itself.
  public var nextTime: Timestamp? {
    get throws(StoreError) {
      try within { (view) throws(StoreError) in
        try view.outbox.firstDueTime().map { Timestamp(microseconds: $0) }
      }
    }
  }

  /// What waits, in the order in which it was entered.
  ///
  /// Its cost depends on how many it returns, and on how many are still to be removed of deleted
  /// conversations, which it passes over.
  ///
  /// - Parameters:
  ///   - conversation: Only what is about this one; nil: all.
  ///   - count: At most so many, 1 or more.
  ///   - first: From this one on, as `OutboxSlice.next` says; nil: from the beginning.
  /// - Throws: Also `invalidCount`.
  public func entries(
    in conversation: ConversationID? = nil, count: Int, from first: OutboxEntry.ID? = nil
  ) throws(StoreError) -> OutboxSlice {
    guard count >= 1 else { throw .invalidCount(count) }
    return try within { (view) throws(StoreError) in
      try view.tasks.slice(in: conversation, count: count, from: first?.rawValue ?? 0)
    }
  }

  /// One entry; nil when it is not there, or not any more.
  public func entry(_ id: OutboxEntry.ID) throws(StoreError) -> OutboxEntry? {
    try within { (view) throws(StoreError) in
      guard let record = try view.outbox.entry(id.rawValue),
        try view.outbox.sweepTarget(of: record.conversation) == nil
      else { return nil }
      return try view.tasks.shownEntry(record, id.rawValue)
    }
  }
}
