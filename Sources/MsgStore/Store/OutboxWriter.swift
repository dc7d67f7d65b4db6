extension StoreWriter {
  /// The outbox, for handing out work, reporting outcomes, and deciding about entries.
  public var outbox: OutboxWriter {
    // Swift 6.3.1 crashes when it inlines this into another module ("cannot initialize a
    // nonCopyable type with a guaranteed value").
    @inline(never) get { OutboxWriter(transaction: transaction) }
  }
}

/// The outbox within one write transaction.
///
/// Acts of the local member enter it by themselves, in the commit of the `write` that performs
/// them. A worker that talks to the server takes work out by `next`, does it, and reports the
/// outcome. If the worker dies in between, the work is handed out again once its lease has expired,
/// under the same token, so the server can recognise a repetition.
///
/// Within a conversation, entries go one after the other in the order in which they were entered;
/// conversations do not wait for each other. An entry that waits for another attempt holds its
/// conversation back. An entry that is held, or has failed for good, steps aside together with
/// those that need it: a message needs its uploads, and everything told of a message or a
/// conversation needs the server to have it.
///
/// The value belongs to the closure it was taken in, and throws `transactionEnded` after it. All
/// functions throw `storage` and `corruptRecord`.
public struct OutboxWriter: OutboxReading, ~Copyable {
  let transaction: Transaction

  /// The access to the stored data, for the functions of the protocol.
  public var access: StoreAccess { StoreAccess(transaction) }

  /// Hands out the oldest work that is due, under a lease that keeps it from all other workers.
  ///
  /// A retry whose time has come, and work whose lease has expired, keep the place at which they
  /// were entered, before all later entries.
  ///
  /// The transaction is then committed at `full`, whatever level it was begun with, so that nothing
  /// leaves the device that a power cut could take back. The work may begin when `write` has
  /// returned.
  ///
  /// The cost does not depend on the size of the outbox.
  ///
  /// - Parameters:
  ///   - owner: The name of the worker, 1 to 255 bytes, for diagnostics and for `reclaimWork`.
  ///   - lease: The time before unrenewed work is handed out again, a millisecond to a day.
  /// - Returns: Nil if nothing is due; `OutboxReader.nextTime` says when something will be. Also
  ///   nil while a long release, removal, or merge has to finish first, or so much is too old that
  ///   it is given up in parts; the call then performs a part of it.
  /// - Throws: `input(.identifier)` for the owner.
  public func next(
    for owner: String, lease: Duration = .seconds(60)
  ) throws(StoreError) -> OutboxItem? {
    try transaction.perform(try transaction.outboxLeases.nextWork(for: owner, lease: lease))
  }

  /// Hands out the oldest work that is due and, if that is a message to be sent, the messages to be
  /// sent right behind it in the same conversation.
  ///
  /// For a server that takes several messages in one request. Each item has its own token and its
  /// own lease, and they come in their order. Anything else ends the run, as do a message with an
  /// unfinished upload and one that waits for another attempt. A worker that sends the messages one
  /// by one has to stop at the first failure, report it, and return the rest by
  /// `returnWork(contentsOf:)`: then their order is kept. Costs as `next(for:lease:)` does for each
  /// item.
  ///
  /// - Parameters:
  ///   - owner: The name of the worker, 1 to 255 bytes.
  ///   - maximumCount: The maximum number of items, 1 or more; at most 256 are handed out.
  ///   - lease: The time before unrenewed work is handed out again, a millisecond to a day.
  /// - Returns: An empty array if nothing is due, as by `next(for:lease:)`.
  /// - Throws: `input(.identifier)` for the owner; `input(.count)`.
  public func next(
    for owner: String, maximumCount: Int, lease: Duration = .seconds(60)
  ) throws(StoreError) -> [OutboxItem] {
    try transaction.perform(
      try transaction.outboxLeases.nextRun(for: owner, lease: lease, maximumCount: maximumCount))
  }

  /// Extends the lease of an item.
  ///
  /// - Returns: The item with its new expiry; nil if the holder has lost it.
  public func renew(
    _ item: OutboxItem, lease: Duration = .seconds(60)
  ) throws(StoreError) -> OutboxItem? {
    try transaction.perform(try transaction.outboxAnswers.renew(item, lease: lease))
  }

