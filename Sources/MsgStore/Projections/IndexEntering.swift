import PageFile

/// Enters the messages of a store that an older version has written into the indexes which follow
/// from them, in steps.
///
///  1. Conversations go by descending numbers, each from its newest message back: the order of the
///     messages tree backwards. One walk serves all indexes.
///  2. Up to where a step has come, the indexes are complete; below, they have no entries. Changes
///     of messages there enter nothing, so no message is entered twice.
///  3. The record of the work says how far it has come, and goes in the commit of the last step.
///  4. A message or a segment that cannot be read is passed over: nobody else can read it either,
///     and `check` reports it.
struct IndexEntering: TransactionPart {
  let transaction: Transaction

  /// The messages that are entered.
  var entered: EnteredMessages {
    get throws(StoreError) {
      if let known = memory.enteredMessages { return known }
      let entered = try view.work.enteredMessages()
      memory.enteredMessages = entered
      return entered
    }
  }

  /// Notes that no message is entered yet, if there are any.
  func begin() throws(StoreError) {
    guard view.source.root(of: Schema.messages) != .none else { return }
    // Conversations that come later have this number or a higher one.
    let next = try view.source.value(of: .nextConversation) ?? 1
    try noteProgress(.from(conversation: UInt32(clamping: next), .beforeAll))
  }

  /// Enters some messages, and ends the work after the last.
  func step() throws(StoreError) {
    guard case .from(let number, let first) = try entered else { return }
    transaction.hasAdded = true
    var found = Found()
    let reached = try look(before: first, in: number, for: &found)
    for (conversation, entry) in found.replies {
      try transaction.replies.enter(entry, in: conversation)
    }
    for (conversation, tags, moment) in found.tags {
      try transaction.tags.changeEntries(of: tags, at: moment, in: conversation, by: 1)
    }
    try noteProgress(reached)
    guard transaction.hasListeners else { return }
    let last = if case .from(let last, _) = reached { last } else { UInt32(0) }
    // Conversations without entries are told of, too: readers say that all of them are known now.
    try noteEntered(from: last, through: number)
  }

  /// The entries of some messages, index by index.
  private struct Found {
    var replies: [(conversation: UInt32, entry: Replies.Entry)] = []
    var tags: [(conversation: UInt32, tags: TagSet, moment: ThreadMoment)] = []
  }

  /// Finds the entries of one message.
  private func look(
    at record: MessageRecord, _ position: MessagePosition, in conversation: UInt32,
    for found: inout Found
  ) throws(StoreError) {
    if let answered = try view.replies.shownReply(of: record) {
      found.replies.append((conversation, Replies.Entry(answered, position.place)))
    }
    let tags = try view.messages.tags(of: record, at: position, in: conversation)
    if !tags.isEmpty { found.tags.append((conversation, tags, ThreadMoment(position.place))) }
  }

  /// Looks at the messages before a position, back to where the step is full.
  ///
  /// The trees do not change meanwhile.
  private func look(
    before first: MessagePosition, in number: UInt32, for found: inout Found
  ) throws(StoreError) -> EnteredMessages {
    var cursor = MessageCursor(try flushed())
    let start = KeyEncoding.key(number, first)
    var reached = EnteredMessages.from(conversation: number, first)
    var isThere = try cursor.seekReadable(before: start.bytes)
    var key = ByteBuffer(capacity: 64)
    var value = ByteBuffer(capacity: 256)
    var count = 0
    while isThere, !transaction.isStepFull(count, of: transaction.maximumSweepCount) {
      key.removeAll()
      try cursor.appendKey(to: &key)
      // A malformed key names no position to go on from. Of a malformed segment, messages may lie
      // behind the next one.
      if let conversation = key.bytes.bigEndianNumber(at: 0),
        let position = key.bytes.dropFirst(KeyEncoding.numberByteCount).position,
        !reached.covers(position, in: conversation)
      {
        count += 1
        reached = .from(conversation: conversation, position)
        do throws(StoreError) {
          if let record = try cursor.record(&value) {
            try look(at: record, position, in: conversation, for: &found)
          }
        } catch .corruptRecord {}
      }
      isThere = try cursor.previousReadable()
    }
    return isThere ? reached : .all
  }

  private func noteProgress(_ entered: EnteredMessages) throws(StoreError) {
    let key = WorkRecord.key(WorkRecord.enteringOrdinal)
    switch entered {
    case .all: try transaction.remove(key, in: Schema.work)
    case .from(let conversation, let position):
      try transaction.put(WorkRecord(.enter(from: position), of: conversation), at: key)
    }
    memory.enteredMessages = entered
  }

  /// Tells listeners of a range of conversations, lowest first.
  private func noteEntered(from last: UInt32, through first: UInt32) throws(StoreError) {
    var cursor = Cursor(view.source, Schema.conversations)
    var number = max(last, 1) - 1
    while let next = try view.conversations.nextConversation(after: number, &cursor),
      next <= first
    {
      transaction.notes.lookupsChanged(in: next)
      number = next
    }
  }
}

extension Transaction {
  var indexEntering: IndexEntering { IndexEntering(transaction: self) }
}
