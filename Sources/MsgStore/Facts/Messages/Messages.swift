import PageFile

/// Writes messages and their names, and all that follows from each change of a message.
///
/// A message comes through `place`, changes through `replace`, and goes through `remove`. What
/// follows is listed in order in this one place: `inserted`, `replaced`, `removed`. Each entry of a
/// list sees the old and the new value and reads only its own data. Its cost does not depend on the
/// length of the thread, except where its comment says so. It changes no message, so a list runs
/// once per change. Changes that concern the outbox are emitted as effects, which the outbox
/// answers when the operation is over: see `Effect`.
package struct Messages: TransactionPart {
  package let transaction: Transaction

  /// Stores a new message at its place.
  package func place(
    _ message: StoredMessage, at position: MessagePosition, in conversation: OpenConversation
  ) throws(StoreError) {
    transaction.hasAdded = true
    // Only a message that needs it is copied for its mark.
    guard Expiries.concern(message) else { return try put(message, at: position, in: conversation) }
    var marked = message
    try transaction.expiries.mark(&marked, at: position, in: conversation.number)
    try put(marked, at: position, in: conversation)
  }

  private func put(
    _ message: StoredMessage, at position: MessagePosition, in conversation: OpenConversation
  ) throws(StoreError) {
    if !position.place.isPending, try isBehindAll(position, in: conversation) {
      try append(message, at: position, to: conversation)
    } else {
      try write(message, at: position, in: conversation.number)
    }
    conversation.raiseGreatestPosition(to: position)
    try writeNames(of: message, at: position, in: conversation)
    try inserted(message, at: position, in: conversation)
  }

  /// Replaces a stored message, moving it if its place changed.
  ///
  /// A move keeps the seen state of the message, even across the read mark.
  @inline(never)
  func replace(
    _ old: StoredMessage, at oldPosition: MessagePosition, with new: StoredMessage,
    at position: MessagePosition, in conversation: OpenConversation
  ) throws(StoreError) {
    let moves = position != oldPosition
    guard moves || Expiries.concern(new) else {
      return try put(new, at: position, over: old, at: oldPosition, in: conversation)
    }
    var new = new
    try transaction.expiries.mark(&new, at: position, in: conversation.number)
    if moves {
      // Other members may have taken part at the new place.
      new.traits.awaited = nil
      transaction.unreadCounts.carry(
        from: old, at: oldPosition, to: &new, at: position, conversation)
      try transaction.packer.removeRecord(at: oldPosition, in: conversation.number)
    }
    try put(new, at: position, over: old, at: oldPosition, in: conversation)
    if moves { try transaction.pendingReceipts.settleMoved(new, at: position, in: conversation) }
  }

  @inline(never)
  private func put(
    _ new: StoredMessage, at position: MessagePosition,
    over old: StoredMessage, at oldPosition: MessagePosition, in conversation: OpenConversation
  ) throws(StoreError) {
    try write(new, at: position, in: conversation.number)
    conversation.raiseGreatestPosition(to: position)
    if position != oldPosition || new.traits.names != old.traits.names {
      try writeNames(of: new, at: position, in: conversation)
    }
    try replaced(old, at: oldPosition, by: new, at: position, in: conversation)
  }

  /// Removes a message from its place and keeps its names.
  func remove(
    _ message: StoredMessage, at position: MessagePosition, in conversation: OpenConversation
  ) throws(StoreError) {
    try transaction.packer.removeRecord(at: position, in: conversation.number)
    try removed(message, from: position, in: conversation)
  }

  /// Returns true if an acknowledged place lies behind all messages of a conversation.
  ///
  /// The last message that counts does not tell it where others behind it were let go, because they
  /// have expired. Then the last one is looked up, once while the conversation is open.
  func isBehindAll(
    _ position: MessagePosition, in conversation: OpenConversation
  ) throws(StoreError) -> Bool {
    if let last = conversation.summary.last?.position, last >= position { return false }
    guard try transaction.expiries.haveLetGo else { return true }
    if conversation.greatestPosition == nil {
      conversation.greatestPosition =
        try flushed().messages.lastPosition(upTo: .firstPending, in: conversation.number) ?? .start
    }
    return conversation.greatestPosition.map { $0 < position } ?? true
  }

  private func write(
    _ message: StoredMessage, at position: MessagePosition, in conversation: UInt32
  ) throws(StoreError) {
    var value = ByteBuffer(capacity: message.text.utf8.count + 64)
    message.appendChecked(at: position.place, to: &value)
    try transaction.packer.writeRecord(value.bytes, at: position, in: conversation)
  }

  /// Adds a message behind all others to the unwritten messages.
  private func append(
    _ message: StoredMessage, at position: MessagePosition, to conversation: OpenConversation
  ) throws(StoreError) {
    let key = KeyEncoding.key(conversation.number, position)
    var value = ByteBuffer(capacity: message.text.utf8.count + 64)
    message.appendChecked(at: position.place, to: &value)
    memory.unwritten.append(key.bytes, value.bytes, to: conversation)
    if memory.unwritten.isFull { try transaction.packer.packGrown() }
  }

  /// Writes the position of a message under all its names.
  @inline(never)
  private func writeNames(
    of message: StoredMessage, at position: MessagePosition, in conversation: OpenConversation
  ) throws(StoreError) {
    try transaction.messageNames.writeEntry(at: position, in: conversation)
    for name in message.traits.names {
      try transaction.messageNames.writeEntry(.here(position), of: name, in: conversation.number)
    }
  }
}

