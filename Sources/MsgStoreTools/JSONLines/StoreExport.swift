package import MsgStore

/// The records of a store's export.
package enum StoreExport {
  /// Calls `write` with all records, in the order in which a restore needs them.
  package static func records(
    of store: MessageStore, _ write: (JSONRecord) throws -> Void
  ) throws {
    try records(of: store, scope: ExportScope(), write, progress: { _ in })
  }

  /// Calls `write` with all records of a part, in the order in which a restore needs them.
  ///
  /// Reads one moment of the store, conversation by conversation, oldest first: those without
  /// activity are listed by age, so their order has to be kept.
  package static func records(
    of store: MessageStore, scope: ExportScope, _ write: (JSONRecord) throws -> Void,
    progress: (ExportProgress) throws -> Void
  ) throws {
    try withoutActuallyEscaping(write) { write in
      try withoutActuallyEscaping(progress) { progress in
        try store.readOneMoment { snapshot in
          try ExportRun(scope: scope, write: write, progress: progress)
            .run(snapshot, localMember: store.localMember)
        }
      }
    }
  }
}

/// One export: it hands out records, and counts the messages that they have passed.
private final class ExportRun {
  /// The number of runs in one line: a line has to fit in memory.
  private static let runCount = 1000
  /// The number of unneeded files read at once.
  private static let fileCount = 100
  /// The number of records, or of messages left out, between two calls of `progress`.
  private static let progressCount = 1000

  private let scope: ExportScope
  private let consume: (JSONRecord) throws -> Void
  private let progress: (ExportProgress) throws -> Void
  private var done = ExportProgress()
  private var countSinceProgress = 0
  /// The messages of the conversations before the current one, and of this one.
  private var countBefore = 0
  private var statedCount = 0

  init(
    scope: ExportScope, write: @escaping (JSONRecord) throws -> Void,
    progress: @escaping (ExportProgress) throws -> Void
  ) {
    self.scope = scope
    consume = write
    self.progress = progress
  }

  func run(_ snapshot: borrowing StoreSnapshot, localMember: MemberID?) throws {
    snapshot.refuseSharedChains()
    var only: ExportedConversation?
    if let id = scope.conversation {
      only = try snapshot.exportedConversation(id)
      guard only != nil else { throw StoreError.conversation(.notFound, id) }
    }
    try snapshot.forEachMessageCount(in: only?.id) { count in
      done.totalConversationCount += 1
      done.totalMessageCount = done.totalMessageCount.clampedSum(count)
    }
    try progress(done)
    if let localMember {
      var line = JSONStore(localMember: localMember)
      if only == nil {
        line.holdsNewEntries = try snapshot.outbox.holdsNewEntries
        let rule = try snapshot.retention
        line.retention = rule == .everything ? nil : rule
      }
      try write(.store(line))
    }
    guard try !snapshot.isMergingConversations else { throw StoreToolError.mergeUnderWay }
    if only == nil { try snapshot.forEachExportedProfile { try write(.member($0)) } }
    if let only {
      try writeConversation(only, snapshot)
    } else {
      try snapshot.forEachExportedConversation { try writeConversation($0, snapshot) }
    }
    try snapshot.forEachWaiting { waiting in
      guard only.map({ $0.id == waiting.conversation }) ?? true else { return }
      if let since = scope.since, let time = waiting.serverTimestamp, time < since { return }
      try waiting.forEachRecord(write)
    }
    if only == nil, scope.since == nil {
      for position in try snapshot.syncPositions() {
        try write(.sync(JSONSync(position, in: nil)))
      }
      try writeUnneededFiles(snapshot)
    }
    try snapshot.forEachExportedEntry { entry in
      guard only.map({ $0.id == entry.conversation }) ?? true,
        try !isLeftOut(entry.message, in: entry.conversation, snapshot)
      else { return }
      try write(.outbox(entry))
    }
    try progress(done)
  }

  private func writeUnneededFiles(_ snapshot: borrowing StoreSnapshot) throws {
    var last: String?
    while case let paths = try snapshot.unneededFiles(count: Self.fileCount, after: last),
      !paths.isEmpty
    {
      for path in paths { try write(.unneededFile(JSONFile(path))) }
      last = paths.last
    }
  }

  private func writeConversation(
    _ conversation: ExportedConversation, _ snapshot: borrowing StoreSnapshot
  ) throws {
    statedCount = 0
    try snapshot.forEachMessageCount(in: conversation.id) { statedCount = $0 }
    try write(.conversation(conversation))
    try writeContents(of: conversation.id, snapshot)
    countBefore = countBefore.clampedSum(statedCount)
    done.messageCount = min(countBefore, done.totalMessageCount)
    done.conversationCount = min(done.conversationCount + 1, done.totalConversationCount)
    try step()
  }

