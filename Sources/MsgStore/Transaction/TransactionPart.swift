/// A group of operations on one write transaction.
///
/// A part holds nothing but the transaction, so making one costs nothing.
package protocol TransactionPart {
  var transaction: Transaction { get }
}

extension TransactionPart {
  /// The trees, as the transaction sees them.
  package var view: StoreView { transaction.view }
  /// Returns the view for reading the tree of messages, after writing the unwritten messages to it.
  package func flushed() throws(StoreError) -> StoreView { try transaction.flushed() }
  /// The caches handed from one transaction to the next.
  var memory: WriterMemory { transaction.memory }
  /// The limits and options of the store.
  var rules: StoreRules { transaction.rules }
  /// The number of the local member; nil in a store without one.
  var localMember: UInt32? { transaction.localMember }
}
