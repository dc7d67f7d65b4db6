import PageFile

/// The numbers of reactions to a message by emoji, in the order of the emoji's bytes.
///
/// Part of a message's traits, see docs/message-format.md, X-7. The record has those of the emoji
/// that are used most; the others are facts of their own (F-30). A store without a local member
/// keeps none: then readers count the reactions.
package struct ReactionCounts: Equatable, Sendable {
  package private(set) var all: [ReactionCount] = []

  package static let maximumCount = 256
  /// Above all counts of members, whose numbers have 32 bits.
  static let maximumMemberCount: UInt64 = 1 << 32

  package init() {}

  var total: Int { all.reduce(0) { $0 + $1.count } }

  /// True if there is no room for another emoji in the record.
  var isFull: Bool { all.count >= Self.maximumCount }

  /// The emoji with the fewest reactions; nil without reactions.
  var leastUsed: ReactionCount? { all.max { $0.isUsedMore(than: $1) } }

  subscript(emoji: String) -> ReactionCount? {
    let (index, isFound) = search(emoji)
    return isFound ? all[index] : nil
  }

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
    if isFound {
      all[index] = all[index].adding(isOwn: isOwn)
    } else {
      all.insert(ReactionCount(emoji, count: 1, isOwn: isOwn), at: index)
    }
  }

  /// Replaces the number of an emoji; nil removes it.
  mutating func set(_ emoji: String, _ count: ReactionCount?) {
    let (index, isFound) = search(emoji)
    switch count {
    case let count? where isFound: all[index] = count
    case let count?: all.insert(count, at: index)
    case nil: if isFound { all.remove(at: index) }
    }
  }

  /// Keeps the emoji that are used most, as many as a record has room for.
  ///
  /// Returns the others, the most used first.
  package mutating func keepMostUsed() -> [ReactionCount] {
    guard all.count > Self.maximumCount else { return [] }
    let order = all.indices.sorted { all[$0].isUsedMore(than: all[$1]) }
    let others = order[Self.maximumCount...].map { all[$0] }
    // All are in the order of their emoji.
    let kept = Array(order[..<Self.maximumCount]).inOrder { UInt64($0) }
    all = kept.map { all[$0] }
    return others
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

extension ReactionCount {
  /// Returns true if one emoji is used more than another, or as much and precedes it by its bytes.
  ///
  /// The order in which a record has room for them. It depends on nothing else, so that all stores
  /// agree.
  package func isUsedMore(than other: ReactionCount) -> Bool {
    count == other.count ? emoji.precedesByBytes(other.emoji) : count > other.count
  }

  /// Returns the number with the reaction of one more member.
  func adding(isOwn isNewOwn: Bool) -> ReactionCount {
    ReactionCount(emoji, count: count + 1, isOwn: isOwn || isNewOwn)
  }

  /// Returns the number without the reaction of one member; nil if it was the last.
  func removing(isOwn wasOwn: Bool) -> ReactionCount? {
    count == 1 ? nil : ReactionCount(emoji, count: count - 1, isOwn: isOwn && !wasOwn)
  }
}
