import PageFile

/// Keeps the summaries of conversations: their message counts, last messages, and places in the
/// lists.
struct Summaries: TransactionPart {
  let transaction: Transaction

  /// Counts a new message, and shows it in the summary if it is the last.
  func inserted(
    _ message: StoredMessage, at position: MessagePosition, in conversation: OpenConversation
  ) throws(StoreError) {
    if message.traits.isLetGo { return }
    if !position.place.isPending || !StoreDefect.pendingUncounted.isPlanted {
      conversation.summary.messageCount += 1
    }
    try include(message, at: position, &conversation.summary, in: conversation.number)
  }

  /// Counts a run of new messages, of which the last is given and no other is shown.
  func inserted(
    _ count: Int, last message: StoredMessage, at position: MessagePosition,
    in conversation: OpenConversation
  ) throws(StoreError) {
    conversation.summary.messageCount += count
    try include(message, at: position, &conversation.summary, in: conversation.number)
  }

  /// Updates the summary for a changed message and for the place that it has left.
  ///
  /// Searches for the last message only if the previous last one has moved or changed.
  func replaced(
    _ old: StoredMessage, at oldPosition: MessagePosition, by new: StoredMessage,
    at position: MessagePosition, in conversation: OpenConversation
  ) throws(StoreError) {
    let number = conversation.number
    if position == oldPosition, old.status == new.status, old.traits.isLetGo == new.traits.isLetGo {
      // Most changes show nothing, or the preview alone.
      guard conversation.summary.last?.position == position, !StoreDefect.previewKept.isPlanted,
        !new.traits.isLetGo, case let last = try last(new, at: position, in: number),
        last != conversation.summary.last
      else { return }
      conversation.summary.last = last
      return
    }
    var summary = conversation.summary
    let (wasShown, isShown) = (!old.traits.isLetGo, !new.traits.isLetGo)
    if !wasShown || !isShown {
      if wasShown {
        summary.messageCount = max(0, summary.messageCount - 1)
        try exclude(oldPosition, from: &summary, in: number)
      } else if isShown {
        summary.messageCount += 1
        try include(new, at: position, &summary, in: number)
        summary.marks.remove(.hidden)
      }
    } else if position == oldPosition {
      if summary.last?.position == position {
        if StoreDefect.previewKept.isPlanted {
          // The preview stays as it was.
        } else if (old.status == .failed) == (new.status == .failed) {
          summary.last = try last(new, at: position, in: number)
        } else {
          // A message that failed may leave the preview to an older one.
          try refreshLast(&summary, in: number)
        }
      } else if old.status == .failed, new.status != .failed {
        try include(new, at: position, &summary, in: number)
      }
    } else if try isNowLast(position, was: oldPosition, summary, in: number) {
      summary.activity = position.place.time
      summary.last = try last(new, at: position, in: number)
    } else {
      try exclude(oldPosition, from: &summary, in: number)
      try include(new, at: position, &summary, in: number)
    }
    // Most changes show nothing in the summary, and then it is not written.
    if summary != conversation.summary { conversation.summary = summary }
  }

  /// Removes a message from the count and the preview.
  func removed(
    _ message: StoredMessage, from position: MessagePosition, in conversation: OpenConversation
  ) throws(StoreError) {
    if message.traits.isLetGo { return }
    if !StoreDefect.messageCountKept.isPlanted {
      conversation.summary.messageCount = max(0, conversation.summary.messageCount - 1)
    }
    try exclude(position, from: &conversation.summary, in: conversation.number)
  }

  /// Bounds the number of conversations that a transaction keeps open.
  ///
  /// No caller may hold an open conversation across this call.
  @inline(never)
  func makeRoom() throws(StoreError) {
    guard memory.isFull else { return }
    try transaction.packer.packGrown()
    try flush()
    memory.forgetConversations()
  }

  /// Writes the changed summaries, so that conversations can be read.
  @inline(never)
  func flush() throws(StoreError) {
    try memory.unwritten.flush(to: view.source)
    for conversation in memory.touched where conversation.isChanged {
      try write(conversation)
    }
    try flushReceipts()
    transaction.writeTotals()
  }

  /// Writes the local member's side of receipts where it was kept, so that it can be read from the
  /// trees.
  @inline(never)
  func flushReceipts() throws(StoreError) {
    guard memory.hasUnwrittenReceipts else { return }
    memory.hasUnwrittenReceipts = false
    for conversation in memory.touched where conversation.hasUnwrittenReceipts {
      conversation.hasUnwrittenReceipts = false
      guard let receipts = conversation.receipts else { continue }
      try transaction.put(receipts, at: ReceiptKey.own(conversation.number))
    }
  }

  func write(_ conversation: OpenConversation) throws(StoreError) {
    conversation.summary.cutPreview()
    let key = KeyEncoding.key(conversation.number)
    var value = ByteBuffer(capacity: 256)
    conversation.summary.append(to: &value, inPlaceOf: conversation.storedByteCount)
    assert(
      ConversationSummary(value.bytes) == conversation.summary, "summary differs after encoding")
    if transaction.hasListeners {
      try noteEntry(conversation, key.bytes, value.bytes)
    }
    if conversation.hasUnwrittenReceipts, let receipts = conversation.receipts {
      try write(key.bytes, value.bytes, and: receipts, of: conversation)
    } else {
      try transaction.insert(key.bytes, value.bytes, in: Schema.conversations)
    }
    let place = conversation.summary.listPlace
    if conversation.listed != place { try list(conversation, at: place) }
    transaction.totals.replace(conversation.counted, with: Totals(conversation.summary))
    conversation.wasWritten(byteCount: value.count)
  }

