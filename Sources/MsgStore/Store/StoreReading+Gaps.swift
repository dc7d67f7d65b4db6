extension StoreReading where Self: ~Copyable {
  /// Returns the missing sequence numbers of a conversation, lowest first.
  ///
  /// A number is known if its message is here or was deleted here, or if it was declared absent. A
  /// gap is a run of unknown numbers between two known ones. Numbers before the first or after the
  /// last known one are not gaps, because the store does not know where a conversation begins or
  /// ends; callers that know declare those numbers absent. To continue, pass the last number of the
  /// last gap.
  ///
  /// The cost grows with the number of gaps returned, not with the number of messages.
  ///
  /// - Parameters:
  ///   - conversation: The conversation. An unknown one has no gaps.
  ///   - count: The maximum number of gaps, 1 or more.
  ///   - sequence: Limits the result to gaps that begin above this number.
  /// - Throws: `input(.count)`, `storage`, `corruptRecord`.
  public func gaps(
    in conversation: ConversationID, count: Int = 100, after sequence: Int64? = nil
  ) throws(StoreError) -> [ClosedRange<Int64>] {
    try knownSequences(in: conversation) { (known) throws(StoreError) in
      try known.gaps(count: count, after: sequence)
    }
  }

  /// Returns the known sequence numbers of a conversation, as runs, lowest first.
  ///
  /// This is the complement of `gaps(in:count:after:)`, with the same parameters.
  ///
  /// - Throws: `input(.count)`, `storage`, `corruptRecord`.
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
    try access.read { (view) throws(StoreError) in
      guard let number = try view.number(of: id) else {
        return []
      }
      return try body(try view.conversations.knownSequences(of: number))
    }
  }
}
