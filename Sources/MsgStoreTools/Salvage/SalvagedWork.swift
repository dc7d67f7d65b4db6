import MsgStore
import PageFile
import PageFileSalvage

/// The unfinished work of a damaged store: numbers of deleted, trimmed and merged conversations.
final class SalvagedWork {
  /// The numbers of deleted conversations.
  private(set) var swept: Set<UInt32> = []
  /// The conversations whose outbox entries were being moved.
  private(set) var outboxSweeps: [UInt32: OutboxSweep] = [:]
  private var trimmed: [UInt32: Int64] = [:]
  private var merged: [UInt32: (summary: ConversationSummary, target: UInt32)] = [:]
  private let source: PageSalvage

  init(_ source: PageSalvage) {
    self.source = source
    let cursor = source.cursor(Schema.work)
    let start = WorkRecord.keyStart
    while cursor.next() {
      // The outbox lies behind the work, in the same tree.
      if cursor.key.count == 5, cursor.key[0] == OutboxKey.sweepPrefix,
        let number = cursor.key.bigEndianNumber(at: 1)
      {
        outboxSweeps[number] = OutboxSweep(cursor.value) ?? OutboxSweep()
      }
      guard cursor.key.hasPrefix(start.bytes), let work = WorkRecord(cursor.value) else { continue }
      switch work.kind {
      case .sweep: swept.insert(work.conversation)
      case .prune: break
      case .merge(let target, let summary): merged[work.conversation] = (summary, target)
      case .trim(let time):
        trimmed[work.conversation] = max(time, trimmed[work.conversation] ?? time)
      }
    }
  }

  /// Returns true if a message was deleted with its conversation and is still to be removed.
  func isTrimmed(_ place: Place, in conversation: UInt32) -> Bool {
    guard let time = trimmed[conversation] else { return false }
    return !place.isPending && place.time <= time
  }

  /// Returns the summary from before a conversation's messages were moved, and the target's name.
  func merging(_ number: UInt32) -> (ConversationSummary?, ConversationID?)? {
    guard let (summary, target) = merged[number] else { return nil }
    let key = ConversationDetails.key(target)
    var value = ByteBuffer()
    guard case .found = source.value(of: key.bytes, in: Schema.conversations, to: &value) else {
      return (summary, nil)
    }
    return (summary, ConversationDetails(value.bytes)?.id)
  }
}
