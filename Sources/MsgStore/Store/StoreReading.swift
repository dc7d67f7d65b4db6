import PageFile

/// The functions for reading that snapshots and writers have in common.
///
/// A writer sees its own changes. All functions throw `storage` and `corruptRecord`, and
/// `transactionEnded` after the closure of their `read` or `write`.
public protocol StoreReading: ~Copyable {
  /// The access to the stored data, for the functions of this protocol.
  var access: StoreAccess { get }
}

/// The access of one snapshot or writer to the stored data.
public struct StoreAccess {
  private let view: StoreView
  private let transaction: Transaction?
  private let running: RunningTransfers

  init(_ view: StoreView, _ running: RunningTransfers) {
    self.view = view
    self.running = running
    transaction = nil
  }

  init(_ transaction: Transaction) {
    view = transaction.view
    running = transaction.running
    self.transaction = transaction
  }

  /// Runs a read, including all changes of the transaction.
  ///
  /// The parts that are not generic are functions of their own, here and in `StoreCore`; otherwise
  /// each caller would have a copy.
  func read<R: ~Copyable>(
    _ body: (StoreView) throws(StoreError) -> R
  ) throws(StoreError) -> R {
    let shown = try begin()
    defer { view.leave() }
    do throws(StoreError) {
      return try body(shown)
    } catch {
      transaction?.fail(error)
      throw error
    }
  }

  @inline(never)
  private func begin() throws(StoreError) -> StoreView {
    if let transaction { return try transaction.beginRead() }
    try view.enter()
    return view
  }

  /// The turns in which searches go on; nil if they need not wait for others.
  var searchTurns: Turns? { view.searchTurns }

  /// Notes that a value is handed out that also shows later changes of the transaction.
  func readThrough() { transaction?.isReadThrough = true }

  /// Returns the progress of a running transfer, or nil if it is not running.
  @inline(never)
  func doneByteCount(_ key: RunningTransfers.Key) -> Int64? {
    guard let transaction else { return running.doneByteCount(key) }
    return transaction.messageFacts.doneByteCount(key)
  }
}

extension StoreReading where Self: ~Copyable {
  /// Returns the messages of a conversation.
  ///
  /// Costs one lookup. An unknown conversation reads as an empty one.
  ///
  /// - Throws: `storage`, `corruptRecord`.
  public func thread(_ id: ConversationID) throws(StoreError) -> MessageThread {
    access.readThrough()
    return try access.read { (view) throws(StoreError) in try view.threads.thread(id) }
  }

  /// Returns the message of a name, or nil if it is not there.
  ///
  /// Costs three lookups.
  ///
  /// - Throws: `storage`, `corruptRecord`.
  public func message(
    _ id: MessageID, in conversation: ConversationID
  ) throws(StoreError) -> Message? {
    try access.read { (view) throws(StoreError) in try view.threads.message(id, in: conversation) }
  }

  /// Returns the message of a name in whichever conversation has it, or nil if none has.
  ///
  /// For a link or a notification that names no conversation. Costs a lookup for each conversation,
  /// newest activity first, so messages of active conversations are found soon; a name that is not
  /// there costs one for each. If several conversations have it, the newest one counts.
  ///
  /// - Throws: `storage`, `corruptRecord`.
  public func message(_ id: MessageID) throws(StoreError) -> Message? {
    try access.read { (view) throws(StoreError) in try view.threads.message(id) }
  }

  /// Returns the message with a sequence number, or nil if it is not there.
  ///
  /// Costs some fifty lookups where numbers ascend with the server's times. Otherwise, and for a
  /// number whose message was deleted or declared absent, walks the thread. If several messages
  /// have the number, any of them counts.
  ///
  /// - Throws: `storage`, `corruptRecord`.
  public func message(
    sequence: Int64, in conversation: ConversationID
  ) throws(StoreError) -> Message? {
    try access.read { (view) throws(StoreError) in
      try view.threads.message(sequence: sequence, in: conversation)
    }
  }

  /// Returns all versions of a message's text except the current one, oldest first.
  ///
  /// Costs one lookup and a walk along the versions. The result is empty if the message is not
  /// there or was retracted.
  ///
  /// - Throws: `storage`, `corruptRecord`.
  public func history(
    of id: MessageID, in conversation: ConversationID
  ) throws(StoreError) -> [MessageVersion] {
    try access.read { (view) throws(StoreError) in
      try view.threads.history(of: id, in: conversation)
    }
  }

  /// Returns all reactions to a message, sorted by member and emoji.
  ///
  /// Costs one lookup, and a walk along the reactions and the removed ones. The result is empty if
  /// the message is not there or was retracted. ``Message/reactionCounts`` has their numbers.
  ///
  /// - Throws: `storage`, `corruptRecord`.
  public func reactions(
    to id: MessageID, in conversation: ConversationID
  ) throws(StoreError) -> [Reaction] {
    try access.read { (view) throws(StoreError) in
      try view.threads.reactions(to: id, in: conversation)
    }
  }

  /// The number of absent messages with waiting facts, and the number dropped.
  ///
  /// Waiting facts are edits, reactions, receipts, places, and retractions.
  public var waitingFacts: WaitingFactCounts {
    get throws(StoreError) {
      try access.read { (view) throws(StoreError) in
        WaitingFactCounts(
          waiting: view.source.count(.waitingCount),
          dropped: view.source.count(.waitingDropped))
      }
    }
  }
}

/// The number of absent messages about which the store knows facts.
public struct WaitingFactCounts: Sendable, Equatable {
  /// The number of absent messages with waiting facts, at most 10,000.
  public let waiting: Int
  /// The number of absent messages whose facts were dropped: those that had waited longest.
  public let dropped: Int
}
