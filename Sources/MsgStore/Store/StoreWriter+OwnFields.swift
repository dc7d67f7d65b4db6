extension StoreWriter {
  /// Merges what the server says of the client's own fields, or of the kind.
  ///
  ///     try chat.receive(
  ///       [.kind("call"), OwnField("duration", Array("93".utf8), at: time)],
  ///       of: .message("m-7", in: room))
  ///
  /// May come in any order, any number of times, and before the message; see ``OwnField`` for the
  /// value that counts. A message that was retracted or deleted keeps none, and a conversation that
  /// is deleted all. Fields that are not mentioned stay as they are. Costs what an edit of the
  /// message costs.
  ///
  /// - Parameters:
  ///   - fields: What the server says of the fields, with its times.
  ///   - owner: The message, the conversation, or the member.
  /// - Returns: True if anything changed.
  /// - Throws: `input(.ownFieldName)`, `input(.ownKind)`, `input(.tooMany)` for more than
  ///   ``OwnField/maximumCount`` names, `input(.tooLong)` for more than
  ///   ``OwnField/maximumByteCount`` bytes in all, `input(.identifier)`,
  ///   `input(.implausibleTime)`.
  @discardableResult
  public func receive(_ fields: [OwnField], of owner: FieldOwner) throws(StoreError) -> Bool {
    switch owner {
    case .message(let id, let conversation):
      try transaction.perform(
        try transaction.messageUpdates.receive(fields, of: id, in: conversation))
    case .conversation(let id):
      try transaction.perform(try transaction.conversations.receiveFields(fields, of: id))
    case .member(let id):
      try transaction.perform(try transaction.profiles.receive(fields, of: id))
    }
  }

  /// Sets one of the client's own fields for the local member, or removes it.
  ///
  ///     try chat.setOwnField("rating", [5], of: .message("m-7", in: room))
  ///
  /// Shown at once. Unless it is local, the value waits in the outbox as
  /// ``OutboxTask/setOwnField(_:of:)``, the newest one alone; with a message that cannot have left,
  /// it goes along instead. Its time is the store's until the server's is known. A value that the
  /// server refuses stays as it is, as a title does.
  ///
  /// - Parameters:
  ///   - name: The name: 1 to ``OwnField/maximumNameByteCount`` bytes of UTF-8.
  ///   - value: The value; nil removes the field.
  ///   - owner: The message, the conversation, or the member.
  ///   - isLocal: True if the server is not to be told of it.
  /// - Returns: True if anything changed.
  /// - Throws: `input(.ownFieldName)`, `input(.tooMany)`, `input(.tooLong)` if all fields of the
  ///   owner would have more than ``OwnField/maximumByteCount`` bytes, `message(.notFound)`,
  ///   `message(.retracted)`, `conversation(.notFound)`; unless it is local also `noLocalMember`
  ///   and `conversation(.notAMember)`.
  @discardableResult
  public func setOwnField(
    _ name: String, _ value: [UInt8]?, of owner: FieldOwner, isLocal: Bool = false
  ) throws(StoreError) -> Bool {
    let field = OwnField(name, value, isLocal: isLocal)
    return try transaction.perform(try transaction.ownFieldActs.set(field, of: owner))
  }

  /// Sets the kind of an owner for the local member; nil makes it a plain one.
  ///
  /// The server is told of it, as of a field: see ``setOwnField(_:_:of:isLocal:)``.
  ///
  /// - Parameters:
  ///   - kind: 1 to ``OwnField/maximumKindByteCount`` bytes of UTF-8.
  ///   - owner: The message, the conversation, or the member.
  /// - Returns: True if anything changed.
  /// - Throws: `input(.ownKind)`, and the errors of ``setOwnField(_:_:of:isLocal:)``.
  @discardableResult
  public func setOwnKind(_ kind: String?, of owner: FieldOwner) throws(StoreError) -> Bool {
    try transaction.perform(try transaction.ownFieldActs.set(.kind(kind), of: owner))
  }
}
