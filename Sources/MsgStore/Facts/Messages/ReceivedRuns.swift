import PageFile

/// Stores runs of new messages of one conversation at once.
///
/// Imports, first syncs, and pages of history bring them. Everything becomes as if the messages had
/// been stored one after the other (`ReceivedMessages`). A run has only messages of which that is
/// certain beforehand, so nothing is decided in its middle:
///
///  1. All are acknowledged, and none is retracted, expires, or failed to be sent. Places ascend.
///  2. None of the names is known, nothing waits for a message, and nothing was deleted with the
///     conversation.
///  3. No message of the store lies between them. If they come live, they lie behind all marks made
///     here.
///
/// Names are then entered in their own order, with one descent for each leaf, and the summary sees
/// the last message only, since each of the others would be replaced by the next one. A run before
/// other messages is packed at once.
struct ReceivedRuns: TransactionPart {
  let transaction: Transaction

  /// The limits on the messages of one run.
  private static let maximumCount = 1000
  private static let maximumTextByteCount = 1 << 20
  /// The number of messages from which on a run before other messages is packed at once.
  private static let minimumOlderCount = 16

  /// Returns the number of messages, from the first on, that may be one run by rule 1.
  static func count(_ messages: ArraySlice<Message>) -> Int {
    guard let first = messages.first else { return 0 }
    var previous: MessagePosition?
    var count = 0
    var textByteCount = 0
    for message in messages.prefix(maximumCount) {
      guard isLasting(message), let position = position(of: message),
        message.conversation.string.hasSameBytes(as: first.conversation.string)
      else { break }
      if let previous, previous >= position { break }
      textByteCount += message.text.utf8.count
      if textByteCount > maximumTextByteCount { break }
      previous = position
      count += 1
    }
    return count
  }

  /// Returns false for a retracted or expiring message, and for one with a state of sending.
  private static func isLasting(_ message: Message) -> Bool {
    guard let rare = message.rare?.fields else { return true }
    return !rare.isRetracted && rare.expiresAt == nil && rare.failure == nil && rare.retryAt == nil
      && rare.retryCount == 0
  }

  private static func position(of message: Message) -> MessagePosition? {
    guard let time = message.serverTimestamp else { return nil }
    return MessagePosition(
      .acknowledged(time.microseconds, sequence: message.sequence), message.id)
  }

  /// Stores the beginning of a run that `count` has found.
  ///
  /// Returns the number of messages stored: 0 if they have to be stored one after the other.
  func insert(_ messages: ArraySlice<Message>, as arrival: Arrival) throws(StoreError) -> Int {
    guard let first = messages.first, let start = Self.position(of: first),
      !transaction.waitingMessages.hasWaiting
    else { return 0 }
    let conversation = try transaction.conversation(first.conversation) {
      ConversationDetails(id: first.conversation)
    }
    guard conversation.summary.deletedUpTo == nil else { return 0 }
    if arrival == .live, try transaction.receivedMessages.leavesArchive(conversation) { return 0 }
    if arrival == .live, try transaction.receipts.isMarked(start, in: conversation) {
      return 0
    }
    let isBehindAll = try transaction.messages.isBehindAll(start, in: conversation)
    guard isBehindAll || messages.count >= Self.minimumOlderCount else { return 0 }
    let messages = try newOnes(messages, in: conversation)
    guard messages.count > 1, let last = messages.last, let end = Self.position(of: last) else {
      return 0
    }
    if !isBehindAll {
      guard messages.count >= Self.minimumOlderCount, rules.packs,
        try transaction.packer.isFree(from: start, to: end, in: conversation)
      else { return 0 }
    }
    transaction.hasAdded = true
    conversation.raiseGreatestPosition(to: end)
    transaction.noteHeard(end.place.time)
    conversation.reveal()
    try noteSequences(of: messages, in: conversation)
    let older: OlderRun? = isBehindAll ? nil : OlderRun()
    let stored = try put(messages, as: arrival, to: older, in: conversation)
    if let older { try transaction.packer.pack(older) }
    if isBehindAll { conversation.placedCount += messages.count }
    guard let stored else { return messages.count }
    try transaction.summaries.inserted(
      messages.count, last: stored, at: end, in: conversation)
    if memory.unwritten.isFull { try transaction.packer.packGrown() }
    try transaction.receipts.applySequenceMarks(
      at: messages.lazy.compactMap(Self.position), in: conversation)
    return messages.count
  }

  /// Returns the messages up to the first whose name is known, or was that of one before it.
  ///
  /// Names that ascend, as some servers give them, take one lookup; others one each.
  private func newOnes(
    _ messages: ArraySlice<Message>, in conversation: OpenConversation
  ) throws(StoreError) -> ArraySlice<Message> {
    guard let first = messages.first else { return messages }
    if Self.haveAscendingNames(messages) {
      if let greatest = conversation.greatestName, greatest < first.id { return messages }
      guard let known = try view.ids.firstName(from: first.id, in: conversation.number) else {
        conversation.greatestName = first.id
        return messages
      }
      return messages.prefix { $0.id < known }
    }
    var names: Set<MessageID> = []
    names.reserveCapacity(messages.count)
    var count = 0
    for message in messages {
      guard names.insert(message.id).inserted || StoreDefect.repeatedNameEntered.isPlanted,
        try transaction.messageNames.entry(of: message.id, in: conversation) == nil
      else { break }
      count += 1
    }
    return messages.prefix(count)
  }

  private static func haveAscendingNames(_ messages: ArraySlice<Message>) -> Bool {
    zip(messages, messages.dropFirst()).allSatisfy { $0.id < $1.id }
  }