// MARK: What follows from a change of a message

extension Messages {
  private func inserted(
    _ message: StoredMessage, at position: MessagePosition, in conversation: OpenConversation
  ) throws(StoreError) {
    try transaction.sequences.inserted(at: position, in: conversation)
    conversation.summary.countInserted(message, at: position, for: localMember)
    try transaction.summaries.inserted(message, at: position, in: conversation)
    try transaction.change(
      MessageKeys(), to: keys(of: message, at: position, in: conversation.number))
    conversation.placedCount += 1
    memory.noteCountChange(at: position, in: conversation.number)
    if transaction.hasListeners, !message.traits.isLetGo {
      transaction.notes.inserted(message.id(at: position), at: position, in: conversation.number)
    }
  }

  private func replaced(
    _ old: StoredMessage, at oldPosition: MessagePosition, by new: StoredMessage,
    at position: MessagePosition, in conversation: OpenConversation
  ) throws(StoreError) {
    let (number, moves) = (conversation.number, position != oldPosition)
    try transaction.sequences.inserted(at: position, in: conversation)
    transaction.unreadCounts.replaced(old, at: oldPosition, by: new, at: position, in: conversation)
    try transaction.summaries.replaced(
      old, at: oldPosition, by: new, at: position, in: conversation)
    let before = keys(of: old, at: oldPosition, in: number)
    var after = keys(of: new, at: position, in: number)
    if StoreDefect.movedReplyKept.isPlanted { after.reply = before.reply }
    if StoreDefect.movedTagsKept.isPlanted, let tags = before.tags {
      after.tags?.moment = tags.moment
    }
    if StoreDefect.movedExpiryKept.isPlanted, moves { after.expiry = before.expiry }
    try transaction.change(before, to: after)
    if let settlement = MessageSettlement(from: old, to: new) {
      try transaction.emit(.messageSettled(new.id(at: position), in: number, settlement))
    }
    if transaction.hasListeners {
      transaction.notes.replaced(old, at: oldPosition, by: new, at: position, in: number)
    }
    if moves || new.traits.isLetGo != old.traits.isLetGo {
      memory.noteCountChange(at: oldPosition, in: number)
      memory.noteCountChange(at: position, in: number)
    }
    if moves || new.sender != old.sender
      || old.flags.contains(.history) && !new.flags.contains(.history)
    {
      try transaction.receipts.noteLate(new, at: position, in: conversation)
    }
  }

  private func removed(
    _ message: StoredMessage, from position: MessagePosition, in conversation: OpenConversation
  ) throws(StoreError) {
    transaction.unreadCounts.removed(message, from: position, in: conversation)
    try transaction.summaries.removed(message, from: position, in: conversation)
    try transaction.change(
      keys(of: message, at: position, in: conversation.number), to: MessageKeys())
    memory.noteCountChange(at: position, in: conversation.number)
    if transaction.hasListeners, !message.traits.isLetGo {
      transaction.notes.removed(message.id(at: position), from: position, in: conversation.number)
    }
  }

  @inline(__always)
  private func keys(
    of message: StoredMessage, at position: MessagePosition, in conversation: UInt32
  ) -> MessageKeys {
    MessageKeys(of: message, at: position, in: conversation, for: localMember)
  }
}

extension Transaction {
  package var messages: Messages { Messages(transaction: self) }
}
