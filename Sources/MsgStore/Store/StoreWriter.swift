import PageFile

/// One write transaction, for the length of one `write`: everything done with it is one commit, or
/// nothing of it is.
///
/// It reads as a snapshot does, and sees its own changes. All functions throw `storage` and
/// `corruptRecord`; after one of these the transaction is rolled back, also when the closure goes on.
/// Everything else that is thrown changes nothing.
public struct StoreWriter: ~Copyable {
  package let transaction: Transaction

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

extension StoreWriter {
  /// Stores a dictionary as if it had been made; for tests, whose stores have too little text for one.
  package func addDictionary(_ bytes: [UInt8], number: UInt32) throws(StoreError) {
    try Bytes.with(bytes) { (bytes) throws(StoreError) in
      _ = try transaction.perform(
        try transaction.dictionaryTable.add(bytes, number: number, ifNewestIs: number - 1))
    }
  }

  /// Removes an older dictionary, whatever names it; for tests of what is said about the loss.
  package func removeDictionary(_ number: UInt32) throws(StoreError) {
    try transaction.perform(try transaction.dictionaryTable.remove(dictionaries: [number]))
  }
}

extension StoreWriter {
  /// All versions of a message's text but the one it has, see `StoreSnapshot.history(of:in:)`.
  public func history(
    of id: MessageID, in conversation: ConversationID
  ) throws(StoreError) -> [MessageVersion] {
    try transaction.read { (view) throws(StoreError) in
      try view.threads.history(of: id, in: conversation)
    }
  }
}
