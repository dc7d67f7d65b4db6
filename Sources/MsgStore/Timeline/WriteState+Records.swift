import PageFile

/// The trees of messages and ids, and what a change of a message does to its conversation's summary.
///
/// All changes of a message that is there go through `replace`, all removals through `remove`: they
/// keep counters, preview and activity right (docs/message-format.md, A-1 … A-4).
struct Messages: TransactionPart {
  let transaction: Transaction

  init(_ transaction: Transaction) { self.transaction = transaction }

  /// Puts a new message to its place.
  func place(
    _ message: StoredMessage, at position: Position, in conversation: OpenConversation
  ) throws(StoreError) {
    transaction.hasAdded = true
    if let sequence = position.place.sequence {
      try transaction.sequences.note(sequence: sequence, in: conversation)
    }
    let isLast = conversation.summary.last.map { $0.position < position } ?? true
    if isLast, !position.place.isPending {
      try append(message, at: position, to: conversation)
    } else {
      try write(message, at: position, in: conversation.number)
    }
    try writeNames(of: message, at: position, in: conversation)
    try transaction.summaries.count(
      message, at: position, &conversation.summary, in: conversation.number)
    conversation.placedCount += 1
    if transaction.isHeard {
      transaction.notes.inserted(message.id(at: position), at: position, in: conversation.number)
    }
  }

  /// Puts a message in the stead of what was stored of it, to the same place or another.
  ///
  /// A move keeps whether the message has been seen, also across the read mark.
  func replace(
    _ old: StoredMessage, at oldPosition: Position, with new: StoredMessage,
    at position: Position, in conversation: OpenConversation
  ) throws(StoreError) {
    if let sequence = position.place.sequence {
      try transaction.sequences.note(sequence: sequence, in: conversation)
    }
    var new = new
    var summary = conversation.summary
    let counted = view.receipts.unreadCount(old, at: oldPosition, summary)
    if position != oldPosition {
      let isBelowMark = summary.mark.map { position <= $0 } ?? false
      let wasUnseen = summary.isUnseenHere(old, at: oldPosition)
      new.markOrdinal = wasUnseen && isBelowMark ? summary.markOrdinal : nil
      if !wasUnseen, !isBelowMark, !old.flags.contains(.history) {
        new.traits.marks.insert(.seen)
      }
      try transaction.packer.removeRecord(at: oldPosition, in: conversation.number)
    }
    if !StoreDefect.unreadKept.isPlanted {
      summary.count(view.receipts.unreadCount(new, at: position, summary) - counted)
    }
    try write(new, at: position, in: conversation.number)
    if position != oldPosition || new.traits.names != old.traits.names {
      try writeNames(of: new, at: position, in: conversation)
    }
    if position == oldPosition {
      if summary.last?.position == position {
        if !StoreDefect.previewKept.isPlanted {
          try transaction.summaries.refreshLast(&summary, in: conversation.number)
        }
      } else if old.status == .failed, new.status != .failed {
        try transaction.summaries.include(new, at: position, &summary, in: conversation.number)
      }
    } else if try transaction.summaries.isNowLast(
      position, was: oldPosition, summary, in: conversation.number)
    {
      summary.activity = position.place.time
      summary.last = try transaction.summaries.last(new, at: position, in: conversation.number)
    } else {
      try transaction.summaries.exclude(oldPosition, from: &summary, in: conversation.number)
      try transaction.summaries.include(new, at: position, &summary, in: conversation.number)
    }
    conversation.summary = summary
    try transaction.outboxFollowing.settleEntries(
      of: old, as: new, at: position, in: conversation.number)
    if transaction.isHeard {
      transaction.notes.replaced(
        old, at: oldPosition, by: new, at: position, in: conversation.number)
    }
    if position != oldPosition || new.sender != old.sender {
      try transaction.namedReceipts.noteLate(new, at: position, in: conversation)
    }
  }

  /// Takes a message out of its place, its names left as they are.
  func remove(
    _ message: StoredMessage, at position: Position, in conversation: OpenConversation
  ) throws(StoreError) {
    try transaction.packer.removeRecord(at: position, in: conversation.number)
    var summary = conversation.summary
    if !StoreDefect.messageCountKept.isPlanted {
      summary.messageCount = max(0, summary.messageCount - 1)
    }
    summary.count(UnreadCount() - view.receipts.unreadCount(message, at: position, summary))
    try transaction.summaries.exclude(position, from: &summary, in: conversation.number)
    conversation.summary = summary
    if transaction.isHeard {
      transaction.notes.removed(message.id(at: position), from: position, in: conversation.number)
    }
  }

  private func write(
    _ message: StoredMessage, at position: Position, in conversation: UInt32
  ) throws(StoreError) {
    var value = ByteBuffer(capacity: message.text.utf8.count + 64)
    message.appendChecked(at: position.place, to: &value)
    try transaction.packer.writeRecord(value.bytes, at: position, in: conversation)
  }

  /// Has a message written that lies behind all others.
  private func append(
    _ message: StoredMessage, at position: Position, to conversation: OpenConversation
  ) throws(StoreError) {
    let key = KeyEncoding.key(conversation.number, position)
    var value = ByteBuffer(capacity: message.text.utf8.count + 64)
    message.appendChecked(at: position.place, to: &value)
    memory.unwritten.append(key.bytes, value.bytes, to: conversation)
    if memory.unwritten.isFull { try transaction.packer.packGrown() }
  }

