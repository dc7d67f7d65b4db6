import PageFile

/// Deletes conversations.
///
/// The name gets a new number at once, hidden and without messages. Everything under the old number
/// is swept in steps. See docs/message-format.md, C-15 … C-17.
struct Deletions: TransactionPart {
  let transaction: Transaction

  func receiveDeletion(of id: ConversationID, at time: Timestamp) throws(StoreError) -> Bool {
    try id.validate()
    try time.validate()
    let conversation = try transaction.conversation(id) { ConversationDetails(id: id) }
    // The server does not delete what it does not have.
    try transaction.emit(.conversationKnown(conversation.number))
    return try delete(conversation, upTo: time.microseconds)
  }

  /// Merges a deletion of a conversation, made at some time; newer messages stay.
  func delete(_ conversation: OpenConversation, upTo time: Int64) throws(StoreError) -> Bool {
    if let old = conversation.summary.deletedUpTo, old >= time { return false }
    try forget(conversation, at: time, isLocal: false)
    let last = try flushed().messages.lastPosition(upTo: .end, in: conversation.number)
    let isLeft = last.map { $0.place.isPending || $0.place.time > time } ?? false
    let isExpecting = try !merging(into: conversation.number).isEmpty
    if isLeft || isExpecting {
      conversation.summary.deletedUpTo = time
      if try !trim(conversation.number, upTo: time) {
        try transaction.workQueue.add(WorkRecord(.trim(upTo: time), of: conversation.number))
      }
    } else if last == nil {
      conversation.summary.deletedUpTo = time
      conversation.summary.marks.insert(.hidden)
    } else {
      try clear(conversation, upTo: time, keepsFacts: true)
    }
    return true
  }

  /// Merges a deletion behind a merge into the conversation that is under way: messages up to its
  /// time go once the others have come.
  func postpone(_ conversation: OpenConversation, upTo time: Int64) throws(StoreError) {
    if let old = conversation.summary.deletedUpTo, old >= time { return }
    try forget(conversation, at: time, isLocal: false)
    conversation.summary.deletedUpTo = time
    try transaction.workQueue.add(WorkRecord(.trim(upTo: time), of: conversation.number))
  }

  /// Merges the server's time of a local deletion, and removes messages up to that time, which may
  /// have come since.
  ///
  /// Changes made here since then stay.
  func confirmDeletion(of number: UInt32, at time: Int64) throws(StoreError) {
    let conversation = try transaction.conversation(number)
    if let old = conversation.summary.deletedUpTo, old >= time { return }
    conversation.summary.deletedUpTo = time
    guard try !trim(number, upTo: time) else { return }
    try transaction.workQueue.add(WorkRecord(.trim(upTo: time), of: number))
  }

  /// Ends what a deletion ends: the draft, and the marks pinned, archived, and marked as unread.
  func forget(
    _ conversation: OpenConversation, at time: Int64, isLocal: Bool
  ) throws(StoreError) {
    var end = time
    if isLocal {
      // The act of the local member is later than anything it ends.
      end = Conversations.provisionalTime(
        after: time, try view.conversations.draftRecord(conversation.number)?.time,
        try view.conversations.details(conversation.number).newestTime)
    }
    _ = try transaction.conversations.mergeDraft(
      DraftRecord(nil, replyTo: nil, time: end), of: conversation)
    _ = try transaction.conversations.update(conversation) { new in
      transaction.conversations.mergeMark(
        false, .pinned, \.pinnedAt, Timestamp(microseconds: end), &new)
      transaction.conversations.mergeMark(
        false, .archived, \.archivedAt, Timestamp(microseconds: end), &new)
      transaction.conversations.mergeMark(
        false, .markedUnread, \.markedUnreadAt, Timestamp(microseconds: end), &new)
    }
  }

  /// Gives a conversation a new number without any messages, and sweeps the old number in steps.
  ///
  /// - Parameters:
  ///   - time: The server time up to which messages do not come back; nil if all may.
  ///   - keepsFacts: True if receipts stay, as do facts of messages that are not here: a received
  ///     deletion says nothing about newer ones.
  func clear(
    _ conversation: OpenConversation, upTo time: Int64?, keepsFacts: Bool = false
  ) throws(StoreError) {
    try transaction.summaries.flush()
    view.source.isErasing = true
    let old = conversation.number
    for (ordinal, work) in try transaction.workQueue.merges(into: old) {
      try transaction.workQueue.write(WorkRecord(.sweep, of: work.conversation), at: ordinal)
    }
    let details = try view.conversations.details(old)
    let number = try transaction.newNumber(.nextConversation, "conversation")
    try transaction.memberships.move(old, to: number, details)
    try transaction.expiries.moveMuteEnd(details.awaitedMuteEnd, from: old, to: number)
    try transaction.retentions.move(old, to: number, keepsFloor: keepsFacts)
    var cell = ByteBuffer()
    var from = KeyEncoding.key(old)
    var to = KeyEncoding.key(number)
    for suffix in ConversationDetails.cellSuffixes {
      from.truncate(to: KeyEncoding.numberByteCount)
      to.truncate(to: KeyEncoding.numberByteCount)
      from.append(suffix)
      to.append(suffix)
      cell.removeAll()
      guard try view.value(of: from.bytes, in: Schema.conversations, appendTo: &cell) else {
        continue
      }
      try transaction.remove(from.bytes, in: Schema.conversations)
      try transaction.insert(stored: to.bytes, cell.bytes, in: Schema.conversations)
    }
    var summary = ConversationSummary(created: conversation.summary.created)
    summary.marks = conversation.summary.marks.union(.hidden)
    try transaction.expiries.markMute(&summary.marks, by: details, of: number)
    summary.deletedUpTo = time
    summary.nextLocalOrder = conversation.summary.nextLocalOrder
    // Messages deleted here leave no sequence gap.
    summary.sequences = conversation.summary.sequences
    try transaction.pendingReceipts.forgetPending(conversation)
    try transaction.summaries.drop(conversation)
    if transaction.hasListeners { transaction.notes.renumbered(old, to: number) }
    let new = try transaction.add(number, summary)
    try transaction.conversations.lead([details.id], to: number)
    try transaction.conversations.lead(details.aliases, to: number, areFormer: true)
    // Members who joined later are not waited for before their joining, whatever else is known of
    // them.
    try transaction.receipts.membershipChanged(new)
    guard keepsFacts else {
      try transaction.emit(.conversationDeleted(old, to: number))
      return try transaction.workQueue.add(WorkRecord(.sweep, of: old))
    }
    // A received deletion is a fact like others: what was known of sequences stays, so that the
    // order makes no difference.
    let runs = KnownSequences.prefix(old)
    try transaction.moves.moveAll(runs.bytes, in: Schema.conversations, to: number, limit: nil)
    try transaction.emit(.conversationMoved(old, to: number))
    try transaction.receipts.mergeReceipts(from: conversation, into: new)
    let oldSummary = conversation.summary
    if try !transaction.moves.moveMessages(of: old, oldSummary, into: number) {
      try transaction.workQueue.add(WorkRecord(.merge(into: number, oldSummary), of: old))
    }
  }