  /// Reports that the server has taken the work.
  ///
  /// For an edit, a retraction, a receipt or an upload this is the confirmation. For a message it
  /// says that the server has it; `acknowledge`, in the same `write`, also gives its place, and is
  /// enough by itself. The server's reply about an upload or a new conversation is stored by
  /// `receive` or `renameConversation` in the same `write`.
  ///
  /// The report is accepted even after the lease has expired.
  ///
  /// - Parameters:
  ///   - item: The work.
  ///   - serverTime: The time under which other devices learn of the change. Until it is known, a
  ///     local act has a provisional time, just later than the newest server time known then. With
  ///     it, all devices merge later changes alike: edits, retractions, reactions, titles,
  ///     pictures, and members who join or leave. For a deleted conversation it is the time up to
  ///     which messages were deleted.
  ///   - serverName: The server's own id of an edit; see ``Message/editServerName``. Unused for
  ///     other work: that of a message comes with `acknowledge`.
  /// - Returns: False if this was known already, or no longer matters.
  /// - Throws: `input(.implausibleTime)`, `input(.identifier)`.
  @discardableResult
  public func complete(
    _ item: OutboxItem, serverTime: Timestamp? = nil, serverName: MessageID? = nil
  ) throws(StoreError) -> Bool {
    try transaction.perform(
      try transaction.outboxAnswers.finish(item, serverTime: serverTime, serverName: serverName))
  }

  /// Reports that the server has taken several items, as `complete(_:serverTime:serverName:)` does
  /// for each.
  ///
  /// - Returns: The number of items of which this was not known already.
  @discardableResult
  public func complete(contentsOf items: some Sequence<OutboxItem>) throws(StoreError) -> Int {
    var count = 0
    for item in items where try complete(item) { count += 1 }
    return count
  }

  /// Reports that an attempt has failed.
  ///
  /// After `noConnection`, a timeout, or `other`, the attempt is repeated: after a second, then
  /// after twice as long each time up to five minutes, half of it random. A refusal by the server
  /// (`permission`, `notFound`, `invalid`) fails at once. The entry then stays until it is retried
  /// or removed, and the local change stays in place.
  ///
  /// - Parameters:
  ///   - item: The work.
  ///   - failure: The reason, also meant for people.
  ///   - retryAt: The time at which the server wants to be asked again, by the store's clock and
  ///     within a day.
  /// - Returns: False if the holder has lost the item.
  @discardableResult
  public func fail(
    _ item: OutboxItem, because failure: SendFailure, retryAt: Timestamp? = nil
  ) throws(StoreError) -> Bool {
    try transaction.perform(
      try transaction.outboxAnswers.fail(item, because: failure, retryAt: retryAt))
  }

  /// Returns work that was not begun to the outbox.
  ///
  /// - Returns: False if the holder has lost the item.
  @discardableResult
  public func returnWork(_ item: OutboxItem) throws(StoreError) -> Bool {
    try transaction.perform(try transaction.outboxAnswers.returnWork(item))
  }

  /// Returns several items that were not begun to the outbox.
  ///
  /// - Returns: The number of items returned; the holder has lost the others.
  @discardableResult
  public func returnWork(contentsOf items: some Sequence<OutboxItem>) throws(StoreError) -> Int {
    var count = 0
    for item in items where try returnWork(item) { count += 1 }
    return count
  }

  /// Returns all work of an owner to the outbox, including work that may have been begun.
  ///
  /// For a worker that restarts and does not want to wait until its leases expire. Reads all
  /// entries if any is running.
  ///
  /// - Returns: The number of items returned.
  @discardableResult
  public func reclaimWork(of owner: String) throws(StoreError) -> Int {
    try transaction.perform(try transaction.outboxAnswers.reclaimWork(of: owner))
  }

  /// Enters work of the client's own, in the order of a conversation or in an order of its own.
  ///
  /// - Parameters:
  ///   - name: The kind of work, 1 to 255 bytes.
  ///   - payload: The data of the work, at most 1 MiB.
  ///   - conversation: The conversation that the work is about. Work with nil goes in its own
  ///     order.
  /// - Throws: `input(.identifier)`, `input(.tooLong)`, `conversation(.notFound)`.
  @discardableResult
  public func enter(
    _ name: String, payload: [UInt8] = [], in conversation: ConversationID? = nil
  ) throws(StoreError) -> OutboxEntry.ID {
    try transaction.perform(
      try transaction.outboxEntering.enterClientWork(name, payload, in: conversation))
  }
}

/// Decisions of the user about entries.
///
/// All functions that take an entry throw `outbox(.notFound)`.
extension OutboxWriter {
  /// Holds new entries, except receipts, until they are released.
  ///
  /// For users who want to review what they wrote offline. Entries already in the outbox stay as
  /// they are. A release of held entries that goes on in the background ends; a retry does not.
  ///
  /// - Returns: True if anything changed.
  @discardableResult
  public func setHoldsNewEntries(_ holdsNewEntries: Bool) throws(StoreError) -> Bool {
    try transaction.perform(try transaction.outboxDecisions.setHoldsNewEntries(holdsNewEntries))
  }

  /// Holds an entry until it is released, and the uploads of a message with it.
  ///
  /// - Returns: True if anything changed.
  /// - Throws: `outbox(.leased)`.
  @discardableResult
  public func hold(_ id: OutboxEntry.ID) throws(StoreError) -> Bool {
    try transaction.perform(try transaction.outboxDecisions.hold(id))
  }

