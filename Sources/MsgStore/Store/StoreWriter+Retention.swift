extension StoreWriter {
  /// Sets the rule for conversations without one of their own, and prunes by it in steps.
  ///
  /// - Throws: `input(.outOfRange)`.
  public func setRetention(_ rule: Retention) throws(StoreError) {
    try transaction.perform(try transaction.retentions.setRule(rule))
  }

  /// Sets the rule of a conversation, and prunes by it in steps.
  ///
  /// A conversation keeps its rule when its history is deleted. If two conversations are merged,
  /// the rule of the one that takes the messages counts.
  ///
  /// - Parameters:
  ///   - rule: The rule; nil for that of the store, ``Retention/everything`` to keep all whatever
  ///     the store's rule is.
  ///   - id: The conversation, by any of its ids.
  /// - Throws: `conversation(.notFound)`, `input(.outOfRange)`.
  public func setRetention(_ rule: Retention?, of id: ConversationID) throws(StoreError) {
    try transaction.perform(try transaction.retentions.setRule(rule, of: id))
  }

  /// Prunes all conversations by their rules, in steps that begin after this commit.
  ///
  /// The store does so itself once a day. Costs a record here, and a few lookups for each
  /// conversation later, besides the removals.
  ///
  /// - Throws: `storage`, `corruptRecord`.
  public func prune() throws(StoreError) {
    try transaction.perform(try transaction.retentions.beginPruning())
  }
}
