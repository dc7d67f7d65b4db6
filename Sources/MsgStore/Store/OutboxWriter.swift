extension StoreWriter {
  /// What waits to go out, to be handed out, taken back, and decided about.
  public var outbox: OutboxWriter { OutboxWriter(transaction: transaction) }
}

/// The outbox within one write transaction.
///
/// What the local member does enters it by itself, in the commit of the `write` it is done in. Someone
/// who talks to the server takes work out by `next`, does it, and says how it went. Whatever dies in
/// between, the work is there again once its lease has expired, under the same token, by which a
/// server knows what it has had.
///
/// Within a conversation everything goes in the order in which it was entered, one after the other;
/// conversations do not wait for each other. What waits for another attempt holds its conversation
/// back. What is held, or has failed for good, steps aside, and what needs it with it: a message needs
/// its uploads, and all that is told of a message or a conversation needs that the server has it.
///
/// It belongs to the closure it was taken in, and throws `transactionEnded` after it. All functions
/// throw `storage` and `corruptRecord`.
public struct OutboxWriter: ~Copyable {
  let transaction: Transaction

  /// Hands out what is due, oldest first: nobody else gets it before the lease expires.
  ///
  /// A retry whose time has come, and work whose lease has expired, go at the place that they were
  /// entered at, before what came later.
  ///
  /// The transaction is committed at `full` then, whatever level it was begun with, so that nothing
  /// leaves the device that a power cut could take back. The work may begin when `write` has returned.
  ///
  /// Its cost does not depend on how much waits.
  ///
  /// - Parameters:
  ///   - owner: Who does it, 1 to 255 bytes, for people and for `giveBackAll`.
  ///   - lease: How long it is theirs without a word from them: a millisecond to a day.
  /// - Returns: nil when nothing is due; `OutboxReader.nextTime` says when something will be. Also nil
  ///   where something has to go before, as while much is released or removed, after a part of that.
  /// - Throws: `invalidIdentifier` for the owner.
  public func next(
    for owner: String, lease: Duration = .seconds(60)
  ) throws(StoreError) -> OutboxItem? {
    try transaction.perform(try transaction.outboxLeases.nextWork(for: owner, lease: lease))
  }

  /// Keeps work for longer.
  ///
  /// - Returns: The item with its new expiry; nil when it is not the holder's any more.
  public func renew(
    _ item: OutboxItem, lease: Duration = .seconds(60)
  ) throws(StoreError) -> OutboxItem? {
    try transaction.perform(try transaction.outboxAnswers.renew(item, lease: lease))
  }

  /// The server has it.
  ///
  /// Of an edit, a message taken back, a receipt and an upload this confirms them. Of a message it
  /// says that the server has it; `acknowledge`, in the same `write`, says also where it stands, and
  /// is enough by itself. What a server says of an upload or a new conversation is told by `receive`
  /// or `renameConversation` in the same `write`.
  ///
  /// It is believed also after the lease has expired.
  ///
  /// - Parameter serverTime: The time under which other devices hear of it. What was done here has a
  ///   provisional time until then, just later than the server's newest that was known. With it all
  ///   devices merge alike what comes later: edits, messages taken back, reactions, titles, pictures,
  ///   members who come and go. Of a deleted conversation it says up to when its messages went.
  /// - Returns: false when that was known already, or is of no interest any more.
  @discardableResult
  public func done(
    _ item: OutboxItem, serverTime: Timestamp? = nil
  ) throws(StoreError) -> Bool {
    try transaction.perform(try transaction.outboxAnswers.finish(item, serverTime: serverTime))
  }

  /// The attempt has failed.
  ///
  /// Without a connection or an answer in time, and for `other` reasons, it is made again: after a
  /// second, and twice as long each time up to five minutes, half of it by chance. What the server
  /// refuses (`permission`, `notFound`, `invalid`) fails at once and stays until somebody retries or
  /// removes it; what it was to tell stays as it is here.
  ///
  /// - Parameters:
  ///   - failure: Why, for people too.
  ///   - retryAt: When the server wants to be asked again, by the store's clock and within a day.
  /// - Returns: false when it is not the holder's any more.
  @discardableResult
  public func failed(
    _ item: OutboxItem, because failure: Failure, retryAt: Timestamp? = nil
  ) throws(StoreError) -> Bool {
    try transaction.perform(
      try transaction.outboxAnswers.fail(item, because: failure, retryAt: retryAt))
  }

  /// Gives work back that was not begun.
  ///
  /// - Returns: false when it is not the holder's any more.
  @discardableResult
  public func giveBack(_ item: OutboxItem) throws(StoreError) -> Bool {
    try transaction.perform(try transaction.outboxAnswers.giveBack(item))
  }

  /// Gives back all that an owner had, which may have been begun: for one that starts anew and does
  /// not want to wait until its leases expire.
  ///
  /// Reads all entries when any is running.
  ///
  /// - Returns: How much that was.
  @discardableResult
  public func giveBackAll(of owner: String) throws(StoreError) -> Int {
    try transaction.perform(try transaction.outboxAnswers.giveBackAll(of: owner))
  }

