package import MsgStore
import PageFile

/// Writes records into a new store, in the order they come.
package final class Restorer {
  /// Records in one commit: enough to share its cost, few enough to need little memory.
  private static let batchCount = 500
  /// Bytes of text in one commit, give or take a message: a commit has to fit the memory that a
  /// write transaction may use.
  private static let batchByteCount = 4 << 20

  private let isLenient: Bool
  private let numbersFromOrder: Bool
  private let localMember: MemberID?

  private var progress = Progress()
  /// With `numbersFromOrder`, the number that was given last in each conversation.
  private var lastSequences: [ConversationID: Int64] = [:]
  /// What the local member has read, by the receipts so far.
  private var readStates: [ConversationID: ReadState] = [:]

  private enum ReadState {
    /// Everything up to this message has been read, and it has not come yet.
    case upTo(MessageID, line: Int)
    /// What comes now has not been read.
    case behind
  }

  /// A record and the number of its line, for the errors of the store.
  private struct Line {
    let record: JSONRecord
    let number: Int

    var textByteCount: Int {
      if case .message(let message) = record { message.text.utf8.count } else { 0 }
    }
  }

  package init(isLenient: Bool, numbersFromOrder: Bool, localMember: MemberID?) {
    self.isLenient = isLenient
    self.numbersFromOrder = numbersFromOrder
    self.localMember = localMember
  }

  /// Writes everything that `reader` reads into the store that `makeStore` makes.
  package func restore(
    _ reader: consuming JSONRecordReader,
    to makeStore: (StoreOptions) throws(StoreError) -> MessageStore
  ) throws {
    var reader = reader
    var line = try nextLine(&reader)
    var options = StoreOptions()
    options.localMember = localMember
    if case .store(let member)? = line?.record {
      options.localMember = localMember ?? member
      line = try nextLine(&reader)
    }
    let store = try makeStore(options)
    defer { progress.end() }
    while line != nil {
      var batch: [Line] = []
      var byteCount = 0
      while let next = line, batch.count < Self.batchCount, byteCount < Self.batchByteCount {
        batch.append(next)
        byteCount += next.textByteCount
        line = try nextLine(&reader)
      }
      try store.write(.relaxed) { writer in
        for line in batch { try write(line, with: writer) }
      }
      progress.show(lineCount: reader.lineNumber)
    }
    try checkReceipts()
    try store.checkpoint()
    try store.close()
  }

  private func nextLine(_ reader: inout JSONRecordReader) throws(ToolError) -> Line? {
    guard let record = try reader.next() else { return nil }
    return Line(record: record, number: reader.lineNumber)
  }

  // MARK: One record

  private func write(_ line: Line, with writer: borrowing StoreWriter) throws {
    do {
      switch line.record {
      case .store:
        throw ToolError.failure("the store's own line has to be the first")
      case .conversation(let id, let participants, let title):
        try writer.putConversation(id, participants: participants, title: title)
      case .receipt(let conversation, let upTo):
        try write(receiptOf: conversation, upTo: upTo, line.number, with: writer)
      case .message(let message):
        try write(message, with: writer)
      }
    } catch let error as ToolError {
      guard case .failure(let reason) = error else { throw error }
      throw ToolError.badLine(line: line.number, column: nil, reason: reason)
    } catch let error as StoreError {
      // The device's faults are no fault of the line's.
      if case .storage = error { throw error }
      throw ToolError.badLine(line: line.number, column: nil, reason: "\(error)")
    }
  }

  private func write(
    receiptOf conversation: ConversationID, upTo: MessageID?, _ lineNumber: Int,
    with writer: borrowing StoreWriter
  ) throws {
    guard let upTo else {
      readStates[conversation] = .behind
      return
    }
    if let message = try writer.message(upTo, in: conversation) {
      _ = try writer.markRead(conversation, upTo: message.position)
      readStates[conversation] = .behind
    } else {
      readStates[conversation] = .upTo(upTo, line: lineNumber)
    }
  }

  private func write(_ message: Message, with writer: borrowing StoreWriter) throws {
    var message = message
    if numbersFromOrder { try number(&message) }
    let state = readStates[message.conversation]
    let arrival: Arrival = if case .behind? = state { .live } else { .history }
    guard try writer.insert(message, as: arrival) == .inserted || isLenient else {
      throw ToolError.failure("the message id \"\(message.id)\" was there before")
    }
    guard case .upTo(message.id, _)? = state else { return }
    if let stored = try writer.message(message.id, in: message.conversation) {
      _ = try writer.markRead(message.conversation, upTo: stored.position)
    }
    readStates[message.conversation] = .behind
  }

  private func number(_ message: inout Message) throws(ToolError) {
    guard message.serverTimestamp != nil else { return }
    guard message.sequence == nil else {
      throw .failure("the message has a sequence number of its own")
    }
    let sequence = lastSequences[message.conversation, default: 0] + 1
    lastSequences[message.conversation] = sequence
    message.sequence = sequence
  }

  /// A receipt may stand before the message it names, which has to come then.
  private func checkReceipts() throws(ToolError) {
    let missing = readStates.values.compactMap { state -> (line: Int, id: MessageID)? in
      if case .upTo(let id, let line) = state { (line, id) } else { nil }
    }
    guard let first = missing.min(by: { $0.line < $1.line }), !isLenient else { return }
    throw .badLine(
      line: first.line, column: nil,
      reason: "the conversation has no message \"\(first.id)\" to be read up to")
  }
}
