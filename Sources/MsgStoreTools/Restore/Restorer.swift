package import MsgStore

/// Writes records into a new store, in the order they arrive.
package final class Restorer {
  /// The number of records in one commit: enough to share its cost, few enough to need little
  /// memory.
  private static let batchCount = 500
  /// The number of bytes of lines in one commit, give or take a line.
  ///
  /// A commit has to fit the memory that a write transaction may use, and whatever a line brings
  /// into the store is part of its bytes.
  private static let batchByteCount = 4 << 20

  private let isLenient: Bool
  private let numbersFromOrder: Bool
  private let localMember: MemberID?

  /// With `numbersFromOrder`, the last number assigned in each conversation.
  private var lastSequences: [ConversationID: Int64] = [:]
  /// The conversations with receipts.
  private var conversations: Set<ConversationID> = []
  /// The local member's reading state, from the receipts so far.
  private var readStates: [ConversationID: ReadState] = [:]
  /// True if the file lists the outbox.
  private var hasOutbox = false
  private var repeatedCount = 0

  private enum ReadState {
    /// Everything up to this message has been read, but the message has not come yet.
    case upTo(MessageID, line: Int)
    /// Messages that come from now on are unread.
    case behind
  }

  /// A record, the number of its line, for errors of the store, and the length of its line.
  private struct Line {
    let record: JSONRecord
    let number: Int
    let byteCount: Int
  }

  /// A reason to refuse a line whose number is added further up.
  private struct Refusal: Error {
    let reason: String

    init(_ reason: String) { self.reason = reason }
  }

  package init(isLenient: Bool, numbersFromOrder: Bool, localMember: MemberID?) {
    self.isLenient = isLenient
    self.numbersFromOrder = numbersFromOrder
    self.localMember = localMember
  }

  /// Writes everything that `reader` reads into the store that `makeStore` makes.
  ///
  /// - Parameter progress: Called before the first line, after each batch of lines, and after each
  ///   step of the compaction at the end.
  @discardableResult
  package func restore(
    _ reader: consuming JSONRecordReader,
    to makeStore: (StoreOptions) throws(StoreError) -> MessageStore,
    progress: (RestoreProgress) throws -> Void = { _ in }
  ) throws -> RestoreSummary {
    var reader = reader
    var done = RestoreProgress()
    try progress(done)
    var line = try nextLine(&reader)
    var options = StoreOptions()
    options.localMember = localMember
    // Outbox entries come from the file.
    options.outbox.isEnabled = false
    options.steps = .untimed
    options.prunesByItself = false
    var ofStore = JSONStore()
    if case .store(let stored)? = line?.record {
      try naming(reader.lineNumber) {
        try stored.localMember.validate()
        try stored.retention?.validate()
      }
      options.localMember = localMember ?? stored.localMember
      ofStore = stored
      line = try nextLine(&reader)
    }
    let store = try makeStore(options)
    while line != nil {
      var batch: [Line] = []
      var byteCount = 0
      while let next = line, batch.count < Self.batchCount, byteCount < Self.batchByteCount {
        batch.append(next)
        byteCount += next.byteCount
        line = try nextLine(&reader)
      }
      try store.write(.relaxed) { writer in
        for line in batch { try write(line, with: writer) }
      }
      (done.lineCount, done.byteCount) = (reader.lineNumber, reader.byteCount)
      try progress(done)
    }
    (done.lineCount, done.byteCount) = (reader.lineNumber, reader.byteCount)
    try checkReceipts()
    try finish(store, ofStore)
    done.stage = .compacting
    try store.compact { step in
      done.compaction = step
      try progress(done)
    }
    var summary = RestoreSummary(repeatedRecordCount: repeatedCount)
    summary.unknownLineCount = reader.passedOver.lineCount
    summary.unknownFieldCount = reader.passedOver.fieldCount
    try store.read { snapshot in
      try snapshot.forEachConversation { conversation in
        summary.conversationCount += 1
        summary.messageCount += conversation.messageCount
      }
    }
    try store.close()
    return summary
  }

  /// Lets the store derive the remaining state from everything written.
  private func finish(_ store: MessageStore, _ ofStore: JSONStore) throws {
    var rest = Array(conversations)[...]
    while !rest.isEmpty {
      let batch = rest.prefix(Self.batchCount)
      rest = rest.dropFirst(Self.batchCount)
      try store.write(.relaxed) { writer in
        for conversation in batch { try writer.finishRestoring(conversation) }
      }
    }
    var place = WaitingPlace()
    while try !store.write(
      .relaxed,
      { writer in
        try writer.enterWaiting(from: &place, messages: !hasOutbox, maximumCount: Self.batchCount)
      })
    {}
    try store.write(.relaxed) { writer in
      if let retention = ofStore.retention { try writer.restore(retention) }
      if ofStore.holdsNewEntries { try writer.outbox.setHoldsNewEntries(true) }
    }
  }

  private func nextLine(_ reader: inout JSONRecordReader) throws -> Line? {
    guard let record = try reader.next() else { return nil }
    return Line(
      record: record, number: reader.lineNumber, byteCount: reader.lineByteCount)
  }

  // MARK: One record

  /// Calls `body`, and names the line that it refuses.
  private func naming(_ line: Int, _ body: () throws -> Void) throws {
    do {
      try body()
    } catch let error as Refusal {
      throw StoreToolError.malformedLine(line: line, column: nil, reason: error.reason)
    } catch let error as StoreError {
      // Faults of the device are not the line's fault.
      if case .storage = error { throw error }
      throw StoreToolError.malformedLine(line: line, column: nil, reason: "\(error)")
    }
  }

  private func write(_ line: Line, with writer: borrowing StoreWriter) throws {
    try naming(line.number) { try write(line.record, line.number, with: writer) }
  }

  private func write(
    _ record: JSONRecord, _ number: Int, with writer: borrowing StoreWriter
  ) throws {
    switch record {
    case .store:
      throw Refusal("the store's own line must be the first")
    case .member(let profile):
      try writer.restore(profile)
    case .conversation(let conversation):
      try writer.restore(conversation)
    case .receipt(let receipt):
      try write(receipt, number, with: writer)
    case .message(let message):
      try write(message, with: writer)
    case .facts(let facts):
      try writer.restore(facts.facts, of: facts.message, in: facts.conversation)
    case .reaction(let reaction):
      try writer.restore(
        ExportedReaction(reaction.reaction, isRemoved: reaction.isRemoved),
        to: reaction.message, in: reaction.conversation)
    case .deleted(let deleted):
      try expectNew(
        try writer.restoreDeleted(deleted.id, in: deleted.conversation), deleted.id)
    case .waiting(let waiting):
      try expectNew(try writer.restore(waiting), waiting.id)
    case .draft(let draft):
      try writer.restore(draft)
    case .untold(let untold):
      try writer.restore(untold)
    case .sequences(let sequences):
      for run in sequences.known {
        try writer.declareAbsent(run, in: sequences.conversation)
      }
    case .sync(let sync):
      try write(sync, with: writer)
    case .outbox(let entry):
      hasOutbox = true
      if let conversation = entry.conversation { conversations.insert(conversation) }
      let isNew = try writer.restore(entry)
      guard isNew || isLenient else {
        throw Refusal("nothing to tell the server")
      }
      if !isNew { repeatedCount += 1 }
    case .unneededFile(let file):
      try writer.restoreUnneededFile(file.path)
    }
  }

  private func write(
    _ receipt: JSONReceipt, _ lineNumber: Int, with writer: borrowing StoreWriter
  ) throws {
    let conversation = receipt.conversation
    conversations.insert(conversation)
    if let member = receipt.member {
      return try writer.restore(receipt.receipts(of: member))
    }
    switch receipt.upTo {
    case nil:
      try writer.restore(receipt.marks(readMark: nil))
      readStates[conversation] = .behind
    case .place(let position):
      try writer.restore(receipt.marks(readMark: position))
      readStates[conversation] = .behind
    case .message(let id):
      try writer.restore(receipt.marks(readMark: nil))
      if let message = try writer.message(id, in: conversation) {
        _ = try writer.markRead(conversation, upTo: message.position)
        readStates[conversation] = .behind
      } else {
        readStates[conversation] = .upTo(id, line: lineNumber)
      }
    }
  }

  private func write(_ message: ExportedMessage, with writer: borrowing StoreWriter) throws {
    var message = message
    if numbersFromOrder { try number(&message) }
    let state = readStates[message.conversation]
    let arrival: Arrival = if case .behind? = state { .live } else { .history }
    try expectNew(try writer.restore(message, as: arrival), message.id)
    guard case .upTo(message.id, _)? = state else { return }
    if let stored = try writer.message(message.id, in: message.conversation) {
      _ = try writer.markRead(message.conversation, upTo: stored.position)
    }
    readStates[message.conversation] = .behind
  }

  private func write(_ sync: JSONSync, with writer: borrowing StoreWriter) throws {
    if let conversation = sync.conversation {
      try writer.setSyncPosition(sync.bytes, for: sync.key, in: conversation)
    } else {
      try writer.setSyncPosition(sync.bytes, for: sync.key)
    }
  }

  private func expectNew(_ isNew: Bool, _ id: MessageID) throws(Refusal) {
    guard isNew || isLenient else {
      throw Refusal("the message id \"\(id)\" is already present")
    }
    if !isNew { repeatedCount += 1 }
  }

  private func number(_ message: inout ExportedMessage) throws(Refusal) {
    guard message.serverTimestamp != nil else { return }
    guard message.sequence == nil else {
      throw Refusal("the message already has a sequence number")
    }
    let sequence = lastSequences[message.conversation, default: 0] + 1
    lastSequences[message.conversation] = sequence
    message.sequence = sequence
  }

  /// Checks that every receipt's message has come.
  ///
  /// A receipt may precede the message it names, but that message has to follow.
  private func checkReceipts() throws(StoreToolError) {
    let missing = readStates.values.compactMap { state -> (line: Int, id: MessageID)? in
      if case .upTo(let id, let line) = state { (line, id) } else { nil }
    }
    guard let first = missing.min(by: { $0.line < $1.line }), !isLenient else { return }
    throw .malformedLine(
      line: first.line, column: nil,
      reason: "receipt up to \"\(first.id)\": the conversation has no such message")
  }
}