  /// Writes a summary and the local member's side of receipts, which lie side by side.
  private func write(
    _ key: Bytes, _ summary: Bytes, and receipts: ConversationReceipts,
    of conversation: OpenConversation
  ) throws(StoreError) {
    conversation.hasUnwrittenReceipts = false
    let own = ReceiptKey.own(conversation.number)
    var value = ByteBuffer(capacity: 128)
    receipts.appendChecked(to: &value)
    var cells = memory.takeCells()
    cells.append(key, summary)
    cells.append(own.bytes, value.bytes)
    try transaction.apply(&cells, in: Schema.conversations)
    memory.giveBack(cells)
  }

  /// Moves a conversation's entry in the lists.
  func list(_ conversation: OpenConversation, at place: ListPlace?) throws(StoreError) {
    if conversation.listed != nil, place != nil, StoreDefect.listPlaceKept.isPlanted { return }
    try transaction.update(
      ListKey.self, from: conversation.listed.map { ($0, conversation.number) },
      to: place.map { ($0, conversation.number) })
  }

  /// Removes a conversation, as it is stored, from its tree, the lists, and the totals.
  func drop(_ conversation: OpenConversation) throws(StoreError) {
    _ = try flushed()
    let key = KeyEncoding.key(conversation.number)
    try transaction.remove(key.bytes, in: Schema.conversations)
    try list(conversation, at: nil)
    transaction.totals.replace(conversation.counted, with: Totals())
    if transaction.hasListeners {
      transaction.notes.listed(conversation.number, from: conversation.listed, to: nil)
    }
    memory.remove(conversation)
  }
}

extension Transaction {
  var summaries: Summaries { Summaries(transaction: self) }
}

/// The last message and the activity of a conversation.
extension Summaries {
  /// Returns the place of the newest acknowledged message if that costs no lookup.
  ///
  /// An acknowledged last message is the newest, unless others behind it were let go, because they
  /// have expired.
  func knownNewest(
    in conversation: OpenConversation
  ) throws(StoreError) -> MessagePosition? {
    guard let last = conversation.summary.last?.position, !last.place.isPending,
      try !transaction.expiries.haveLetGo
    else { return nil }
    return last
  }

  /// Updates the last message and the activity for a message that was placed.
  private func include(
    _ message: StoredMessage, at position: MessagePosition, _ summary: inout ConversationSummary,
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

  /// Returns true if the last message was acknowledged and no other message lies behind its new
  /// place.
  ///
  /// Then no search for the last message is needed.
  private func isNowLast(
    _ position: MessagePosition, was old: MessagePosition, _ summary: ConversationSummary,
    in conversation: UInt32
  ) throws(StoreError) -> Bool {
    guard old.place.isPending, !position.place.isPending, summary.last?.position == old else {
      return false
    }
    return try flushed().messages.lastPosition(upTo: .end, in: conversation) == position
  }

  /// Updates a summary for a message that has left its place.
  ///
  /// Searches for the new last message only if the message was the last or the newest one. An
  /// acknowledged last one is the newest, too, and stays both if another one leaves.
  private func exclude(
    _ position: MessagePosition, from summary: inout ConversationSummary, in conversation: UInt32
  ) throws(StoreError) {
    let isLast = summary.last?.position == position
    let isNewest =
      summary.activity == position.place.time && summary.last?.position.place.isPending ?? true
      && !StoreDefect.activityKept.isPlanted
    guard isLast || isNewest else { return }
    // Messages behind the position were let go before: walking over them again for each message
    // would be quadratic.
    let limit: MessagePosition =
      position.place.isPending
      ? .firstPending : isLast ? position : ThreadMoment(position.place).endPosition
    try refreshLast(&summary, in: conversation, newestBefore: limit)
  }

  /// Finds the last message and the newest time.
  ///
  /// The last message is the one with the greatest position, except for pending ones that failed
  /// before the newest acknowledged message came: they stay at the end of the thread, but do not
  /// hold the preview back.
  ///
  /// - Parameter limit: A position from which on no acknowledged message counts.
  private func refreshLast(
    _ summary: inout ConversationSummary, in conversation: UInt32,
    newestBefore limit: MessagePosition = .firstPending
  ) throws(StoreError) {
    let newest = try flushed().messages.lastCounted(before: limit, in: conversation)
    guard let position = try flushed().messages.lastShown(newest: newest, in: conversation) else {
      summary.last = nil
      summary.activity = 0
      return
    }
    let message = try flushed().messages.message(at: position, in: conversation)
    let isAlone = StoreDefect.activityOfLast.isPlanted
    summary.activity = max(position.place.time, isAlone ? .min : newest?.place.time ?? .min)
    summary.last = try last(message, at: position, in: conversation)
  }

  private func last(
    _ message: StoredMessage, at position: MessagePosition, in conversation: UInt32
  ) throws(StoreError) -> ConversationSummary.Last {
    // Reads facts only. Were the unwritten messages written first, each new conversation of an
    // import would do that, and none of its messages would be packed before it has a cell.
    try view.messages.last(message, at: position, in: conversation)
  }
}

extension Summaries {
  /// Notes a summary that is about to be written, if it differs from the stored one.
  func noteEntry(_ conversation: OpenConversation, _ key: Bytes, _ value: Bytes) throws(StoreError)
  {
    let (from, to) = (conversation.listed, conversation.summary.listPlace)
    if from == to {
      var old = ByteBuffer(capacity: 256)
      let isThere = try view.value(of: key, in: Schema.conversations, appendTo: &old)
      if isThere, old.bytes.compare(to: value) == 0 { return }
    }
    transaction.notes.listed(conversation.number, from: from, to: to)
  }
}
