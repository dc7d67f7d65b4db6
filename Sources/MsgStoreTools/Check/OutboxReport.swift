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
    case (conversationPrefix, 5, let number?): return "lane of \(number)"
    case (conversationPrefix, _, let number?):
      guard let (part, ordinal) = conversationParts(key) else { return nil }
      return switch part {
      case .inOrder: "lane of \(number), entry \(ordinal)"
      case .others: "of \(number), entry \(ordinal)"
      case .messages: "of \(number) \"\(name(key).repairedText())\", entry \(ordinal)"
      }
    case (duePrefix, _, _):
      return timeParts(key).map { "due \($0.time) µs, entry \($0.ordinal)" }
    case (schedulePrefix, _, _):
      return timeParts(key, schedulePrefix).map {
        "scheduled for \($0.time) µs, entry \($0.ordinal)"
      }
    case (sweepPrefix, 5, let number?): return "sweep of \(number)"
    case (releasePrefix, 9, _): return "release \(key.bigEndian64(at: 1))"
    case (decisionPrefix, 9, _): return "decision on entry \(key.bigEndian64(at: 1))"
    default: return nil
    }
  }
}
