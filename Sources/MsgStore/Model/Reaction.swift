import PageFile

/// A member's reaction to a message with one emoji.
public struct Reaction: Sendable {
  /// The member who reacted.
  public var member: MemberID
  /// The emoji: 1 to 64 bytes of UTF-8, kept exactly and compared as bytes.
  public var emoji: String
  /// The time of the reaction.
  public var time: Timestamp
  /// The server's own id of the reaction, where it has one; nil if unknown.
  ///
  /// A server that retracts a reaction by this id alone is answered by finding the reaction with it
  /// among ``StoreReading/reactions(to:in:)`` and receiving it as removed: no index leads from the
  /// id to the reaction.
  public var serverName: MessageID?

  /// The most bytes in an emoji.
  public static let maximumEmojiByteCount = 64

  /// Creates a reaction.
  ///
  /// - Parameters:
  ///   - emoji: The emoji: 1 to 64 bytes of UTF-8.
  ///   - member: The member who reacted.
  ///   - time: The time of the reaction.
  ///   - serverName: The server's own id of the reaction; nil if it has none.
  public init(
    _ emoji: String, from member: MemberID, at time: Timestamp, serverName: MessageID? = nil
  ) {
    self.member = member
    self.emoji = emoji
    self.time = time
    self.serverName = serverName
  }

  /// Returns true if a message lists one reaction before another: by member, then by emoji.
  static func precedes(_ a: Reaction, _ b: Reaction) -> Bool {
    a.member == b.member ? a.emoji.precedesByBytes(b.emoji) : a.member < b.member
  }

  package func validate() throws(StoreError) {
    try member.validate()
    try serverName?.validate()
    guard (1...Self.maximumEmojiByteCount).contains(emoji.utf8.count) else {
      throw .input(.reaction(byteCount: emoji.utf8.count, limit: Self.maximumEmojiByteCount))
    }
  }
}

extension Reaction: Hashable {
  /// Compares all fields; emoji are equal if their bytes are.
  public static func == (a: Self, b: Self) -> Bool {
    a.member == b.member && a.time == b.time && a.emoji.hasSameBytes(as: b.emoji)
      && a.serverName == b.serverName
  }

  /// Hashes the member and the emoji.
  public func hash(into hasher: inout Hasher) {
    hasher.combine(member)
    hasher.combine(emoji)
  }
}
