import PageFile

/// Changing what is known of a message, wherever that lies.
struct MessageFacts: TransactionPart {
  let transaction: Transaction

  init(_ transaction: Transaction) { self.transaction = transaction }

  /// Runs `body`, which changes facts, with the name they are kept under.
  ///
  /// A message that is here gets marks in its record that say which kinds of facts it has; one that is
  /// not begins to wait. Of one that was deleted or taken back nothing is kept: then `body` does not
  /// run.
  ///
  /// Returns what `body` returns: whether anything changed.
  func withFacts(
    of id: MessageID, in conversation: OpenConversation, keepsUnsent: Bool = false,
    _ body: (MessageID) throws(StoreError) -> Bool
  ) throws(StoreError) -> Bool {
    switch try view.ids.entry(of: id, in: conversation.number) {
    case .deleted?:
      return false
    case .here(let position)?:
      let old = try flushed().messages.message(at: position, in: conversation.number)
      if old.traits.marks.contains(.unsent) && !keepsUnsent { return false }
      let own = old.id(at: position)
      guard try body(own) else { return false }
      var new = old
      try noteFacts(of: own, in: conversation.number, &new)
      try transaction.messages.replace(old, at: position, with: new, at: position, in: conversation)
      return true
    case .alias(let own)?:
      return try withWaitingFacts(of: own, in: conversation, body)
    case nil:
      return try withWaitingFacts(of: id, in: conversation, body)
    }
  }

  private func withWaitingFacts(
    of id: MessageID, in conversation: OpenConversation,
    _ body: (MessageID) throws(StoreError) -> Bool
  ) throws(StoreError) -> Bool {
    if let waiting = try transaction.waitingMessages.waiting(id, in: conversation.number) {
      if waiting.traits.marks.contains(.unsent) { return false }
      return try body(id)
    }
    guard try body(id) else { return false }
    try transaction.waitingMessages.noteWaiting(id, in: conversation.number)
    return true
  }

  /// Changes a message that is here, or what is known of one that is not.
  ///
  /// Returns whether anything changed.
  func update(
    _ id: MessageID, in conversation: OpenConversation,
    here: (inout StoredMessage, MessageID) throws(StoreError) -> Void,
    waiting change: (inout WaitingFacts, MessageID) throws(StoreError) -> Void
  ) throws(StoreError) -> Bool {
    switch try view.ids.entry(of: id, in: conversation.number) {
    case .deleted?:
      return false
    case .here(let position)?:
      let old = try flushed().messages.message(at: position, in: conversation.number)
      var new = old
      try here(&new, old.id(at: position))
      guard new != old else { return false }
      try transaction.messages.replace(old, at: position, with: new, at: position, in: conversation)
      return true
    case .alias(let own)?:
      return try transaction.waitingMessages.noteWaiting(own, in: conversation.number) {
        (facts) throws(StoreError) in
        try change(&facts, own)
      }
    case nil:
      return try transaction.waitingMessages.noteWaiting(id, in: conversation.number) {
        (facts) throws(StoreError) in
        try change(&facts, id)
      }
    }
  }

  /// Stores the facts that came with a message beside its record.
  ///
  /// Returns whether that is news.
  func putFacts(
    of message: Message, named id: MessageID, in conversation: UInt32
  ) throws(StoreError) -> Bool {
    guard message.rare != nil else { return false }
    let isComposed = message.serverTimestamp == nil && !message.status.isServerKnowledge
    let attachments = try transaction.attachments.mergeAttachments(
      message.attachments, isComposed: isComposed, of: id, in: conversation)
    let reactions = try transaction.reactions.mergeReactions(
      message.reactions, of: id, in: conversation)
    return attachments || reactions
  }
}

/// What the local member may do.
extension Composing {

  /// A message that the local member means to do something to.
  struct Target {
    var conversation: OpenConversation
    var position: Position
    var message: StoredMessage
    var id: MessageID
  }

  /// The message that the local member acts on, which has to be there and not taken back.
  func ownTarget(
    _ id: MessageID, in conversation: ConversationID
  ) throws(StoreError) -> Target {
    guard let open = try transaction.existingConversation(conversation),
      let position = try view.ids.position(of: id, in: open.number)
    else { throw .messageNotFound(id, in: conversation) }
    try checkMembership(open, conversation)
    let message = try flushed().messages.message(at: position, in: open.number)
    if message.traits.isWithdrawn { throw .messageIsDeleted(id, in: conversation) }
    return Target(
      conversation: open, position: position, message: message, id: message.id(at: position))
  }

  /// The same, where only who wrote it may act.
  func ownMessage(
    _ id: MessageID, in conversation: ConversationID
  ) throws(StoreError) -> Target {
    guard let localMember else { throw .noLocalMember }
    let target = try ownTarget(id, in: conversation)
    guard target.message.sender == localMember else {
      throw .notOwnMessage(id, in: conversation)
    }
    return target
  }
}

extension MessageFacts {
  /// Takes text, history, reactions and attachments away for good.
  func erase(
    _ message: inout StoredMessage, named id: MessageID, in conversation: UInt32
  ) throws(StoreError) {
    try eraseFacts(of: id, in: conversation)
    message.erase()
  }

  /// The same for what lies beside a message's record, or waits for it.
  func eraseFacts(of id: MessageID, in conversation: UInt32) throws(StoreError) {
    view.source.isErasing = true
    try transaction.attachments.removeAttachments(of: id, in: conversation)
    for kind in [FactKind.version, .reaction] {
      let prefix = FactKey.prefix(conversation, id, kind)
      try removeFacts(prefix)
    }
  }

  /// Sets the marks that say which kinds of facts there are.
  func noteFacts(
    of id: MessageID, in conversation: UInt32, _ message: inout StoredMessage
  ) throws(StoreError) {
    let kinds: [(FactKind, MessageTraits.Bits)] = [
      (.version, .versions), (.reaction, .reactions), (.attachment, .attachments),
      (.receipt, .receipts),
    ]
    for (kind, bit) in kinds {
      let prefix = FactKey.prefix(conversation, id, kind)
      if try hasFacts(prefix) {
        message.traits.marks.insert(bit)
      } else {
        message.traits.marks.remove(bit)
      }
    }
  }
}

extension Transaction {
  var messageFacts: MessageFacts { MessageFacts(self) }
}
