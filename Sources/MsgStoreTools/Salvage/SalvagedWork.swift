import MsgStore
import PageFile

/// What a damaged store still had to do: numbers whose messages were deleted, or belong elsewhere.
final class SalvagedWork {
  /// Numbers of deleted conversations.
  private(set) var swept: Set<UInt32> = []
  /// Which conversation gets what is still to be told of a deleted one, 0: none.
  private(set) var outboxTargets: [UInt32: UInt32] = [:]
  private var trimmed: [UInt32: Int64] = [:]
  private var merged: [UInt32: (summary: ConversationSummary, target: UInt32)] = [:]
  private let source: PageSalvage

  init(_ source: PageSalvage) {
    self.source = source
    let cursor = source.cursor(Schema.work)
    let start = WorkRecord.keyStart
    while cursor.next() {
      // The outbox lies behind, in the same tree.
      if cursor.key.count == 5, cursor.key[0] == OutboxKey.sweepPrefix,
        let number = cursor.key.bigEndianNumber(at: 1)
      {
        var reader = ByteReader(cursor.value)
        outboxTargets[number] = reader.uint32() ?? 0
      }
      guard cursor.key.hasPrefix(start.bytes), let work = WorkRecord(cursor.value) else { continue }
      switch work.kind {
      case .sweep: swept.insert(work.conversation)
      case .merge(let target, let summary): merged[work.conversation] = (summary, target)
      case .trim(let time):
        trimmed[work.conversation] = max(time, trimmed[work.conversation] ?? time)
      }
    }
  }

  /// Whether a message was deleted with its conversation, and only not removed yet.
  func isTrimmed(_ place: Place, in conversation: UInt32) -> Bool {
    guard let time = trimmed[conversation] else { return false }
    return !place.isPending && place.time <= time
  }

  /// The summary that a conversation had before its messages were moved, and the name of the one that
  /// gets them.
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
