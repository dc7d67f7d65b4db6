package import PageFile

/// Keys of the outbox, which lies in the work tree after the store's own work.
///
/// See docs/message-format.md, O-1 … O-7, O-30 and O-31.
///
///     0x01 ordinal (8)                                 an entry → its record
///     0x02 conversation's number (4)                   its lane → the record of it
///     0x02 conversation's number (4), 1, ordinal (8)   its entries that go in order → nothing
///     0x02 conversation's number (4), 2, ordinal (8)   its other entries → nothing
///     0x02 conversation's number (4), 3, byte count of the id (1), id, ordinal (8)
///                                                      the entries of a message → nothing; those
///                                                      of own fields: of a conversation, with
///                                                      an empty id; of a member, with its number
///     0x03 time (8), ordinal (8)                       an entry due from then on → nothing
///     0x04 time (8), ordinal (8)                       an entry scheduled for then → nothing
///     0x05 number of a deleted or merged conversation (4)
///                                                      → number of the one that takes its entries
///     0x06 ordinal (8)                                 an unfinished release → its record
///     0x07 ordinal of an entry (8)                     → the last release before a decision on it
///
/// All keys of a conversation lie side by side, so that one walk changes them. The keys of the
/// store's own work are ordinals of eight bytes, the first of which is 0.
package enum OutboxKey {
  package static let entryPrefix: UInt8 = 1
  package static let conversationPrefix: UInt8 = 2
  package static let duePrefix: UInt8 = 3
  package static let schedulePrefix: UInt8 = 4
  package static let sweepPrefix: UInt8 = 5
  package static let releasePrefix: UInt8 = 6
  package static let decisionPrefix: UInt8 = 7

  /// The parts of a conversation's keys, by the byte behind its number.
  package enum Part: UInt8 {
    /// The active entries that go in order.
    case inOrder = 1
    case others
    /// The entries by message.
    case messages
  }

  package static func entry(_ ordinal: UInt64) -> ByteBuffer { key(entryPrefix, ordinal) }

  /// Returns the key of a release, which goes in steps.
  package static func release(_ ordinal: UInt64) -> ByteBuffer { key(releasePrefix, ordinal) }

  /// Returns the key that marks an entry as decided about since a release.
  package static func decision(_ ordinal: UInt64) -> ByteBuffer { key(decisionPrefix, ordinal) }

  private static func key(_ prefix: UInt8, _ ordinal: UInt64) -> ByteBuffer {
    KeyEncoding.prefix(prefix).appending(ordinal)
  }

  package static func lane(_ conversation: UInt32) -> ByteBuffer {
    KeyEncoding.prefix(conversationPrefix).appending(conversation)
  }

  /// Returns the common prefix of the keys of a conversation's entries that go in order, or of its
  /// others.
  package static func listed(_ conversation: UInt32, isInOrder: Bool) -> ByteBuffer {
    part(isInOrder ? .inOrder : .others, of: conversation)
  }

  package static func listed(
    _ conversation: UInt32, isInOrder: Bool, _ ordinal: UInt64
  ) -> ByteBuffer {
    listed(conversation, isInOrder: isInOrder).appending(ordinal)
  }

  private static func part(_ part: Part, of conversation: UInt32) -> ByteBuffer {
    lane(conversation).appending(part.rawValue)
  }

  /// Returns the key of a deleted conversation whose entries are processed in steps.
  package static func sweep(_ conversation: UInt32) -> ByteBuffer {
    KeyEncoding.prefix(sweepPrefix).appending(conversation)
  }

  package static func due(_ time: Int64, _ ordinal: UInt64) -> ByteBuffer {
    KeyEncoding.prefix(duePrefix).appending(KeyEncoding.flipped(time)).appending(ordinal)
  }

  package static func scheduled(_ time: Int64, _ ordinal: UInt64) -> ByteBuffer {
    KeyEncoding.prefix(schedulePrefix).appending(KeyEncoding.flipped(time)).appending(ordinal)
  }

  /// Returns the parts of a key of a due or a scheduled entry, or nil if the bytes are not a valid
  /// key with this prefix.
  package static func timeParts(
    _ key: Bytes, _ prefix: UInt8 = duePrefix
  ) -> (time: Int64, ordinal: UInt64)? {
    guard key.count == 17, key[0] == prefix else { return nil }
    return (KeyEncoding.unflipped(key.bigEndian64(at: 1)), key.bigEndian64(at: 9))
  }

  /// Returns the common prefix of the keys of a message's entries.
  package static func message(_ conversation: UInt32, _ id: MessageID) -> ByteBuffer {
    part(.messages, of: conversation).appending(UInt8(id.byteCount)).appending(id)
  }

  package static func message(
    _ conversation: UInt32, _ id: MessageID, _ ordinal: UInt64
  ) -> ByteBuffer {
    message(conversation, id).appending(ordinal)
  }

  /// Returns the part of its conversation's keys that the key of an entry belongs to, and its
  /// ordinal; nil if the bytes are not such a key.
  package static func conversationParts(_ key: Bytes) -> (part: Part, ordinal: UInt64)? {
    guard key.count >= 14, key[0] == conversationPrefix, let part = Part(rawValue: key[5])
    else { return nil }
    let isValid =
      part == .messages
      ? key.count >= 15 && key.count == 15 + Int(key[6]) : key.count == 14
    return isValid ? (part, key.bigEndian64(at: key.count - 8)) : nil
  }

  /// Returns the name in the key of a message's entry.
  package static func name(_ key: Bytes) -> Bytes { key.slice(7, key.count - 15) }

  /// Returns the ordinal at the end of a key, or nil if the key does not have the given length.
  package static func ordinal(_ key: Bytes, byteCount: Int) -> UInt64? {
    key.count == byteCount && byteCount >= 8 ? key.bigEndian64(at: byteCount - 8) : nil
  }
}
