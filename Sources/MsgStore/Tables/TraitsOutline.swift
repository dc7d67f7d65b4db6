package import PageFile

/// The outline of a block of traits: a check of all its bytes, and what a slice needs of them
/// before the fields are asked for.
///
/// Only of common traits: mentions, times of expiry, of an edit, of delivery and reading, counted
/// reactions, attachments, own fields, tags. Nothing is allocated.
package struct TraitsOutline {
  package let bits: MessageTraits.Bits
  package private(set) var mentionsOffset = 0
  package private(set) var mentionCount = 0
  /// The tags that do not follow from the rest of the record.
  private(set) var tags: TagSet = []
  /// The number of reactions, by all emoji.
  package private(set) var reactionCount = 0

  private static let common: MessageTraits.Bits = [
    .edited, .versions, .reactions, .attachments, .mentions, .deliveredAt, .readAt, .seen,
    .reactionCounts, .ownFields, .tags, .expires, .expired,
  ]

  private static let times: MessageTraits.Bits = [.expires, .edited, .deliveredAt, .readAt]

  /// Returns nil if the bytes are not a block of common traits; `MessageTraits` tells if they are
  /// another block.
  package init?(_ bytes: Bytes) {
    var reader = ByteReader(bytes)
    guard let raw = reader.varint(), raw > 0, raw <= UInt64(UInt32.max) else { return nil }
    bits = MessageTraits.Bits(rawValue: UInt32(raw))
    // Reactions that are not counted have to be read before anything is known of them.
    guard bits.isSubset(of: Self.common),
      bits.contains(.reactions) == bits.contains(.reactionCounts),
      bits.contains(.expires) || !bits.contains(.expired)
    else { return nil }
    let timeCount = bits.intersection(Self.times).rawValue.nonzeroBitCount
    guard reader.take(timeCount * 8) != nil else { return nil }
    if bits.contains(.mentions), !readMentions(&reader) { return nil }
    if bits.contains(.reactionCounts), !readCounts(&reader) { return nil }
    if bits.contains(.ownFields), !OwnFields.check(&reader) { return nil }
    if bits.contains(.tags) {
      guard let tags = TagSet(&reader, bits) else { return nil }
      self.tags = tags
    }
    guard reader.isAtEnd else { return nil }
  }

  private mutating func readMentions(_ reader: inout ByteReader) -> Bool {
    guard let count = reader.varint(), count > 0,
      count <= UInt64(MessageTraits.maximumMentionCount)
    else { return false }
    mentionsOffset = reader.offset
    mentionCount = Int(count)
    for _ in 0..<count {
      guard let number = reader.varint(), number <= UInt64(UInt32.max) else { return false }
    }
    return true
  }

  private mutating func readCounts(_ reader: inout ByteReader) -> Bool {
    ReactionCounts.check(&reader).map { reactionCount = $0 } != nil
  }
}
