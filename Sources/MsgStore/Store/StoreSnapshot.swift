package import PageFile

/// A snapshot of the store, for the duration of one `read`.
///
/// It waits for no writer, and no writer waits for it. The values it returns outlive it; its
/// threads and its outbox throw `transactionEnded` after the closure.
public struct StoreSnapshot: ~Copyable {
  private let transaction: ReadTransaction
  package let view: StoreView
  let running: RunningTransfers

  init(
    _ transaction: consuming ReadTransaction, _ names: MemberNames,
    _ dictionaries: Dictionaries, localMember: UInt32?,
    running: RunningTransfers, previewsSkipDeleted: Bool
  ) {
    self.running = running
    view = StoreView(
      source: transaction.source, names: names, dictionaries: dictionaries,
      isCommitted: true, localMember: localMember,
      previewsSkipDeleted: previewsSkipDeleted)
    self.transaction = transaction
  }

  /// The LSN of the last commit that the snapshot sees.
  package var lsn: LSN { transaction.lsn }

  /// Refuses from now on to read a page for two values; for callers that read everything.
  ///
  /// See `PageSource.refuseSharedChains`.
  package func refuseSharedChains() { view.source.refuseSharedChains() }

  /// Returns the messages of a conversation.
  ///
  /// Costs one lookup. An unknown conversation reads as an empty one.
  ///
  /// - Throws: `storage`, `corruptRecord`.
  public func thread(_ id: ConversationID) throws(StoreError) -> MessageThread {
    try view.threads.thread(id)
  }

  /// Returns the message of a name, or nil if it is not there.
  ///
  /// Costs three lookups.
  ///
  /// - Throws: `storage`, `corruptRecord`.
  public func message(
    _ id: MessageID, in conversation: ConversationID
  ) throws(StoreError) -> Message? {
    try view.threads.message(id, in: conversation)
  }

  /// Runs an operation that reads the trees directly.
  package func within<R>(_ body: (StoreView) throws(StoreError) -> R) throws(StoreError) -> R {
    try view.within { () throws(StoreError) in try body(view) }
  }
}

extension StoreSnapshot {
  /// Returns all versions of a message's text except the current one, oldest first.
  ///
  /// Costs one lookup and a walk along the versions. The result is empty if the message is not
  /// there or was retracted.
  ///
  /// - Throws: `storage`, `corruptRecord`.
  public func history(
    of id: MessageID, in conversation: ConversationID
  ) throws(StoreError) -> [MessageVersion] {
    try view.threads.history(of: id, in: conversation)
  }
}

extension StoreSnapshot {
  /// The number of absent messages with waiting facts, and the number dropped.
  ///
  /// Above 10,000, the messages that have waited longest are dropped. Waiting facts are edits,
  /// reactions, receipts, places, and retractions.
  ///
  /// - Throws: `storage`, `corruptRecord`.
  public var waitingFacts: (waiting: Int, dropped: Int) {
    get throws(StoreError) {
      try within { (view) throws(StoreError) in
        (try view.count(.waitingCount), try view.count(.waitingDropped))
      }
    }
  }
}
