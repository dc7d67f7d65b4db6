extension StoreReading where Self: ~Copyable {
  /// The outbox, for reading.
  public var outbox: OutboxReader {
    // See `StoreWriter.outbox`.
    @inline(never) get { OutboxReader(access: access) }
  }
}

/// The entries of the outbox, for reading.
///
/// A reader belongs to the closure it was taken in, and throws `transactionEnded` after it.
public struct OutboxReader: OutboxReading, ~Copyable {
  /// The access to the stored data, for the functions of the protocol.
  public let access: StoreAccess
}

/// The functions for reading that `OutboxReader` and `OutboxWriter` have in common.
///
/// All functions throw `storage` and `corruptRecord`.
public protocol OutboxReading: ~Copyable {
  /// The access to the stored data, for the functions of this protocol.
  var access: StoreAccess { get }
}

extension OutboxReading where Self: ~Copyable {
  /// Returns the number of entries in each state, in one conversation or in all.
  ///
  /// Costs one lookup.
  public func counts(in conversation: ConversationID? = nil) throws(StoreError) -> OutboxCounts {
    try access.read { (view) throws(StoreError) in
      guard let conversation else { return view.source.outboxTotals.counts }
      guard let number = try view.number(of: conversation) else { return OutboxCounts() }
      return try view.outbox.lane(number).counts
    }
  }

  /// True if new entries are held; see `OutboxWriter.setHoldsNewEntries(_:)`.
  public var holdsNewEntries: Bool {
    get throws(StoreError) {
      try access.read { (view) in view.source.outboxTotals.holdsNewEntries }
    }
  }

  /// The time at which `OutboxWriter.next` will have work, as far as is known now.
  ///
  /// It is nil if there will be none until an entry is added, released, retried or done. A time in
  /// the past means that there is work now, or a step of long work to do. After the clock was set
  /// back there may be work earlier, so look again within a minute. Costs two lookups.
  /// `MessageStore.work(for:)` does all this by itself.
  public var nextTime: Timestamp? {
    get throws(StoreError) {
      try access.read { (view) throws(StoreError) in
        try view.outbox.firstTime().map { Timestamp(microseconds: $0) }
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
  /// - Throws: Also `input(.count)`.
  public func entries(
    in conversation: ConversationID? = nil, count: Int, from first: OutboxEntry.ID? = nil
  ) throws(StoreError) -> OutboxSlice {
    let count = try count.validatedRequest()
    return try access.read { (view) throws(StoreError) in
      try view.tasks.slice(in: conversation, count: count, from: first?.rawValue ?? 0)
    }
  }

  /// Returns an entry, or nil if it is not or no longer in the outbox.
  public func entry(_ id: OutboxEntry.ID) throws(StoreError) -> OutboxEntry? {
    try access.read { (view) throws(StoreError) in
      guard let record = try view.outbox.entry(id.rawValue),
        try view.outbox.sweep(of: record.conversation) == nil
      else { return nil }
      return try view.tasks.shownEntry(record, id.rawValue)
    }
  }

  /// Returns the entry of a token, such as one that the server names in an answer; nil if it is not
  /// or no longer in the outbox.
  ///
  /// Walks along the entries until it finds it.
  public func entry(_ token: OutboxToken) throws(StoreError) -> OutboxEntry? {
    try access.read { (view) throws(StoreError) in
      var found: (ordinal: UInt64, record: OutboxRecord)?
      try view.outbox.forEachEntry { (ordinal, record) throws(StoreError) in
        guard record.token == token,
          try view.outbox.sweep(of: record.conversation) == nil
        else { return true }
        found = (ordinal, record)
        return false
      }
      return try found.map { (found) throws(StoreError) in
        try view.tasks.shownEntry(found.record, found.ordinal)
      }
    }
  }
}
