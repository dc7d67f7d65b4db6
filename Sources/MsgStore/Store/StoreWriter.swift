import PageFile

/// A write transaction, for the duration of one `write`: its changes become one commit, or none.
///
/// It reads like a snapshot, and sees its own changes. All functions throw `storage` and
/// `corruptRecord`; after one of these the transaction is rolled back, even if the closure
/// continues. Any other error means that the call changed nothing.
public struct StoreWriter: ~Copyable {
  package let transaction: Transaction
}

/// Reads, as in a snapshot.
extension StoreWriter {
  /// Returns the messages of a conversation; see `StoreSnapshot.thread(_:)`.
  ///
  /// The thread also shows later changes of this transaction.
  public func thread(_ id: ConversationID) throws(StoreError) -> MessageThread {
    transaction.isReadThrough = true
    return try transaction.read { (view) throws(StoreError) in try view.threads.thread(id) }
  }

  /// Returns the message of a name, or nil if it is not there.
  public func message(
    _ id: MessageID, in conversation: ConversationID
  ) throws(StoreError) -> Message? {
    try transaction.read { (view) throws(StoreError) in
      try view.threads.message(id, in: conversation)
    }
  }
}

extension StoreWriter {
  /// Stores a dictionary as if it had been trained; for tests, whose stores have too little text
  /// for one.
  package func addDictionary(_ bytes: [UInt8], number: UInt32) throws(StoreError) {
    try Bytes.with(bytes) { (bytes) throws(StoreError) in
      _ = try transaction.perform(
        try transaction.dictionaryTable.add(bytes, number: number, ifNewestIs: number - 1))
    }
  }

  /// Removes an older dictionary even if segments name it; for tests of the errors after such a
  /// loss.
  package func removeDictionary(_ number: UInt32) throws(StoreError) {
    try transaction.perform(try transaction.dictionaryTable.remove(dictionaries: [number]))
  }
}

extension StoreWriter {
  /// Returns all versions of a message's text except the current one; see
  /// `StoreSnapshot.history(of:in:)`.
  public func history(
    of id: MessageID, in conversation: ConversationID
  ) throws(StoreError) -> [MessageVersion] {
    try transaction.read { (view) throws(StoreError) in
      try view.threads.history(of: id, in: conversation)
    }
  }
}
