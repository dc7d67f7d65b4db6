package import MsgStore
import MsgStoreTools

/// The records of a store's export.
package enum StoreExport {
  /// The number of runs in one line: a line has to fit in memory.
  private static let runCount = 1000

  /// Calls `write` with all records, in the order in which a restore needs them.
  ///
  /// Reads one moment of the store, conversation by conversation, oldest first: those without
  /// activity are listed by age, so their order has to be kept.
  package static func records(
    of store: MessageStore, _ write: (JSONRecord) throws -> Void
  ) throws {
    try store.readOnce { snapshot in
      snapshot.refuseSharedChains()
      if let localMember = store.localMember {
        var line = JSONStore(localMember: localMember)
        line.holdsNewEntries = try snapshot.outbox.holdsNewEntries
        try write(.store(line))
      }
      guard try !snapshot.isMergingConversations else {
        throw ToolError.failure(
          "two conversations are being merged; let the store's owner finish that, and try again")
      }
      try snapshot.forEachExportedConversation { conversation in
        try write(.conversation(conversation))
        try records(in: conversation.id, snapshot, write)
      }
      try snapshot.forEachWaiting { waiting in
        try waiting.forEachRecord(write)
      }
      for position in try snapshot.syncPositions() {
        try write(.sync(JSONSync(position, in: nil)))
      }
      try snapshot.forEachExportedEntry { try write(.outbox($0)) }
    }
  }

  private static func records(
    in id: ConversationID, _ snapshot: borrowing StoreSnapshot,
    _ write: (JSONRecord) throws -> Void
  ) throws {
    if let draft = try snapshot.exportedDraft(of: id) { try write(.draft(draft)) }
    if let marks = try snapshot.exportedMarks(of: id) { try write(.receipt(JSONReceipt(marks))) }
    for receipts in try snapshot.exportedReceipts(of: id) {
      try write(.receipt(JSONReceipt(receipts)))
    }
    var sequences: [Int64] = []
    try snapshot.forEachExportedMessage(in: id) { message in
      try message.forEachRecord(write)
      if message.serverTimestamp != nil, let sequence = message.sequence {
        sequences.append(sequence)
      }
    }
    try writeSequences(beside: sequences.sorted(), in: id, snapshot, write)
    try snapshot.forEachDeletedID(in: id) { try write(.deleted(JSONDeleted($0, in: id))) }
    for untold in try snapshot.exportedUntold(of: id) { try write(.untold(untold)) }
    for position in try snapshot.syncPositions(in: id) {
      try write(.sync(JSONSync(position, in: id)))
    }
  }

  /// Writes the known sequence numbers that no message shows, given the shown ones in order.
  private static func writeSequences(
    beside shown: [Int64], in id: ConversationID, _ snapshot: borrowing StoreSnapshot,
    _ write: (JSONRecord) throws -> Void
  ) throws {
    var shown = shown[...]
    var hidden: [ClosedRange<Int64>] = []
    var last: Int64?
    while case let runs = try snapshot.exportedSequences(of: id, count: runCount, after: last),
      let end = runs.last?.upperBound
    {
      for run in runs {
        var first: Int64? = run.lowerBound
        while let next = shown.first, next <= run.upperBound {
          shown.removeFirst()
          if let begin = first, begin < next { hidden.append(begin...next - 1) }
          first = next == .max ? nil : next + 1
        }
        if let begin = first, begin <= run.upperBound { hidden.append(begin...run.upperBound) }
      }
      while hidden.count >= runCount {
        try write(.sequences(JSONSequences(Array(hidden.prefix(runCount)), in: id)))
        hidden.removeFirst(runCount)
      }
      last = end
    }
    if !hidden.isEmpty { try write(.sequences(JSONSequences(hidden, in: id))) }
  }
}