  /// Writes where a message is under all its names.
  private func writeNames(
    of message: StoredMessage, at position: Position, in conversation: OpenConversation
  ) throws(StoreError) {
    try transaction.messageNames.writeEntry(at: position, in: conversation)
    for name in message.traits.names {
      try transaction.messageNames.writeEntry(.here(position), of: name, in: conversation.number)
    }
  }
}

/// The last message and the activity.
extension Summaries {
  /// Takes a message into account that has come to its place.
  func include(
    _ message: StoredMessage, at position: Position, _ summary: inout ConversationSummary,
    in conversation: UInt32
  ) throws(StoreError) {
    if summary.isFollowed(by: message, at: position) {
      summary.activity = max(summary.activity, position.place.time)
      summary.last?.replace(with: message, at: position)
      return
    }
    guard let last = summary.last else {
      summary.activity = position.place.time
      summary.last = try self.last(message, at: position, in: conversation)
      return
    }
    summary.activity = max(summary.activity, position.place.time)
    let isFailed = message.status == .failed && position.place.isPending
    let isBehindFailed =
      last.status == .failed && last.position.place.isPending && !position.place.isPending
    if isFailed || isBehindFailed {
      try refreshLast(&summary, in: conversation)
    } else if position >= last.position {
      summary.last = try self.last(message, at: position, in: conversation)
    }
  }

  /// Whether the last message was acknowledged, and no other is behind its new place: then nobody has
  /// to look for the last one.
  func isNowLast(
    _ position: Position, was old: Position, _ summary: ConversationSummary,
    in conversation: UInt32
  ) throws(StoreError) -> Bool {
    guard old.place.isPending, !position.place.isPending, summary.last?.position == old else {
      return false
    }
    return try flushed().messages.lastPosition(upTo: .end, in: conversation) == position
  }

  /// Takes a message that has left its place out of a summary, looking for what is last now only if
  /// it was the last or the newest one.
  func exclude(
    _ position: Position, from summary: inout ConversationSummary, in conversation: UInt32
  ) throws(StoreError) {
    let isNewest =
      summary.activity == position.place.time && !StoreDefect.activityKept.isPlanted
    guard summary.last?.position == position || isNewest else { return }
    try refreshLast(&summary, in: conversation)
  }

  /// Looks for the last message and the newest time.
  ///
  /// The last is the one with the greatest position, but for pending ones that have failed before the
  /// newest acknowledged one came: they wait at the end of the thread, and do not hold the list back.
  func refreshLast(
    _ summary: inout ConversationSummary, in conversation: UInt32
  ) throws(StoreError) {
    let newest = try flushed().messages.lastPosition(upTo: .firstPending, in: conversation)
    var limit = Position.end
    while let position = try flushed().messages.lastPosition(upTo: limit, in: conversation) {
      let message = try flushed().messages.message(at: position, in: conversation)
      if position.place.isPending, message.status == .failed, let newest,
        position.place.time < newest.place.time, !StoreDefect.failedHoldsPreview.isPlanted
      {
        guard let before = try flushed().messages.lastPosition(before: position, in: conversation)
        else {
          break
        }
        limit = before
        continue
      }
      let isAlone = StoreDefect.activityOfLast.isPlanted
      summary.activity = max(position.place.time, isAlone ? .min : newest?.place.time ?? .min)
      summary.last = try last(message, at: position, in: conversation)
      return
    }
    summary.last = nil
    summary.activity = 0
  }

  func last(
    _ message: StoredMessage, at position: Position, in conversation: UInt32
  ) throws(StoreError) -> ConversationSummary.Last {
    try flushed().messages.last(message, at: position, in: conversation)
  }
}

extension MessageReader {
  /// The record of a message that is there.
  func record(at position: Position, in conversation: UInt32) throws(StoreError) -> ByteBuffer {
    var value = ByteBuffer(capacity: 256)
    guard try record(at: position, in: conversation, appendTo: &value) else {
      throw view.corrupt(Schema.ids, "message \"\(position.id)\" is not at its place")
    }
    return value
  }

  /// A message that is there.
  func message(
    at position: Position, in conversation: UInt32
  ) throws(StoreError) -> StoredMessage {
    let value = try record(at: position, in: conversation)
    guard let record = MessageRecord(value.bytes),
      let message = StoredMessage(record, at: position.place)
    else { throw view.corrupt(Schema.messages, "message \"\(position.id)\" is no record") }
    return message
  }

  /// A message as the list of conversations shows it.
  func last(
    _ message: StoredMessage, at position: Position, in conversation: UInt32
  ) throws(StoreError) -> ConversationSummary.Last {
    let isWithdrawn = message.traits.isWithdrawn
    var last = ConversationSummary.Last(
      position: position, sender: message.sender, status: message.status,
      text: isWithdrawn ? "" : message.text)
    last.isDeleted = isWithdrawn
    if !isWithdrawn, message.traits.marks.contains(.attachments) {
      let id = message.id(at: position)
      last.attachment = try view.facts.attachments(of: id, in: conversation).first.map {
        PreviewAttachment(
          kind: $0.kind, fileName: $0.fileName ?? "", thumbnail: $0.thumbnailURL ?? "")
      }
    }
    return last
  }

  /// The position of the last message in a conversation before a position; nil where there is none.
  func lastPosition(
    before limit: Position, in conversation: UInt32
  ) throws(StoreError) -> Position? {
    var cursor = MessageCursor(view)
    let key = KeyEncoding.key(conversation, limit)
    _ = try cursor.seek(key.bytes)
    guard try cursor.previous(), cursor.isIn(key.bytes.slice(0, KeyEncoding.numberByteCount)) else {
      return nil
    }
    return try cursor.position()
  }
}

extension Transaction {
  var messages: Messages { Messages(self) }
}
