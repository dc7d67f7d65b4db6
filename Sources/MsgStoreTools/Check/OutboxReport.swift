package import MsgStore
import PageFile

/// An outbox entry, for tools that show it.
package struct ReportedEntry: Sendable {
  /// The entry as clients see it.
  package let entry: OutboxEntry
  /// True if the entry waits for no other: it is the next of its lane, or in no lane.
  package let isNext: Bool
  /// The entry as an export has it.
  package let exported: ExportedEntry
}

extension StoreSnapshot {
  /// Calls `body` with each outbox entry of one conversation or all, in the order of entering.
  package func forEachReportedEntry(
    in conversation: ConversationID?, _ body: (ReportedEntry) throws -> Void
  ) throws {
    var next: OutboxEntry.ID?
    repeat {
      let slice = try outbox.entries(in: conversation, count: 200, from: next)
      for entry in slice.entries {
        let reported = try within { (view) throws(StoreError) in
          let record = try view.outbox.indexedEntry(entry.id.rawValue)
          return ReportedEntry(
            entry: entry, isNext: try view.outbox.isNext(record, entry.id.rawValue),
            exported: try view.exports.exported(record))
        }
        try body(reported)
      }
      next = slice.next
    } while next != nil
  }
}

extension OutboxKey {
  /// Returns a readable form of an outbox key, or nil if the bytes are not a valid key.
  static func describe(_ key: Bytes) -> String? {
    guard key.count > 0 else { return nil }
    let number = key.bigEndianNumber(at: 1)
    switch (key[0], key.count, number) {
    case (entryPrefix, 9, _): return "entry \(key.bigEndian64(at: 1))"
    case (listPrefix, 13, let number?): return "of \(number), entry \(key.bigEndian64(at: 5))"
    case (lanePrefix, 13, let number?): return "lane of \(number), entry \(key.bigEndian64(at: 5))"
    case (duePrefix, _, _):
      return timeParts(key).map { "due \($0.time) µs, entry \($0.ordinal)" }
    case (schedulePrefix, _, _):
      return timeParts(key, schedulePrefix).map {
        "scheduled for \($0.time) µs, entry \($0.ordinal)"
      }
    case (messagePrefix, 15..., let number?):
      let id = key.slice(6, key.count - 14)
      guard Int(key[5]) == id.count else { return nil }
      let name = id.repairedText()
      return "of \(number) \"\(name)\", entry \(key.bigEndian64(at: key.count - 8))"
    case (laneRecordPrefix, 5, let number?): return "lane of \(number)"
    case (sweepPrefix, 5, let number?): return "sweep of \(number)"
    case (releasePrefix, 9, _): return "release \(key.bigEndian64(at: 1))"
    case (decisionPrefix, 9, _): return "decision on entry \(key.bigEndian64(at: 1))"
    case (totalsPrefix, 1, _): return "totals of the outbox"
    default: return nil
    }
  }
}
