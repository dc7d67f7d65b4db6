import PageFile

/// The last known change of one member's reaction with one emoji: added or removed.
///
/// See docs/message-format.md, F-5. The later time wins; at equal times, the removal wins. A
/// removed reaction stays known, so that an older addition does not bring it back.
package struct ReactionRecord: Hashable, StoredRecord {
  package static let table = Table(Schema.facts, "reaction")
  package var time: Int64 = 0
  package var isRemoved = false

  package init() {}

  package init(time: Int64, isRemoved: Bool) {
    self.time = time
    self.isRemoved = isRemoved
  }

  static func key(
    _ conversation: UInt32, _ id: MessageID, member: UInt32, emoji: String
  ) -> ByteBuffer {
    FactKey.key(conversation, id, .reaction, member: member).appending(emoji)
  }

  package mutating func visit(_ fields: inout (some FieldVisitor & ~Copyable)) {
    fields.tag(1)
    fields.flags(.byte)
    fields.mark(1, &isRemoved)
    fields.fixed(&time, "time")
  }

  /// Decodes a reaction among the facts, given its key behind the kind.
  ///
  /// Returns nil if the bytes are not a valid one.
  static func parts(
    _ rest: Bytes, _ value: Bytes
  ) -> (member: UInt32, emoji: Bytes, ReactionRecord)? {
    guard let member = rest.bigEndianNumber(at: 0), case let emoji = rest.dropFirst(4),
      1...Reaction.maximumEmojiByteCount ~= emoji.count, emoji.isValidUTF8,
      let record = ReactionRecord(value)
    else { return nil }
    return (member, emoji, record)
  }

  /// Returns true if this record replaces another.
  func succeeds(_ other: ReactionRecord) -> Bool {
    time == other.time ? isRemoved && !other.isRemoved : time > other.time
  }
}
