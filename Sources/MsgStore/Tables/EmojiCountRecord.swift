package import PageFile

/// The number of reactions to a message with an emoji for which the message's record has no room.
///
/// See docs/message-format.md, F-30. Each such emoji has a fact of kind `emojiCount` with this
/// record, by which it is found, and an empty one of kind `emojiRank`, which has its place in the
/// order of use.
package struct EmojiCountRecord: Equatable, StoredRecord {
  package static let table = Table(Schema.facts, "number of reactions with an emoji")
  private var isOwn = false
  private var count: UInt32 = 0

  package init() {}

  init(_ count: ReactionCount) {
    isOwn = count.isOwn
    self.count = UInt32(clamping: count.count)
  }

  package mutating func visit(_ fields: inout (some FieldVisitor & ~Copyable)) {
    fields.tag(1)
    fields.flags(.byte)
    fields.mark(1, &isOwn)
    fields.varint(&count, "number of members")
    fields.require(count > 0)
  }

  func value(of emoji: String) -> ReactionCount {
    ReactionCount(emoji, count: Int(count), isOwn: isOwn)
  }

  @inline(never)
  static func key(_ conversation: UInt32, _ id: MessageID, _ emoji: String) -> ByteBuffer {
    FactKey.prefix(conversation, id, .emojiCount).appending(emoji)
  }

  /// Returns the key that has the emoji's place in the order of use: the most used first.
  static func rank(
    _ conversation: UInt32, _ id: MessageID, _ count: ReactionCount
  ) -> ByteBuffer {
    FactKey.prefix(conversation, id, .emojiRank)
      .appending(UInt32.max - UInt32(clamping: count.count)).appending(count.emoji)
  }

  /// Returns the key of the place of a number, given its key behind the kind; nil if the bytes are
  /// not valid.
  package static func rank(
    of rest: Bytes, _ value: Bytes, _ conversation: UInt32, _ id: MessageID
  ) -> ByteBuffer? {
    guard isEmoji(rest), let record = EmojiCountRecord(value) else { return nil }
    return rank(conversation, id, record.value(of: rest.repairedText()))
  }

  /// Returns the emoji of a rank, given its key behind the kind; nil if the bytes are not valid.
  static func emoji(ofRank rest: Bytes) -> Bytes? {
    guard let number = rest.bigEndianNumber(at: 0), number < .max,
      isEmoji(rest.dropFirst(4))
    else { return nil }
    return rest.dropFirst(4)
  }

  static func isEmoji(_ bytes: Bytes) -> Bool {
    1...Reaction.maximumEmojiByteCount ~= bytes.count && bytes.isValidUTF8
  }
}

extension FactReader {
  /// Returns the number of reactions with an emoji for which the message's record has no room; nil
  /// without such a reaction.
  @inline(never)
  func rarerEmoji(
    _ emoji: String, of id: MessageID, in conversation: UInt32
  ) throws(StoreError) -> ReactionCount? {
    let key = EmojiCountRecord.key(conversation, id, emoji)
    let record: EmojiCountRecord? = try view.record(key)
    return record?.value(of: emoji)
  }

  /// Runs `body` on the emoji for which the message's record has no room, the most used first,
  /// while it returns true.
  package func forEachRarerEmoji(
    of id: MessageID, in conversation: UInt32,
    _ body: (ReactionCount) throws(StoreError) -> Bool
  ) throws(StoreError) {
    let prefix = FactKey.prefix(conversation, id, .emojiRank)
    let byteCount = prefix.count
    try view.forEachCell(with: prefix, in: Schema.facts) { (key, _) throws(StoreError) in
      let emoji = EmojiCountRecord.emoji(ofRank: key.dropFirst(byteCount))?.repairedText() ?? ""
      let known = try rarerEmoji(emoji, of: id, in: conversation)
      if let count = known {
        let rank = EmojiCountRecord.rank(conversation, id, count)
        if rank.bytes.compare(to: key) == 0 { return try body(count) }
      }
      throw view.corrupt(Schema.facts, "message \"\(id)\": wrong rank of an emoji")
    }
  }
}
