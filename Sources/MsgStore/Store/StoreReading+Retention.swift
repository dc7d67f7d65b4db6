extension StoreReading where Self: ~Copyable {
  /// The rule for conversations without one of their own.
  ///
  /// - Throws: `storage`, `corruptRecord`.
  public var retention: Retention {
    get throws(StoreError) {
      try access.read { (view) throws(StoreError) in
        try view.retention.record(RetentionRecord.store).rule ?? .everything
      }
    }
  }

  /// Returns the rule of a conversation, or nil if that of the store applies or there is no such
  /// conversation.
  ///
  /// Costs two lookups.
  ///
  /// - Throws: `storage`, `corruptRecord`.
  public func retention(of id: ConversationID) throws(StoreError) -> Retention? {
    try access.read { (view) throws(StoreError) in
      guard let number = try view.find(id)?.number else { return nil }
      return try view.retention.record(number).rule
    }
  }
}