  /// Holds an entry until a time, and the uploads of a message with it; then it is queued by itself
  /// at its place in the order.
  ///
  /// Mostly for a message; see `StoreWriter.send(_:at:)`. An entry that is scheduled already gets
  /// the new time. The entry goes when a worker asks for work at that time or later, by the store's
  /// clock; `MessageStore.work(for:)` wakes up for it.
  ///
  /// - Returns: True if anything changed.
  /// - Throws: `outbox(.leased)`, `input(.implausibleTime)`.
  @discardableResult
  public func schedule(_ id: OutboxEntry.ID, at time: Timestamp) throws(StoreError) -> Bool {
    try transaction.perform(try transaction.composing.schedule(id, at: time))
  }

  /// Releases a held or scheduled entry at its place in the order, and the uploads of a message
  /// with it.
  ///
  /// - Returns: True if anything changed.
  @discardableResult
  public func release(_ id: OutboxEntry.ID) throws(StoreError) -> Bool {
    try transaction.perform(try transaction.outboxDecisions.release(id))
  }

  /// Releases all held entries, in one conversation or in all; scheduled ones keep their time.
  ///
  /// A few hundred are released at once and the others in the background, oldest first. Later
  /// entries go behind them. `setHoldsNewEntries(true)` keeps those that are not released by then.
  ///
  /// - Returns: The number of entries.
  @discardableResult
  public func releaseAll(in conversation: ConversationID? = nil) throws(StoreError) -> Int {
    try transaction.perform(try transaction.outboxDecisions.releaseAll(in: conversation))
  }

  /// Retries an entry that has failed or waits for its time, and the uploads of a message with it.
  ///
  /// The entry goes as soon as its turn comes. The limits on attempts and age start anew.
  ///
  /// - Returns: True if anything changed.
  @discardableResult
  public func retry(_ id: OutboxEntry.ID) throws(StoreError) -> Bool {
    try transaction.perform(try transaction.outboxDecisions.retry(id))
  }

  /// Retries all entries that wait for their time, for example when the connection is back.
  ///
  /// Many entries are retried in the background, as by `releaseAll(in:)`.
  ///
  /// - Parameters:
  ///   - conversation: Limits the retry to entries about this conversation; nil means all.
  ///   - includesFailed: True to retry refused entries too.
  /// - Returns: The number of entries.
  @discardableResult
  public func retryAll(
    in conversation: ConversationID? = nil, includesFailed: Bool = false
  ) throws(StoreError) -> Int {
    try transaction.perform(
      try transaction.outboxDecisions.retryAll(in: conversation, includesFailed: includesFailed))
  }

  /// Releases all held entries, retries all that wait or have failed, and ends holding.
  ///
  /// Many entries are handled in the background, as by `releaseAll(in:)`.
  ///
  /// - Returns: The number of entries.
  @discardableResult
  public func releaseAndRetryAll() throws(StoreError) -> Int {
    try transaction.perform(try transaction.outboxDecisions.releaseAndRetryAll())
  }

  /// Changes the text of a message or an edit that cannot have left the device.
  ///
  /// The entry keeps its place in the order, and stays held, or failed, if it is.
  ///
  /// - Returns: True if anything changed.
  /// - Throws: `outbox(.hasNoText)` for other entries, and for a message with edits;
  ///   `input(.text)`; `outbox(.leased)`; `outbox(.mayHaveLeft)`: the message can then be
  ///   edited as usual.
  @discardableResult
  public func setText(
    _ text: String, mentions: [MemberID] = [], of id: OutboxEntry.ID
  ) throws(StoreError) -> Bool {
    try transaction.perform(
      try transaction.outboxDecisions.setText(text, mentions: mentions, of: id))
  }

  /// Removes an entry and undoes its change locally.
  ///
  /// A message is retracted; an edit or a reaction is undone; a retracted message is shown again; a
  /// receipt counts as told. Changes to a conversation stay in place. If the entry may have reached
  /// the server, this promises nothing about other devices: a message that may have left is hidden,
  /// and its retraction is entered behind it.
  ///
  /// - Parameters:
  ///   - id: The entry.
  ///   - failure: The reason to show on the message whose edit or retraction is undone, such as the
  ///     server's refusal; nil shows none.
  /// - Throws: `outbox(.leased)`; `outbox(.needed)` for an upload or a new conversation:
  ///   retract the message or delete the conversation instead.
  public func remove(
    _ id: OutboxEntry.ID, because failure: SendFailure? = nil
  ) throws(StoreError) {
    try transaction.perform(
      try transaction.outboxDecisions.removeEntry(id, because: failure))
  }
}
