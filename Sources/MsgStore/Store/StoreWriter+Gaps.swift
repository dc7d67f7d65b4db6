extension StoreWriter {
  /// Notes that no message will come under these sequence numbers, as the server says: because there
  /// is none, or because all that there are have come.
  ///
  /// So a source whose numbers are not dense, as positions in a stream, says with each batch which
  /// stretch the batch covers, and only what no batch covers is a gap. A message may come under such
  /// a number all the same. The conversation is made if it is not there, without participants.
  ///
  /// - Returns: false when all of them were known before; then nothing is written.
  /// - Throws: `invalidIdentifier`.
  @discardableResult
  public func declareAbsent(
    _ sequences: ClosedRange<Int64>, in conversation: ConversationID
  ) throws(StoreError) -> Bool {
    try transaction.perform(try transaction.sequences.declareAbsent(sequences, in: conversation))
  }

  /// The sequence numbers of a conversation that are missing, see
  /// `StoreSnapshot.gaps(in:count:after:)`.
  public func gaps(
    in conversation: ConversationID, count: Int = 100, after sequence: Int64? = nil
  ) throws(StoreError) -> [ClosedRange<Int64>] {
    try transaction.change { () throws(StoreError) in
      guard let number = try transaction.existingConversation(conversation)?.number else {
        return []
      }
      return try transaction.sequences.knownSequences(of: number).gaps(
        count: count, after: sequence)
    }
  }
}
