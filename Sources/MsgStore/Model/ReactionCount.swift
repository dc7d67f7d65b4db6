/// The reactions to a message with one emoji.
public struct ReactionCount: Sendable {
  /// The emoji: 1 to 64 bytes of UTF-8, compared as bytes.
  public let emoji: String
  /// The number of members that reacted with it, at least 1.
  public let count: Int
  /// True if the local member is one of them.
  public let isOwn: Bool

  package init(_ emoji: String, count: Int, isOwn: Bool) {
    self.emoji = emoji
    self.count = count
    self.isOwn = isOwn
  }
}

extension ReactionCount: Hashable {
  /// Compares all fields; emoji are equal if their bytes are.
  public static func == (a: Self, b: Self) -> Bool {
    a.count == b.count && a.isOwn == b.isOwn && a.emoji.hasSameBytes(as: b.emoji)
  }

  /// Hashes the emoji and the count.
  public func hash(into hasher: inout Hasher) {
    hasher.combine(emoji)
    hasher.combine(count)
  }
}
