import PageFile

/// One operation after the other, as the public types ask for them.
extension Transaction {
  /// Performs one operation.
  package func perform<R>(
    _ operation: @autoclosure () throws(StoreError) -> R
  ) throws(StoreError) -> R {
    try change { () throws(StoreError) in
      try summaries.makeRoom()
      let result = try operation()
      try outboxFollowing.settle()
      if isReadThrough { try settle() }
      return result
    }
  }

  /// Reads the store with all changes of this transaction.
  func read<R: ~Copyable>(
    _ body: (StoreView) throws(StoreError) -> R
  ) throws(StoreError) -> R {
    try change { () throws(StoreError) in
      try settle()
      return try body(view)
    }
  }

  /// Writes to the trees what is still in memory.
  func settle() throws(StoreError) {
    try summaries.flush()
    try outboxEntries.writeTotals()
  }

  /// Makes the transaction ready to be committed.
  func finish() throws(StoreError) {
    try change { () throws(StoreError) in
      try packer.packGrown()
      try settle()
    }
    view.source.usesReserve = !hasAdded
  }
}
