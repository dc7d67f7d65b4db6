extension StoreWriter {
  /// Declares sequence numbers under which, according to the server, no further message will come.
  ///
  /// Either there are no such messages, or all of them have come. A source whose numbers are not
  /// dense, such as positions in a stream, thus declares the range that each batch covers, and only
  /// numbers outside all batches are gaps. A message may come under such a number all the same. If
  /// the conversation is not there, it is made without participants.
  ///
  /// - Returns: False if all of the numbers were known before; nothing is written then.
  /// - Throws: `input(.identifier)`.
  @discardableResult
  public func declareAbsent(
    _ sequences: ClosedRange<Int64>, in conversation: ConversationID
  ) throws(StoreError) -> Bool {
    try transaction.perform(try transaction.sequences.declareAbsent(sequences, in: conversation))
  }
}
