extension StoreWriter {
  /// Merges what the server says of the client's own fields, or of the kind.
  ///
  ///     try chat.receive(
  ///       [.kind("call"), OwnField("duration", Array("93".utf8), at: time)],
  ///       of: .message("m-7", in: room))
  ///
  /// May come in any order, any number of times, and before the message; see ``OwnField`` for the
  /// value that counts. A message that was retracted or deleted keeps none. Fields that are not
  /// mentioned stay as they are. Costs what an edit of the message costs.
  ///
  /// - Returns: True if anything changed.
  /// - Throws: `input(.ownFieldName)`, `input(.ownKind)`, `input(.tooMany)` for more than
  ///   ``OwnField/maximumCount`` names, `input(.tooLong)` for more than
  ///   ``OwnField/maximumByteCount`` bytes in all, `input(.identifier)`.
  @discardableResult
  public func receive(_ fields: [OwnField], of owner: FieldOwner) throws(StoreError) -> Bool {
    switch owner {
    case .message(let id, let conversation):
      try transaction.perform(
        try transaction.ownFieldUpdates.receive(fields, of: id, in: conversation))
    }
  }
}