  private func noteSequences(
    of messages: ArraySlice<Message>, in conversation: OpenConversation
  ) throws(StoreError) {
    let numbers = messages.compactMap(\.sequence)
    guard let first = numbers.first, let last = numbers.last else { return }
    let isConsecutive = zip(numbers, numbers.dropFirst()).allSatisfy { $1 &- $0 == 1 && $1 > $0 }
    if isConsecutive {
      _ = try transaction.sequences.note(sequences: first...last, in: conversation)
    } else {
      for number in numbers {
        try transaction.sequences.note(sequence: number, in: conversation)
      }
    }
  }

  /// Stores records and names, and counts the unread messages.
  ///
  /// Returns the last message as it was stored.
  private func put(
    _ messages: ArraySlice<Message>, as arrival: Arrival, to older: OlderRun?,
    in conversation: OpenConversation
  ) throws(StoreError) -> StoredMessage? {
    var names = CellRun()
    let areAscending = Self.haveAscendingNames(messages)
    var key = ByteBuffer(capacity: 64)
    var value = ByteBuffer(capacity: 1024)
    var last: StoredMessage?
    let first = messages.first.flatMap(Self.position)
    if let first { memory.noteCountChange(at: first, in: conversation.number) }
    let mark = Self.mark(over: first, as: arrival, in: conversation)
    for index in messages.indices {
      let message = messages[index]
      guard let position = Self.position(of: message) else { continue }
      key.removeAll()
      value.removeAll()
      key.append(bigEndian: conversation.number)
      key.append(position)
      let isPlain =
        message.replyTo == nil && message.rare == nil
        && message.text.utf8.count < TextCompression.byteCountMin
      if isPlain, index + 1 < messages.endIndex {
        // Most messages have only a short text. They are written without being made first.
        let record = StoredMessage.appendPlain(
          message.text, from: try transaction.memberNumber(of: message.sender),
          max(message.status, .sent), arrival == .history ? .history : [],
          localTime: message.localTime?.microseconds,
          markOrdinal: mark.flatMap { position <= $0.position ? $0.ordinal : nil },
          at: position.place, to: &value)
        conversation.summary.countInserted(record, at: position, for: localMember)
        if value.bytes.dropFirst(value.count - record.textByteCount).hasLink {
          try transaction.enterLink(at: position, in: conversation.number)
        }
      } else {
        var stored = try transaction.receivedMessages.stored(message, arrival)
        if let mark, position <= mark.position { stored.markOrdinal = mark.ordinal }
        try transaction.receivedMessages.addFacts(
          of: message, named: message.id, in: conversation.number, to: &stored)
        stored.appendChecked(at: position.place, to: &value)
        conversation.summary.countInserted(stored, at: position, for: localMember)
        let keys = MessageKeys(of: stored, at: position, in: conversation.number, for: localMember)
        try transaction.change(MessageKeys(), to: keys)
        last = stored
      }
      if let older {
        older.append(key.bytes, value.bytes)
      } else {
        memory.unwritten.append(key.bytes, value.bytes, to: conversation)
      }
      if areAscending { append(position, to: &names, &key, &value) }
      if transaction.hasListeners {
        transaction.notes.inserted(position.id, at: position, in: conversation.number)
      }
    }
    if areAscending {
      if let name = messages.last?.id { conversation.raiseGreatestName(to: name) }
    } else {
      key.removeAll()
      key.append(bigEndian: conversation.number)
      let order = messages.indices.sorted { messages[$0].id < messages[$1].id }
      for position in order.lazy.compactMap({ Self.position(of: messages[$0]) }) {
        append(position, to: &names, &key, &value)
      }
      if let last = order.last { conversation.raiseGreatestName(to: messages[last].id) }
    }
    _ = try storage { () throws(PageFileError) in try BTree(view.source, Schema.ids).apply(names) }
    return last
  }

  /// Returns the mark made here if a run begins at or below it, as only one of history may.
  private static func mark(
    over first: MessagePosition?, as arrival: Arrival, in conversation: OpenConversation
  ) -> (position: MessagePosition, ordinal: UInt64)? {
    guard arrival == .history, let first, let mark = conversation.summary.mark, first <= mark else {
      return nil
    }
    return (mark, conversation.summary.markOrdinal)
  }

  /// Appends the entry of a message's name to a run of them; the key begins with the conversation.
  private func append(
    _ position: MessagePosition, to names: inout CellRun, _ key: inout ByteBuffer,
    _ value: inout ByteBuffer
  ) {
    key.truncate(to: KeyEncoding.numberByteCount)
    value.removeAll()
    key.append(position.id)
    IDEntry.append(position.place, to: &value)
    assert(Schema.canRead(key.bytes, value.bytes, in: Schema.ids), "ids: malformed cell")
    names.append(key.bytes, value.bytes)
  }
}

extension Transaction {
  var receivedRuns: ReceivedRuns { ReceivedRuns(transaction: self) }

  /// Stores messages that were validated, one after the other, and returns their outcomes.
  func insert(
    valid messages: [Message], as arrival: Arrival
  ) throws(StoreError) -> [InsertOutcome] {
    var outcomes: [InsertOutcome] = []
    outcomes.reserveCapacity(messages.count)
    while outcomes.count < messages.count {
      let start = outcomes.count
      let run = messages[start..<start + ReceivedRuns.count(messages[start...])]
      if run.count > 1 {
        let count = try perform(try receivedRuns.insert(run, as: arrival))
        outcomes += repeatElement(.inserted, count: count)
        if count > 0 { continue }
      }
      // A run that cannot be stored at once is not looked at again from its second message on.
      for message in messages[start..<start + max(1, run.count)] {
        outcomes.append(try perform(try receivedMessages.insert(valid: message, as: arrival)))
      }
    }
    return outcomes
  }
}
