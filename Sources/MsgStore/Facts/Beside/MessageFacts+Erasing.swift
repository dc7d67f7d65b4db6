import PageFile

/// Erases the facts of messages that were deleted or retracted.
///
/// A message may have any number of them, so what is too much for one commit is erased in steps.
/// Until then nothing reads what is left: the message says that it has none of it, or is gone.
///
/// See docs/message-format.md, G-6 and Y-1.
extension MessageFacts {
  /// The kinds of facts that a retracted message loses, but for its attachments.
  package static var contents: [FactKind] {
    [.version, .reaction, .ownField, .tag, .removedReaction, .emojiCount, .emojiRank]
  }

  /// The marks of what a retracted message has no more.
  static var contentMarks: MessageTraits.Bits { [.versions, .reactions, .attachments, .tagged] }

  /// Erases the text, history, reactions, and attachments of a message for good.
  package func erase(
    _ message: inout StoredMessage, named id: MessageID, in conversation: UInt32
  ) throws(StoreError) {
    view.source.isErasing = true
    try transaction.attachments.removeAttachments(of: id, in: conversation)
    if try !eraseContents(of: id, in: conversation, limit: transaction.maximumSweepCount) {
      try transaction.workQueue.add(WorkRecord(.erase(id), of: conversation))
    }
    message.erase()
  }

  /// Erases the facts that wait for a message which was retracted before it came.
  func eraseWaiting(of id: MessageID, in conversation: UInt32) throws(StoreError) {
    view.source.isErasing = true
    try transaction.attachments.removeAttachments(of: id, in: conversation)
    _ = try eraseContents(of: id, in: conversation, limit: .max)
  }

  /// Erases all facts of a message that was deleted.
  func eraseAll(of id: MessageID, in conversation: UInt32) throws(StoreError) {
    view.source.isErasing = true
    try transaction.attachments.removeAttachments(of: id, in: conversation)
    if try !eraseSome(FactKey.prefix(conversation, id)) {
      try transaction.workQueue.add(WorkRecord(.erase(id), of: conversation))
    }
  }

  /// Erases what is left of a retracted message that moves, and leaves its name.
  func finishErasing(
    of message: StoredMessage, named id: MessageID, in conversation: UInt32
  ) throws(StoreError) {
    guard message.traits.marks.contains(.retracted) else { return }
    view.source.isErasing = true
    _ = try eraseContents(of: id, in: conversation, limit: .max)
  }

  /// Erases as much as one step may of what a message has left.
  ///
  /// Returns true when nothing is left. If the conversation is gone, its sweep or its merge takes
  /// the facts; if the message has another name now, or came anew, nothing was left.
  func stepErasing(of id: MessageID, in conversation: UInt32) throws(StoreError) -> Bool {
    guard try transaction.isStored(conversation) else { return true }
    view.source.isErasing = true
    switch try view.ids.entry(of: id, in: conversation) {
    case .deleted?:
      return try eraseSome(FactKey.prefix(conversation, id))
    case .here(let position)?:
      let message = try flushed().messages.message(at: position, in: conversation)
      guard message.id(at: position) == id, message.traits.marks.contains(.retracted) else {
        return true
      }
      return try eraseContents(
        of: id, in: conversation, limit: transaction.maximumSweepCount)
    default:
      return true
    }
  }

  /// Returns true if nothing is left of the contents.
  private func eraseContents(
    of id: MessageID, in conversation: UInt32, limit: Int
  ) throws(StoreError) -> Bool {
    var count = 0
    for kind in Self.contents {
      let prefix = FactKey.prefix(conversation, id, kind)
      count += try transaction.removeAll(prefix.bytes, in: Schema.facts, limit: limit - count)
      if transaction.isStepFull(count, of: limit), try hasFacts(prefix) { return false }
    }
    return true
  }

  /// Returns true if nothing is left under a prefix.
  private func eraseSome(_ prefix: borrowing ByteBuffer) throws(StoreError) -> Bool {
    _ = try transaction.removeAll(
      prefix.bytes, in: Schema.facts, limit: transaction.maximumSweepCount)
    return try !hasFacts(prefix)
  }
}
