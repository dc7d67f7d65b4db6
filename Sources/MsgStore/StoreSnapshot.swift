import PageFile

/// The store as it was at one moment, for the length of one `read`.
///
/// It waits for nobody and nobody waits for it. What it returns are values that outlive it; its
/// threads and its outbox throw `transactionEnded` after the closure.
public struct StoreSnapshot: ~Copyable {
  private let transaction: ReadTransaction
  let view: StoreView
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
  var lsn: LSN { transaction.lsn }

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
  func within<R>(_ body: (StoreView) throws(StoreError) -> R) throws(StoreError) -> R {
    try view.within { () throws(StoreError) in try body(view) }
  }
}

extension ThreadReader {
  func thread(_ id: ConversationID) throws(StoreError) -> Thread {
    let found = try view.within { () throws(StoreError) in try view.find(id) }
    return Thread(view, found?.id ?? id, found?.number)
  }

  func message(
    _ id: MessageID, in conversation: ConversationID
  ) throws(StoreError) -> Message? {
    try view.within { () throws(StoreError) in
      guard let (number, conversation) = try view.find(conversation),
        let position = try view.ids.position(of: id, in: number)
      else { return nil }
      var builder = SliceBuilder(view, conversation, number, count: 1)
      guard try builder.append(at: position) else {
        throw view.corrupt(Schema.ids, "message \"\(id)\" is not at its place")
      }
      return builder.finishOne()
    }
  }
}
