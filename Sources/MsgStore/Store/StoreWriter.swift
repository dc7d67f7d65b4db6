import PageFile

/// A write transaction, for the duration of one `write`: its changes become one commit, or none.
///
/// It reads like a snapshot, and sees its own changes. All functions throw `storage` and
/// `corruptRecord`; after one of these the transaction is rolled back, even if the closure
/// continues. Any other error means that the call changed nothing.
public struct StoreWriter: StoreReading, ~Copyable {
  package let transaction: Transaction

  /// The access to the stored data, for the functions of the protocol.
  public var access: StoreAccess { StoreAccess(transaction) }
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