  /// Returns the pending messages of a conversation in order.
  func pending(in conversation: UInt32) throws(StoreError) -> [MessageID] {
    var found: [MessageID] = []
    _ = try flushed()
    var cursor = Cursor(view.source, Schema.messages)
    let key = KeyEncoding.key(conversation, MessagePosition.firstPending)
    let prefix = key.bytes.slice(0, KeyEncoding.numberByteCount)
    try storage { () throws(PageFileError) in _ = try cursor.seek(key.bytes) }
    while cursor.isAtCell, cursor.keyHasPrefix(prefix) {
      found.append(try flushed().messages.position(cursor).id)
      try storage { () throws(PageFileError) in _ = try cursor.next() }
    }
    return found
  }

  /// Returns the numbers of conversations whose messages are still being moved to this one.
  func merging(into target: UInt32) throws(StoreError) -> [UInt32] {
    try transaction.workQueue.merges(into: target).map(\.work.conversation)
  }

  /// Removes messages up to a server time, one step at a time.
  ///
  /// Returns true when none is left.
  func trim(_ number: UInt32, upTo time: Int64) throws(StoreError) -> Bool {
    let summaryKey = KeyEncoding.key(number)
    // The conversation was deleted as a whole meanwhile.
    guard try transaction.isStored(number) else { return true }
    view.source.isErasing = true
    let conversation = try transaction.conversation(number)
    var key = ByteBuffer()
    var count = 0
    var isDone = false
    while !transaction.isStepFull(count, of: transaction.maximumSweepCount) {
      guard try flushed().firstKey(summaryKey.bytes, in: Schema.messages, to: &key) else {
        isDone = true
        break
      }
      guard let position = key.bytes.dropFirst(KeyEncoding.numberByteCount).position else {
        throw view.corrupt(Schema.messages, "key does not decode to a position")
      }
      if position.place.isPending || position.place.time > time {
        isDone = true
        break
      }
      count += try transaction.receivedMessages.takeOut(position, of: conversation)
    }
    if count > 0 { try transaction.pendingReceipts.updatePending(conversation) }
    if isDone { conversation.hideIfEmpty() }
    return isDone
  }
}

extension Transaction {
  var deletions: Deletions { Deletions(transaction: self) }
}

extension Deletions {
  /// Removes the remains of a deleted conversation, one step at a time.
  ///
  /// Returns true when nothing is left.
  func sweep(_ number: UInt32) throws(StoreError) -> Bool {
    view.source.isErasing = true
    let prefix = KeyEncoding.key(number)
    var count = 0
    for tree in Schema.treesByConversation {
      count += try removeAll(prefix.bytes, in: tree, limit: transaction.maximumSweepCount - count)
      if transaction.isStepFull(count, of: transaction.maximumSweepCount) { return false }
    }
    return true
  }

  /// Removes entries whose keys begin with a prefix, up to a limit, and returns their count.
  func removeAll(
    _ prefix: Bytes, in tree: TreeNumber, limit: Int = .max
  ) throws(StoreError) -> Int {
    var count = 0
    var key = ByteBuffer()
    while !transaction.isStepFull(count, of: limit),
      try flushed().firstKey(prefix, in: tree, to: &key)
    {
      count += 1
      if tree == Schema.facts, let parts = FactKey.parts(key.bytes), parts.kind == .waiting,
        try transaction.waitingMessages.takeWaiting(parts.id, in: parts.conversation) != nil
      {
        continue
      }
      if tree == Schema.facts { try transaction.messageFacts.unlistFact(key.bytes) }
      if tree == Schema.messages { try transaction.expiries.unlist(key.bytes) }
      if tree == Schema.index { try transaction.unlistEverywhere(key.bytes) }
      try transaction.remove(key.bytes, in: tree)
    }
    return count
  }
}
