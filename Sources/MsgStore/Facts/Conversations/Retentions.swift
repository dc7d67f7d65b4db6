import PageFile

/// Sets the rules for the history that is kept, and begins to prune by them.
///
/// See docs/message-format.md, P-1 … P-3.
package struct Retentions: TransactionPart {
  package let transaction: Transaction

  /// The time after which the store prunes by itself again, in microseconds.
  private static let interval: Int64 = 24 * 3600 * 1_000_000

  /// Sets the rule of the store.
  func setRule(_ rule: Retention) throws(StoreError) {
    try rule.validate()
    try change(RetentionRecord.store) { $0.rule = rule == .everything ? nil : rule }
    try beginPruning()
  }

  /// Sets the rule of a conversation.
  func setRule(_ rule: Retention?, of id: ConversationID) throws(StoreError) {
    try rule?.validate()
    guard let conversation = try transaction.existingConversation(id) else {
      throw .conversation(.notFound, id)
    }
    try change(conversation.number) { $0.rule = rule }
    try transaction.workQueue.add(WorkRecord(.prune(PruneProgress()), of: conversation.number))
  }

  /// Changes the record of a conversation, or that of the store.
  package func change(
    _ number: UInt32, _ body: (inout RetentionRecord) -> Void
  ) throws(StoreError) {
    let old = try view.retention.record(number)
    var new = old
    body(&new)
    if new == old { return }
    transaction.hasAdded = true
    let key = KeyEncoding.key(number)
    if new.isEmpty {
      try transaction.remove(key, in: Schema.retention)
    } else {
      try transaction.put(new, at: key)
    }
  }

  /// Moves the record of a conversation to another number.
  ///
  /// - Parameter keepsFloor: False if all that was pruned is deleted.
  func move(_ number: UInt32, to other: UInt32, keepsFloor: Bool) throws(StoreError) {
    if view.retention.isUnused { return }
    var moved = try view.retention.record(number)
    if moved.isEmpty { return }
    try transaction.remove(KeyEncoding.key(number), in: Schema.retention)
    if !keepsFloor { moved.floor = nil }
    try change(other) { $0.merge(moved) }
  }

  /// Queues the pruning of all conversations if it is due.
  func beginIfDue() throws(StoreError) {
    if isDue { try beginPruning() }
  }

  /// Queues the pruning of all conversations.
  func beginPruning() throws(StoreError) {
    view.source[.prunedAt] = UInt64(bitPattern: transaction.clock().microseconds)
    try transaction.workQueue.add(
      WorkRecord(.prune(PruneProgress(goesOn: true)), of: RetentionRecord.store))
  }

  /// True if there may be something to prune, and the store has not looked for a day.
  var isDue: Bool {
    if view.retention.isUnused { return false }
    let next = Int64(bitPattern: view.source[.prunedAt]) &+ Self.interval
    let now = transaction.clock().microseconds
    // A clock that was set back must not put it off for years.
    return now >= next || now < next &- 2 &* Self.interval
  }
}

extension Transaction {
  package var retentions: Retentions { Retentions(transaction: self) }
}
