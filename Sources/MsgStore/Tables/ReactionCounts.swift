import PageFile

/// The numbers of reactions to a message by emoji, in the order of the emoji's bytes.
///
/// Part of a message's traits, see docs/message-format.md, X-7. A store without a local member
/// keeps none, and neither has a message with too many emoji: then readers count the reactions.
package struct ReactionCounts: Hashable, Sendable {
  package private(set) var all: [ReactionCount] = []

  package static let maximumCount = 256
  /// Above all counts of members, whose numbers have 32 bits.
  private static let maximumMemberCount: UInt64 = 1 << 32

  package init() {}

  var total: Int { all.reduce(0) { $0 + $1.count } }

  /// Returns the index of an emoji, or of the first one behind it.
  private func search(_ emoji: String) -> (index: Int, isFound: Bool) {
    var (low, high) = (0, all.count)
    while low < high {
      let middle = (low + high) / 2
      if all[middle].emoji.precedesByBytes(emoji) { low = middle + 1 } else { high = middle }
    }
    return (low, low < all.count && all[low].emoji.hasSameBytes(as: emoji))
  }

  /// Adds the reaction of one member.
  package mutating func add(_ emoji: String, isOwn: Bool) {
    let (index, isFound) = search(emoji)
    guard isFound else {
      return all.insert(ReactionCount(emoji, count: 1, isOwn: isOwn), at: index)
    }
    let old = all[index]
    all[index] = ReactionCount(old.emoji, count: old.count + 1, isOwn: old.isOwn || isOwn)
  }

  /// Removes the reaction of one member.
  ///
  /// Returns false if it was not counted.
  mutating func remove(_ emoji: String, isOwn: Bool) -> Bool {
    let (index, isFound) = search(emoji)
    guard isFound else { return false }
    let old = all[index]
    if old.count == 1 {
      all.remove(at: index)
    } else {
      all[index] = ReactionCount(old.emoji, count: old.count - 1, isOwn: old.isOwn && !isOwn)
    }
    return true
  }

  /// Reads what `append` has written.
  init?(_ reader: inout ByteReader) {
    guard let count = reader.varint(), count <= UInt64(Self.maximumCount) else { return nil }
    for _ in 0..<count {
      guard let byteCount = reader.byte(), 1...Reaction.maximumEmojiByteCount ~= Int(byteCount),
        let emoji = reader.take(Int(byteCount)), emoji.isValidUTF8,
        let number = reader.varint(), number >> 1 > 0, number >> 1 < Self.maximumMemberCount
      else { return nil }
      let next = ReactionCount(
        emoji.repairedText(), count: Int(number >> 1), isOwn: number & 1 != 0)
      if let last = all.last, !last.emoji.precedesByBytes(next.emoji) { return nil }
      all.append(next)
    }
  }

  /// Checks what `init` reads, without making texts.
  ///
  /// Returns the number of reactions, or nil if the bytes are not valid.
  static func check(_ reader: inout ByteReader) -> Int? {
    guard let count = reader.varint(), count <= UInt64(maximumCount) else { return nil }
    var total = 0
    var last: Bytes?
    for _ in 0..<count {
      guard let byteCount = reader.byte(), 1...Reaction.maximumEmojiByteCount ~= Int(byteCount),
        let emoji = reader.take(Int(byteCount)), emoji.isText,
        let number = reader.varint(), number >> 1 > 0, number >> 1 < maximumMemberCount
      else { return nil }
      if let last, last.compare(to: emoji) >= 0 { return nil }
      last = emoji
      total += Int(number >> 1)
    }
    return total
  }

  func append(to buffer: inout ByteBuffer) {
    buffer.append(varint: UInt64(all.count))
    for count in all {
      buffer.append(UInt8(count.emoji.utf8.count))
      buffer.append(count.emoji)
      buffer.append(varint: UInt64(count.count) << 1 | (count.isOwn ? 1 : 0))
    }
  }
}
