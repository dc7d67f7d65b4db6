package import PageFile

/// The store as it was at one moment, for the length of one `read`.
///
/// It waits for nobody and nobody waits for it. What it returns are values that outlive it; its
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

  /// The last commit that it sees.
  package var lsn: LSN { transaction.lsn }

  /// From now on no page is read for two values, see `PageSource.refuseSharedChains`: for whoever reads
  /// everything.
  package func refuseSharedChains() { view.source.refuseSharedChains() }

  /// The messages of a conversation.
  ///
  /// One lookup; an unknown conversation reads as an empty one.
  ///
  /// - Throws: `storage`, `corruptRecord`.
  public func thread(_ id: ConversationID) throws(StoreError) -> Thread {
    try view.threads.thread(id)
  }

  /// One message by its name, or nil when it is not there.
  ///
  /// Three lookups.
  ///
  /// - Throws: `storage`, `corruptRecord`.
  public func message(
    _ id: MessageID, in conversation: ConversationID
  ) throws(StoreError) -> Message? {
    try view.threads.message(id, in: conversation)
  }

  /// Runs an operation on the trees themselves.
  package func within<R>(_ body: (StoreView) throws(StoreError) -> R) throws(StoreError) -> R {
    try view.within { () throws(StoreError) in try body(view) }
  }
}

extension StoreSnapshot {
  /// All versions of a message's text but the one it has, oldest first.
  ///
  /// One lookup and a walk along the versions; none of a message that is not there or was taken
  /// back.
  ///
  /// - Throws: `storage`, `corruptRecord`.
  public func history(
    of id: MessageID, in conversation: ConversationID
  ) throws(StoreError) -> [MessageVersion] {
    try view.threads.history(of: id, in: conversation)
  }
}

extension StoreSnapshot {
  /// For how many messages that are not here something waits, and how many were given up because
  /// there were more than 10,000: those that had waited longest.
  ///
  /// What waits are edits, reactions, receipts, places, and that a message was taken back.
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
