/// One write transaction, for the length of one `write`: everything done with it is one commit, or
/// nothing of it is.
///
/// It reads as a snapshot does, and sees its own changes. All functions throw `storage` and
/// `corruptRecord`; after one of these the transaction is rolled back, also when the closure goes on.
/// Everything else that is thrown changes nothing.
public struct StoreWriter: ~Copyable {
  let transaction: Transaction

  init(_ transaction: Transaction) { self.transaction = transaction }
}

/// Reading, as in a snapshot.
extension StoreWriter {
  /// The messages of a conversation, see `StoreSnapshot.thread(_:)`.
  ///
  /// It shows later changes of this transaction too.
  public func thread(_ id: ConversationID) throws(StoreError) -> Thread {
    transaction.isReadThrough = true
    return try transaction.read { (view) throws(StoreError) in try view.threads.thread(id) }
  }

  /// One message by its name, or nil when it is not there.
  public func message(
    _ id: MessageID, in conversation: ConversationID
  ) throws(StoreError) -> Message? {
    try transaction.read { (view) throws(StoreError) in
      try view.threads.message(id, in: conversation)
    }
  }
}