  /// Enters something of the client's own, in the order of a conversation or by itself.
  ///
  /// - Parameters:
  ///   - name: What it is, 1 to 255 bytes.
  ///   - payload: At most 1 MiB.
  ///   - conversation: What it is about; nil: work that is about none goes in its own order.
  /// - Throws: `invalidIdentifier`, `outboxPayloadTooLong`, `conversationNotFound`.
  @discardableResult
  public func enter(
    _ name: String, payload: [UInt8] = [], in conversation: ConversationID? = nil
  ) throws(StoreError) -> OutboxEntry.ID {
    try transaction.perform(
      try transaction.outboxEntering.enterClientWork(name, payload, in: conversation))
  }
}

/// What people decide.
///
/// All that take an entry throw `outboxEntryNotFound`.
extension OutboxWriter {
  /// Has all that is entered from now on be held until it is released, but for receipts: for somebody
  /// who wants to look through what was written offline.
  ///
  /// What is in the outbox already stays as it is.
  ///
  /// - Returns: Whether anything changed.
  @discardableResult
  public func setHolding(_ isHolding: Bool) throws(StoreError) -> Bool {
    try transaction.perform(try transaction.outboxDecisions.setHolding(isHolding))
  }

  /// Keeps an entry from being handed out until it is released, and with a message its uploads.
  ///
  /// - Returns: Whether anything changed.
  /// - Throws: `outboxEntryIsRunning`.
  @discardableResult
  public func hold(_ id: OutboxEntry.ID) throws(StoreError) -> Bool {
    try transaction.perform(try transaction.outboxDecisions.hold(id))
  }

  /// Lets an entry go that was held, at its place in the order, and with a message its uploads.
  ///
  /// - Returns: Whether anything changed.
  @discardableResult
  public func release(_ id: OutboxEntry.ID) throws(StoreError) -> Bool {
    try transaction.perform(try transaction.outboxDecisions.release(id))
  }

  /// Lets everything go that is held, in a conversation or everywhere.
  ///
  /// Some hundred go at once, more of them in the background, oldest first; what is entered later goes
  /// behind. `setHolding(true)` keeps what has not gone by then.
  ///
  /// - Returns: How many entries that were.
  @discardableResult
  public func releaseAll(in conversation: ConversationID? = nil) throws(StoreError) -> Int {
    try transaction.perform(try transaction.outboxDecisions.releaseAll(in: conversation))
  }

  /// Has an entry that failed, or waits for its time, go as soon as its turn comes, and with a
  /// message its uploads.
  ///
  /// The limits by attempts and by age begin anew.
  ///
  /// - Returns: Whether anything changed.
  @discardableResult
  public func retry(_ id: OutboxEntry.ID) throws(StoreError) -> Bool {
    try transaction.perform(try transaction.outboxDecisions.retry(id))
  }

  /// Has everything go that waits for its time, as when the connection is there again; much of it in
  /// the background, as `releaseAll(in:)` does.
  ///
  /// - Parameter includesFailed: Whether what was refused is tried again too.
  /// - Returns: How many entries that were.
  @discardableResult
  public func retryAll(
    in conversation: ConversationID? = nil, includesFailed: Bool = false
  ) throws(StoreError) -> Int {
    try transaction.perform(
      try transaction.outboxDecisions.retryAll(in: conversation, includesFailed: includesFailed))
  }

  /// Has everything go: what is held is released, what waits or has failed is tried again, and
  /// nothing is held any more; much of it in the background, as `releaseAll(in:)` does.
  ///
  /// - Returns: How many entries that were.
  @discardableResult
  public func sendAll() throws(StoreError) -> Int {
    try transaction.perform(try transaction.outboxDecisions.sendAll())
  }

  /// Changes the text of a message or an edit that cannot have left.
  ///
  /// It keeps its place in the order, and stays held, or failed, if it is.
  ///
  /// - Returns: Whether anything changed.
  /// - Throws: `outboxEntryHasNoText` of anything else, and of a message with edits; `invalidText`;
  ///   `outboxEntryIsRunning`; `outboxEntryMayHaveLeft`: then it can be edited as any message.
  @discardableResult
  public func setText(
    _ text: String, mentions: [MemberID] = [], of id: OutboxEntry.ID
  ) throws(StoreError) -> Bool {
    try transaction.perform(
      try transaction.outboxDecisions.setText(text, mentions: mentions, of: id))
  }

  /// Removes an entry, and undoes here what it was to tell.
  ///
  /// A message is taken back, an edit and a reaction are as if they had not been, a message that was
  /// taken back is shown again, and a receipt counts as told. What was done to a conversation stays as
  /// it is here. Of what may have reached the server that is no promise about others: a message that
  /// may have left is hidden, and goes out to be taken back behind itself.
  ///
  /// - Throws: `outboxEntryIsRunning`; `outboxEntryIsNeeded` of an upload and a new conversation:
  ///   take the message back or delete the conversation.
  public func remove(_ id: OutboxEntry.ID) throws(StoreError) {
    try transaction.perform(try transaction.outboxDecisions.removeEntry(id))
  }
}

extension OutboxWriter {
  /// The same as reading it in a snapshot, with what this transaction has changed.
  public var entries: OutboxReader {
    OutboxReader(view: transaction.view, transaction: transaction)
  }
}
