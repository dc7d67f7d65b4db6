package import PageFile

/// The keys of an entry, whatever the state of its lane.
///
/// See docs/message-format.md, O-1.
package enum EntryIndex: RecordIndex {
  package typealias Record = (ordinal: UInt64, entry: OutboxRecord)
  package static let tree = Schema.work
  package static let isCounted = false

  package static func forEachKey(
    of record: Record, _ body: (borrowing ByteBuffer) throws(StoreError) -> Void
  ) throws(StoreError) {
    let (ordinal, entry) = record
    let conversation = entry.conversation
    let isInOrder = entry.isActive && entry.subject.isInOrder
    try body(OutboxKey.listed(conversation, isInOrder: isInOrder, ordinal))
    if let name = entry.subject.indexName {
      try body(OutboxKey.message(conversation, name, ordinal))
    }
    if entry.isActive, !isInOrder { try body(OutboxKey.due(entry.dueTime, ordinal)) }
    if let time = entry.scheduledTime { try body(OutboxKey.scheduled(time, ordinal)) }
  }
}

/// The key of the entry that a lane hands out next.
///
/// See docs/message-format.md, O-7.
package enum LaneIndex: RecordIndex {
  package static let tree = Schema.work
  package static let isCounted = false

  package static func forEachKey(
    of lane: OutboxLane, _ body: (borrowing ByteBuffer) throws(StoreError) -> Void
  ) throws(StoreError) {
    if let due = lane.due { try body(OutboxKey.due(due.time, due.ordinal)) }
  }
}