  private func writeContents(
    of id: ConversationID, _ snapshot: borrowing StoreSnapshot
  ) throws {
    if let draft = try snapshot.exportedDraft(of: id) { try write(.draft(draft)) }
    if let marks = try snapshot.exportedMarks(of: id) { try write(.receipt(JSONReceipt(marks))) }
    for receipts in try snapshot.exportedReceipts(of: id) {
      try write(.receipt(JSONReceipt(receipts)))
    }
    var passedCount = 0
    var leftOut: Int64?
    if let since = scope.since {
      try snapshot.forEachPlace(in: id, before: since) { place in
        if let sequence = place.sequence { leftOut = max(leftOut ?? sequence, sequence) }
        passedCount += 1
        pass(passedCount)
        try step()
      }
    }
    var sequences: [Int64] = []
    try snapshot.forEachExportedMessage(in: id, since: scope.since) { message in
      passedCount += 1
      pass(passedCount)
      try message.forEachRecord(write)
      if message.serverTimestamp != nil, let sequence = message.sequence {
        sequences.append(sequence)
      }
    }
    try writeSequences(beside: sequences.sorted(), above: leftOut, in: id, snapshot)
    try snapshot.forEachDeletedID(in: id) { try write(.deleted(JSONDeleted($0, in: id))) }
    for untold in try snapshot.exportedUntold(of: id)
    where try !isLeftOut(untold.message, in: id, snapshot) {
      try write(.untold(untold))
    }
    if scope.since == nil {
      for position in try snapshot.syncPositions(in: id) {
        try write(.sync(JSONSync(position, in: id)))
      }
    }
  }

  /// Returns true if a message is here and earlier than the scope.
  private func isLeftOut(
    _ message: MessageID?, in conversation: ConversationID?, _ snapshot: borrowing StoreSnapshot
  ) throws -> Bool {
    guard let since = scope.since, let message, let conversation,
      let place = try snapshot.place(of: message, in: conversation), !place.isPending
    else { return false }
    return place.time < since.microseconds
  }

  /// Writes the known sequence numbers that no message shows, given the shown ones in order.
  ///
  /// - Parameter leftOut: The greatest number of a message left out. Of the numbers up to it none
  ///   may be declared: some belong to messages that are still to be fetched.
  private func writeSequences(
    beside shown: [Int64], above leftOut: Int64?, in id: ConversationID,
    _ snapshot: borrowing StoreSnapshot
  ) throws {
    var shown = shown[...]
    var hidden: [ClosedRange<Int64>] = []
    var last: Int64?
    func hide(_ run: ClosedRange<Int64>) {
      guard let leftOut else { return hidden.append(run) }
      if run.upperBound > leftOut {
        hidden.append(max(run.lowerBound, leftOut + 1)...run.upperBound)
      }
    }
    while case let runs = try snapshot.exportedSequences(of: id, count: Self.runCount, after: last),
      let end = runs.last?.upperBound
    {
      for run in runs {
        var first: Int64? = run.lowerBound
        while let next = shown.first, next <= run.upperBound {
          shown.removeFirst()
          if let begin = first, begin < next { hide(begin...next - 1) }
          first = next == .max ? nil : next + 1
        }
        if let begin = first, begin <= run.upperBound { hide(begin...run.upperBound) }
      }
      while hidden.count >= Self.runCount {
        try write(.sequences(JSONSequences(Array(hidden.prefix(Self.runCount)), in: id)))
        hidden.removeFirst(Self.runCount)
      }
      last = end
    }
    if !hidden.isEmpty { try write(.sequences(JSONSequences(hidden, in: id))) }
  }

  // MARK: Progress

  private func write(_ record: JSONRecord) throws {
    try consume(record)
    try step()
  }

  /// Counts the messages of the current conversation; never more than its summary states, so that
  /// the last progress is the total.
  private func pass(_ count: Int) {
    done.messageCount = min(
      countBefore.clampedSum(min(count, statedCount)), done.totalMessageCount)
  }

  private func step() throws {
    countSinceProgress += 1
    guard countSinceProgress >= Self.progressCount else { return }
    countSinceProgress = 0
    try progress(done)
  }
}

extension Int {
  /// Returns the sum with a count, or the greatest number if a damaged store's counts exceed it.
  fileprivate func clampedSum(_ count: Int) -> Int {
    let (sum, isOver) = addingReportingOverflow(Swift.max(count, 0))
    return isOver ? .max : sum
  }
}
