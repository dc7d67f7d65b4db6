import PageFile

/// Changes the facts of a message, in the tree of facts and in its record.
package struct MessageFacts: TransactionPart {
  package let transaction: Transaction

  /// Stores the facts that came with a message beside its record, and merges its own fields into
  /// the record.
  ///
  /// Returns true if anything beside the record changed.
  func putFacts(
    of message: Message, named id: MessageID, in conversation: UInt32,
    into stored: inout StoredMessage
  ) throws(StoreError) -> Bool {
    guard let rare = message.rare else { return false }
    if !rare.fields.ownFields.isEmpty {
      try mergeOwnFields(
        rare.fields.ownFields.all, into: &stored.traits.ownFields, of: id, in: conversation)
    }
    let isComposed = message.serverTimestamp == nil && !message.status.isServerKnowledge
    let attachments = try mergeAttachments(
      message.attachments, isComposed: isComposed, within: stored.traits.keptAttachments, of: id,
      in: conversation)
    let reactions = try mergeReactions(
      message.reactions, of: id, in: conversation)
    return attachments || reactions
  }
}

extension MessageFacts {
  /// Erases the text, history, reactions, and attachments of a message for good.
  @inline(never)
  package func erase(
    _ message: inout StoredMessage, named id: MessageID, in conversation: UInt32
  ) throws(StoreError) {
    try eraseFacts(of: id, in: conversation)
    message.erase()
  }

  /// The kinds of facts that a retracted message loses, but for its attachments.
  private static var contents: [FactKind] {
    [.version, .reaction, .ownField, .tag, .removedReaction, .emojiCount, .emojiRank]
  }

  /// Erases the facts that lie beside a message's record, or that wait for it.
  @inline(never)
  func eraseFacts(of id: MessageID, in conversation: UInt32) throws(StoreError) {
    view.source.isErasing = true
    try removeAttachments(of: id, in: conversation)
    for kind in Self.contents {
      let prefix = FactKey.prefix(conversation, id, kind)
      try removeFacts(prefix)
    }
  }

  /// Sets the marks of a message that tell which kinds of facts it has, and the tags that follow
  /// from them, and counts its reactions.
  ///
  /// Attachments that an edit has removed go.
  ///
  /// - Parameters:
  ///   - keepsCounts: True if the message's record already has the numbers of its reactions, unless
  ///     it has none.
  ///   - kind: The kind of the facts that have changed; nil if several may have.
  @inline(never)
  package func noteFacts(
    of id: MessageID, in conversation: UInt32, _ message: inout StoredMessage,
    keepsCounts: Bool = false, changed kind: FactKind? = nil
  ) throws(StoreError) {
    if kind == .reaction, keepsCounts {
      // The fact of a reaction stays when the reaction is taken back.
      message.traits.marks.insert(.reactions)
      if message.traits.reactionCounts == nil {
        message.traits.reactionCounts = try reactionCounts(of: id, in: conversation)
      }
      return
    }
    if let kept = message.traits.keptAttachments {
      try removeAttachments(besides: kept, of: id, in: conversation)
    }
    message.traits.marks.subtract(.facts)
    message.traits.marks.formUnion(try factMarks(of: id, in: conversation))
    message.traits.tags = []
    if message.traits.marks.contains(.tagged) {
      message.traits.tags = try view.facts.setTags(of: id, in: conversation)
    }
    if message.traits.marks.contains(.attachments) {
      message.traits.tags.formUnion(try view.facts.attachmentTags(of: id, in: conversation))
    }
    try keepAwaited(of: id, in: conversation, &message)
    if !message.traits.marks.contains(.reactions) {
      message.traits.reactionCounts = nil
    } else if !keepsCounts || message.traits.reactionCounts == nil {
      message.traits.reactionCounts = try reactionCounts(of: id, in: conversation)
    }
  }
}

extension MessageFacts {
  /// Returns the marks of the kinds of facts that a message has.
  ///
  /// Costs a lookup for each kind that it has, and one more.
  private func factMarks(
    of id: MessageID, in conversation: UInt32
  ) throws(StoreError) -> MessageTraits.Bits {
    var marks: MessageTraits.Bits = []
    var cursor = Cursor(view.source, Schema.facts)
    let prefix = FactKey.prefix(conversation, id)
    var key = FactKey.prefix(conversation, id)
    while true {
      try storage { () throws(PageFileError) in _ = try cursor.seek(key.bytes) }
      guard cursor.isAtCell, cursor.keyHasPrefix(prefix.bytes) else { return marks }
      key.removeAll()
      cursor.appendKey(to: &key)
      guard key.count > prefix.count else { throw view.corrupt(Schema.facts, "malformed key") }
      let kind = key.bytes[prefix.count]
      if let mark = FactKind(rawValue: kind)?.mark { marks.insert(mark) }
      guard kind < .max else { return marks }
      key.truncate(to: prefix.count)
      key.append(kind + 1)
    }
  }

  /// Forgets the recipients that a message waits for once one of them has a receipt by name.
  private func keepAwaited(
    of id: MessageID, in conversation: UInt32, _ message: inout StoredMessage
  ) throws(StoreError) {
    guard let awaited = message.traits.awaited else { return }
    for kind in ReceiptKind.allCases where awaited[kind] != 0 {
      let key = FactKey.key(conversation, id, .receipt, member: awaited[kind])
      let receipt: ExactReceipt? = try view.record(key)
      if receipt?.has(kind) == true { message.traits.awaited = nil }
    }
    if !message.traits.marks.contains(.receipts) { message.traits.awaited = nil }
  }
}

extension Transaction {
  package var messageFacts: MessageFacts { MessageFacts(transaction: self) }
}

extension MessageFacts {
  /// Removes all facts of a message that lie beside its record.
  ///
  /// Returns the number of facts removed.
  @discardableResult
  @inline(never)
  func removeFacts(of id: MessageID, in conversation: UInt32) throws(StoreError) -> Int {
    let attachmentCount = try removeAttachments(of: id, in: conversation)
    let facts = FactKey.prefix(conversation, id)
    return try attachmentCount + removeFacts(facts)
  }

  /// Removes the facts whose keys have a prefix.
  ///
  /// Returns the number of facts removed.
  @discardableResult
  func removeFacts(_ prefix: borrowing ByteBuffer) throws(StoreError) -> Int {
    let prefix = prefix.bytes
    var count = 0
    while true {
      var cursor = Cursor(view.source, Schema.facts)
      var key = ByteBuffer()
      try storage { () throws(PageFileError) in _ = try cursor.seek(prefix) }
      guard cursor.isAtCell, cursor.keyHasPrefix(prefix) else { return count }
      cursor.appendKey(to: &key)
      try transaction.remove(key.bytes, in: Schema.facts)
      count += 1
    }
  }

  /// Returns true if there is a fact whose key has a prefix.
  func hasFacts(_ prefix: borrowing ByteBuffer) throws(StoreError) -> Bool {
    var cursor = Cursor(view.source, Schema.facts)
    let prefix = prefix.bytes
    try storage { () throws(PageFileError) in _ = try cursor.seek(prefix) }
    return cursor.isAtCell && cursor.keyHasPrefix(prefix)
  }
}
