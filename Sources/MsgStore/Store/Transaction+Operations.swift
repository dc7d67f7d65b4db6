import PageFile

/// Execution of the operations that the public types request, one after the other.
extension Transaction {
  /// Performs one operation and the outbox's answers to its effects.
  package func perform<R>(
    _ operation: @autoclosure () throws(StoreError) -> R
  ) throws(StoreError) -> R {
    try change { () throws(StoreError) in
      try summaries.makeRoom()
      let result = try operation()
      try answer()
      return result
    }
  }

  /// Answers the effects of an operation.
  @inline(never)
  private func answer() throws(StoreError) {
    try outboxFollowing.settle()
    try leaveArchive()
    if isReadThrough { try settle() }
  }

  /// Begins a read that includes all changes of this transaction.
  ///
  /// - Returns: The view to read by. The caller ends the read with `leave`, and passes an error to
  ///   `fail`.
  func beginRead() throws(StoreError) -> StoreView {
    if let failure { throw failure }
    try view.enter()
    do throws(StoreError) {
      try settle()
      return try shown()
    } catch {
      view.leave()
      fail(error)
      throw error
    }
  }

  /// Writes the changes that are still in memory to the trees.
  func settle() throws(StoreError) { try summaries.flush() }

  /// Brings archived conversations with a new message back to the list.
  private func leaveArchive() throws(StoreError) {
    if leavingArchive.isEmpty { return }
    let numbers = Array(Set(leavingArchive)).sorted()
    leavingArchive = []
    for number in numbers where try isStored(number) {
      _ = try conversationActs.set(
        .archived, \.archivedAt, to: false, of: try conversation(number))
    }
  }

  /// Prepares the transaction for its commit.
  ///
  /// Answers effects here too: a refusal that the client caught may have left some behind.
  func finish() throws(StoreError) {
    try change { () throws(StoreError) in
      try outboxFollowing.settle()
      try leaveArchive()
      try packer.packGrown()
      try settle()
      try expiring.noteHeardTime()
    }
    view.source.usesReserve = !hasAdded
  }
}
