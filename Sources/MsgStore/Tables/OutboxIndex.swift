package import PageFile

/// The keys of an entry, whatever the state of its lane.
///
/// See docs/message-format.md, O-1.
package enum EntryIndex: RecordIndex {
  package typealias Record = (ordinal: UInt64, entry: OutboxRecord)
  package static var tree: TreeNumber { Schema.work }
  package static let isCounted = false

  package static func forEachKey(
    of record: Record, _ body: (borrowing ByteBuffer) throws(StoreError) -> Void
  ) throws(StoreError) {
    // Parts of the record are not put into variables, which would be copies.
    let isActive = record.entry.isActive
    let isInOrder = isActive && record.entry.subject.isInOrder
    try body(OutboxKey.listed(record.entry.conversation, isInOrder: isInOrder, record.ordinal))
    if let name = record.entry.subject.indexName {
      try body(OutboxKey.message(record.entry.conversation, name, record.ordinal))
    }
    if isActive, !isInOrder { try body(OutboxKey.due(record.entry.dueTime, record.ordinal)) }
    if let time = record.entry.scheduledTime {
      try body(OutboxKey.scheduled(time, record.ordinal))
    }
  }
}

/// The key of the entry that a lane hands out next.
///
/// See docs/message-format.md, O-7.
package enum LaneIndex: RecordIndex {
  package static var tree: TreeNumber { Schema.work }
  package static let isCounted = false

  package static func forEachKey(
    of lane: OutboxLane, _ body: (borrowing ByteBuffer) throws(StoreError) -> Void
  ) throws(StoreError) {
    if let due = lane.due { try body(OutboxKey.due(due.time, due.ordinal)) }
  }
}
