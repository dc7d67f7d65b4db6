import MsgStore
import PageFile
import PageFileSalvage

/// The salvage of the outbox: entries are entered anew, held, if their subject has been saved.
///
///  1. Only the entries themselves are read; all indexes and counts are made anew.
///  2. If entries are lost, pending messages of the local member get new entries; otherwise they
///     would never be sent.
extension MessageSalvage {
  func saveOutbox(in store: MessageStore, _ progress: Progress) throws {
    clock.created = nil
    // The sum of the lanes stands in for the counts of all, which a lost meta slot may take along.
    var laneSum: Int?
    try forEachCell(of: Schema.work, in: store, progress) { (cursor, writer) throws(StoreError) in
      if cursor.key.count == 5, cursor.key[0] == OutboxKey.conversationPrefix,
        let number = cursor.key.bigEndianNumber(at: 1), let lane = OutboxLane(cursor.value),
        work.outboxSweeps[number].map(\.isMerge) ?? true
      {
        laneSum = (laneSum ?? 0) + lane.counts.total
      }
      guard cursor.key.count > 0, cursor.key[0] == OutboxKey.entryPrefix else { return 0 }
      return try saveEntry(cursor, with: writer)
    }
    let (entryCount, isKnown) = entryCount(laneSum)
    report.lostEntryCount = max(0, entryCount - report.entryCount - goneEntryCount)
    if !isKnown { report.repairs.append("the outbox entry count is lost") }
    let messages = !isKnown || report.lostEntryCount > 0
    var place = WaitingPlace()
    while try !store.write(
      .relaxed,
      { writer in
        try writer.enterWaiting(from: &place, messages: messages, maximumCount: Self.batchCount)
      })
    {}
    switch source.word(.holdsNewEntries) {
    case 0?: break
    case nil where report.entryCount == 0: break
    case nil: report.repairs.append("new outbox entries may have been held; they are not any more")
    default: try store.write(.relaxed) { try $0.outbox.setHoldsNewEntries(true) }
    }
  }

  /// Returns the number of the old store's entries, and whether it is known.
  ///
  /// - Parameter laneSum: The number by the lanes that were found; nil if none was.
  private func entryCount(_ laneSum: Int?) -> (count: Int, isKnown: Bool) {
    let counts: [StoreWord] = [
      .queuedEntries, .heldEntries, .runningEntries, .waitingEntries, .failedEntries,
    ]
    if counts.allSatisfy({ source.word($0) != nil }) {
      return (OutboxTotals { source.word($0) ?? 0 }.counts.total, true)
    }
    let isLost = source.report.lostPages.contains {
      $0.tree == Schema.work.rawValue || $0.tree == nil && laneSum == nil
    }
    return (laneSum ?? 0, !isLost)
  }

  private func saveEntry(
    _ cursor: SalvageCursor, with writer: borrowing StoreWriter
  ) throws(StoreError) -> Int {
    guard cursor.lostReason == nil, var record = OutboxRecord(cursor.value) else {
      lost.add(cursor, Schema.work, cursor.lostReason ?? "malformed outbox entry")
      return 0
    }
    let sweep = work.outboxSweeps[record.conversation]
    if let sweep {
      guard let kept = sweep.kept(record) else { return cursor.value.count }
      record = kept
    }
    var id: ConversationID?
    if record.conversation != 0 {
      guard let known = conversation(record.conversation, cursor, Schema.work) else { return 0 }
      id = known
    }
    let entry = ExportedEntry(record, in: id, member: names.member)
    let isSaved = try saving(cursor, Schema.work) { () throws(StoreError) in
      try writer.restore(entry, isComplete: true)
    }
    if isSaved == true {
      report.entryCount += 1
      // The totals exclude entries that a deleted conversation has left.
      if let sweep, !sweep.isMerge { goneEntryCount -= 1 }
    }
    if isSaved == false {
      if try isThere(entry, with: writer) {
        goneEntryCount += 1
      } else if cursor.isCertain {
        lost.add(cursor, Schema.work, "its subject is lost")
      }
    }
    return cursor.value.count
  }

  /// Returns true if the subject of an entry has been saved: the entry then had nothing left to
  /// tell.
  private func isThere(
    _ entry: ExportedEntry, with writer: borrowing StoreWriter
  ) throws(StoreError) -> Bool {
    guard let conversation = entry.conversation, let message = entry.message else { return true }
    return try writer.message(message, in: conversation) != nil
  }
}
