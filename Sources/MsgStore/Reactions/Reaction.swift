import PageFile

/// A member's reaction to a message with one emoji.
public struct Reaction: Sendable {
  /// Who.
  public var member: MemberID
  /// With what: 1 to 64 bytes of UTF-8, kept exactly and compared as bytes.
  public var emoji: String
  /// When.
  public var time: Timestamp

  /// The most bytes of an emoji.
  public static let emojiByteCountMax = 64

  /// A reaction.
  public init(_ emoji: String, from member: MemberID, at time: Timestamp) {
    self.member = member
    self.emoji = emoji
    self.time = time
  }

  func validate() throws(StoreError) {
    try member.validate()
    guard (1...Self.emojiByteCountMax).contains(emoji.utf8.count) else {
      throw .invalidReaction(byteCount: emoji.utf8.count, limit: Self.emojiByteCountMax)
    }
  }
}

extension Reaction: Hashable {
  /// Equality of all fields; emoji are equal when their bytes are.
  public static func == (a: Self, b: Self) -> Bool {
    a.member == b.member && a.time == b.time && a.emoji.hasSameBytes(as: b.emoji)
  }

  /// Feeds who and with what to a hasher.
  public func hash(into hasher: inout Hasher) {
    hasher.combine(member)
    hasher.combine(emoji)
  }
}

/// What is known of one member's reaction with one emoji: the last time it was added or removed.
///
/// See docs/message-format.md, F-5. The later time wins; at equal times it is removed. What is
/// removed stays known, so that an older addition does not bring it back.
///
///     key    … 0x02, number of the member (4), bytes of the emoji
///     value  tag: 1; flags: 1 removed; time (8)
struct ReactionRecord: Hashable {
  private static let tag: UInt8 = 1

  var time: Int64
  var isRemoved: Bool

  init(time: Int64, isRemoved: Bool) {
    self.time = time
    self.isRemoved = isRemoved
  }

  static func key(
    _ conversation: UInt32, _ id: MessageID, member: UInt32, emoji: String
  ) -> ByteBuffer {
    var key = FactKey.key(conversation, id, .reaction, member: member)
    key.append(emoji)
    return key
  }

  /// Reads a record.
  ///
  /// Any bytes may be given; nil when they are none.
  init?(_ bytes: Bytes) {
    var reader = ByteReader(bytes)
    guard reader.byte() == Self.tag, let flags = reader.byte(), flags <= 1,
      let time = reader.uint64(), reader.isAtEnd
    else { return nil }
    self.init(time: Int64(bitPattern: time), isRemoved: flags == 1)
  }

  func append(to buffer: inout ByteBuffer) {
    buffer.append(Self.tag)
    buffer.append(isRemoved ? 1 : 0)
    buffer.append(time: time)
  }

  /// Whether this takes the place of another.
  func succeeds(_ other: ReactionRecord) -> Bool {
    time == other.time ? isRemoved && !other.isRemoved : time > other.time
  }
}

extension FactReader {
  /// The reactions to a message that stand, by member and emoji.
  func reactions(
    of id: MessageID, in conversation: UInt32
  ) throws(StoreError) -> [Reaction] {
    var reactions: [Reaction] = []
    let prefix = FactKey.prefix(conversation, id, .reaction)
    try forEachFact(prefix) { (rest, value) throws(StoreError) in
      guard let member = rest.bigEndianNumber(at: 0), rest.count > 4,
        rest.dropFirst(4).isValidUTF8, let record = ReactionRecord(value)
      else { throw view.corrupt(Schema.facts, "a reaction to message \"\(id)\" is no record") }
      if record.isRemoved { return }
      reactions.append(
        Reaction(
          rest.dropFirst(4).repairedText(), from: try view.member(member),
          at: Timestamp(microseconds: record.time)))
    }
    // Members' numbers differ between stores; names do not.
    reactions.sort {
      $0.member == $1.member ? $0.emoji.precedesByBytes($1.emoji) : $0.member < $1.member
    }
    return reactions
  }
}
