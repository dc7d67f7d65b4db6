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

  package func validate() throws(StoreError) {
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
