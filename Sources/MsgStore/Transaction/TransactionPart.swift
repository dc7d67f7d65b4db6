/// A group of operations on one write transaction.
///
/// Parts hold nothing but the transaction, so making one costs nothing.
package protocol TransactionPart {
  var transaction: Transaction { get }
}

extension TransactionPart {
  /// The trees, as the transaction sees them.
  package var view: StoreView { transaction.view }
  /// The view for reading the tree of messages, once the messages that wait are in it.
  package func flushed() throws(StoreError) -> StoreView { try transaction.flushed() }
  /// The caches handed from one transaction to the next.
  var memory: WriterMemory { transaction.memory }
  /// The limits and options of the store.
  var rules: StoreRules { transaction.rules }
  /// The number of the local member; nil in a store without one.
  var localMember: UInt32? { transaction.localMember }
}
