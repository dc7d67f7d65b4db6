package import PageFile

/// A snapshot of the store, for the duration of one `read`.
///
/// It waits for no writer, and no writer waits for it. The values it returns outlive it; its
/// threads and its outbox throw `transactionEnded` after the closure.
public struct StoreSnapshot: StoreReading, ~Copyable {
  private let transaction: ReadTransaction
  package let view: StoreView
  private let running: RunningTransfers

  init(
    _ transaction: consuming ReadTransaction, _ names: MemberNames,
    _ dictionaries: Dictionaries, localMember: UInt32?,
    running: RunningTransfers, previewsSkipRetracted: Bool, clock: () -> Timestamp
  ) throws(StoreError) {
    self.running = running
    let view = StoreView(
      source: transaction.source, names: names, dictionaries: dictionaries,
      isCommitted: true, localMember: localMember,
      previewsSkipRetracted: previewsSkipRetracted)
    self.view = view
    if !view.expiry.isUnused {
      view.hiding = try view.within { () throws(StoreError) in
        try view.expiry.hiding(at: clock().microseconds)
      }
    }
    self.transaction = transaction
  }

  /// The access to the stored data, for the functions of the protocol.
  public var access: StoreAccess { StoreAccess(view, running) }

  /// The LSN of the last commit that the snapshot sees.
  package var lsn: LSN { transaction.lsn }

  /// Refuses from now on to read a page for two values; for callers that read everything.
  ///
  /// See `PageSource.refuseSharedChains`.
  package func refuseSharedChains() { view.source.refuseSharedChains() }

  /// Runs an operation that reads the trees directly.
  package func within<R>(_ body: (StoreView) throws(StoreError) -> R) throws(StoreError) -> R {
    try view.within { () throws(StoreError) in try body(view) }
  }

  /// Returns the current id of a conversation, given any of its ids; an unknown id is its own.
  func currentID(of id: ConversationID) throws(StoreError) -> ConversationID {
    try within { (view) throws(StoreError) in try view.find(id)?.id ?? id }
  }

  /// Calls `body` with each conversation, in the order in which they came to this store.
  ///
  /// Deleted conversations that no newer message has brought back are included. A new store that
  /// takes the conversations in this order gives them the same numbers again.
  package func forEachConversation(_ body: (Conversation) throws -> Void) throws {
    try view.list.forEachConversation(body)
  }
}
