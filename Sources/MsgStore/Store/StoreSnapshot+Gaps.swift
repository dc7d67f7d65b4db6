extension StoreSnapshot {
  /// The sequence numbers of a conversation that are missing, lowest first.
  ///
  /// Known are the numbers of messages that are here, that were deleted here, and those declared
  /// absent; a gap is a run of others between two known ones. What lies before the first and behind
  /// the last known number is no gap, as nobody knows where a conversation begins or ends: who does
  /// declares numbers there absent. To read on, give the last number of the last gap.
  ///
  /// The cost grows with the number of gaps that are returned, not with that of messages.
  ///
  /// - Parameters:
  ///   - conversation: An unknown one has no gaps.
  ///   - count: How many at most, 1 or more.
  ///   - sequence: Only gaps that begin above this number.
  /// - Throws: `invalidCount`, `storage`, `corruptRecord`.
  public func gaps(
    in conversation: ConversationID, count: Int = 100, after sequence: Int64? = nil
  ) throws(StoreError) -> [ClosedRange<Int64>] {
    try knownSequences(in: conversation) { (known) throws(StoreError) in
      try known.gaps(count: count, after: sequence)
    }
  }

  /// The sequence numbers of a conversation that are known, as runs, lowest first.
  ///
  /// It is the complement of `gaps(in:count:after:)`, and read in the same way.
  ///
  /// - Throws: `invalidCount`, `storage`, `corruptRecord`.
  public func knownSequences(
    in conversation: ConversationID, count: Int = 100, after sequence: Int64? = nil
  ) throws(StoreError) -> [ClosedRange<Int64>] {
    try knownSequences(in: conversation) { (known) throws(StoreError) in
      try known.runs(count: count, after: sequence)
    }
  }

  private func knownSequences(
    in id: ConversationID,
    _ body: (KnownSequences) throws(StoreError) -> [ClosedRange<Int64>]
  ) throws(StoreError) -> [ClosedRange<Int64>] {
    try within { (view) throws(StoreError) in
      guard let number = try view.number(of: id) else {
        return []
      }
      return try body(try view.conversations.knownSequences(of: number))
    }
  }
}
