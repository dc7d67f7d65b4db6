package import PageFile

/// The last known change of one tag of a message: set or removed.
///
/// See docs/message-format.md, F-21. The later time wins; at equal times, the removal wins. A
/// removed tag stays known, so that an older setting does not bring it back.
package struct TagRecord: Equatable, StoredRecord {
  package static let table = Table(Schema.facts, "tag")
  package var time: Int64 = 0
  package internal(set) var isRemoved = false

  package init() {}

  package init(time: Int64, isRemoved: Bool) {
    self.time = time
    self.isRemoved = isRemoved
  }

  package static func key(
    _ conversation: UInt32, _ id: MessageID, _ tag: UInt8
  ) -> ByteBuffer {
    FactKey.prefix(conversation, id, .tag).appending(tag)
  }

  package mutating func visit(_ fields: inout (some FieldVisitor & ~Copyable)) {
    fields.tag(1)
    fields.flags(.byte)
    fields.mark(1, &isRemoved)
    fields.fixed(&time, "time")
  }

  /// Decodes a tag among the facts, given its key behind the kind.
  ///
  /// Returns nil if the bytes are not a valid one.
  package static func parts(_ rest: Bytes, _ value: Bytes) -> (tag: UInt8, TagRecord)? {
    guard rest.count == 1, TagSet(number: rest[0]).isSubset(of: .settable),
      let record = TagRecord(value)
    else { return nil }
    return (rest[0], record)
  }

  /// Returns true if this record replaces another.
  func succeeds(_ other: TagRecord) -> Bool {
    if StoreDefect.olderTagWins.isPlanted { return true }
    return time == other.time ? isRemoved && !other.isRemoved : time > other.time
  }
}

extension FactReader {
  /// Runs `body` on each tag that was set on a message or removed.
  func forEachTag(
    of id: MessageID, in conversation: UInt32,
    _ body: (UInt8, TagRecord) throws(StoreError) -> Void
  ) throws(StoreError) {
    let prefix = FactKey.prefix(conversation, id, .tag)
    try forEachFact(prefix) { (rest, value) throws(StoreError) in
      guard let (tag, record) = TagRecord.parts(rest, value) else {
        throw view.corrupt(Schema.facts, "message \"\(id)\": malformed tag")
      }
      try body(tag, record)
    }
  }

  /// Returns the tags that are set on a message.
  @inline(never)
  package func setTags(of id: MessageID, in conversation: UInt32) throws(StoreError) -> TagSet {
    var tags: TagSet = []
    try forEachTag(of: id, in: conversation) { (tag, record) in
      if !record.isRemoved { tags.insert(TagSet(number: tag)) }
    }
    return tags
  }
}
