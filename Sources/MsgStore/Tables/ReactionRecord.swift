import PageFile

/// The last known change of one member's reaction with one emoji: added or removed.
///
/// See docs/message-format.md, F-5. The later time wins; at equal times, the removal wins. A
/// removed reaction stays known, so that an older addition does not bring it back.
package struct ReactionRecord: Equatable, StoredRecord {
  package static let table = Table(Schema.facts, "reaction")
  package var time: Int64 = 0
  package internal(set) var isRemoved = false
  /// The server's own id of the change, if it has one.
  package internal(set) var serverName: MessageID?

  package init() {}

  package init(time: Int64, isRemoved: Bool, serverName: MessageID? = nil) {
    self.time = time
    self.isRemoved = isRemoved
    self.serverName = serverName
  }

  /// The kind of facts that the record is one of.
  ///
  /// Removed reactions lie apart, so that a listing of the others does not pass over them.
  var kind: FactKind { isRemoved ? .removedReaction : .reaction }

  @inline(never)
  static func key(
    _ conversation: UInt32, _ id: MessageID, _ kind: FactKind, member: UInt32, emoji: String
  ) -> ByteBuffer {
    FactKey.key(conversation, id, kind, member: member).appending(emoji)
  }

  package mutating func visit(_ fields: inout (some FieldVisitor & ~Copyable)) {
    fields.tag(1)
    fields.flags(.byte)
    fields.mark(1, &isRemoved)
    fields.fixed(&time, "time")
    fields.optional(2, &serverName, or: "") { $0.name(&$1, "the server's id of it") }
  }

  /// Decodes a reaction among the facts, given its key behind the kind.
  ///
  /// Returns nil if the bytes are not a valid one.
  @inline(never)
  static func parts(
    _ rest: Bytes, _ value: Bytes
  ) -> (member: UInt32, emoji: Bytes, ReactionRecord)? {
    guard let member = rest.bigEndianNumber(at: 0), case let emoji = rest.dropFirst(4),
      1...Reaction.maximumEmojiByteCount ~= emoji.count, emoji.isValidUTF8,
      let record = ReactionRecord(value)
    else { return nil }
    return (member, emoji, record)
  }

  /// Returns the record that counts of this one and another; of two statements of one change it has
  /// the greater id.
  func joined(with other: ReactionRecord) -> ReactionRecord {
    guard time == other.time, isRemoved == other.isRemoved else {
      return succeeds(other) ? self : other
    }
    var joined = self
    joined.serverName = [serverName, other.serverName].compactMap { $0 }.max()
    return joined
  }

  /// Returns true if this record replaces another.
  func succeeds(_ other: ReactionRecord) -> Bool {
    time == other.time ? isRemoved && !other.isRemoved : time > other.time
  }
}
