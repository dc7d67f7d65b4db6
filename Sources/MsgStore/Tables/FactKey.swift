package import PageFile

/// The kinds of facts about a message.
package enum FactKind: UInt8, CaseIterable {
  /// A version of the text that is not the newest.
  case version = 1
  /// A member's reaction with one emoji that is there.
  case reaction = 2
  /// The record of an attachment.
  case attachment = 3
  /// A member's named receipt: when the member received or read exactly this message.
  case receipt = 4
  /// The waiting facts of a message that is not here yet.
  case waiting = 5
  /// A member's receipt mark up to this message, which is not at its place yet.
  case waitingMark = 6
  /// A tag that was set or removed.
  case tag = 7
  /// An own field of the client's whose value is too long for the message's record.
  case ownField = 8
  /// A member's reaction with one emoji that was removed.
  case removedReaction = 9
  /// The number of reactions with an emoji for which the message's record has no room.
  case emojiCount = 10
  /// The same emoji in the order of their use.
  case emojiRank = 11

  /// True if facts of the kind follow from others, and are neither exported nor salvaged.
  package var isDerived: Bool { self == .emojiCount || self == .emojiRank }

  /// The mark in a message's record that announces facts of the kind.
  package var mark: MessageTraits.Bits? {
    switch self {
    case .version: .versions
    case .reaction, .removedReaction, .emojiCount, .emojiRank: .reactions
    case .attachment: .attachments
    case .receipt: .receipts
    case .tag: .tagged
    case .waiting, .waitingMark, .ownField: nil
    }
  }
}

/// Keys of the facts tree, which holds everything about a message that is not in its record.
///
/// See docs/message-format.md, F-1 … F-3, V-4 and V-5.
///
///     conversation's number (4), byte count of the id (1), id, kind (1), and a suffix that tells
///     facts of one kind apart
///
/// The byte count comes first so that no id is a prefix of another's key.
package enum FactKey {
  /// Returns the common prefix of the keys of all facts about a message.
  package static func prefix(_ conversation: UInt32, _ id: MessageID) -> ByteBuffer {
    KeyEncoding.key(conversation).appending(UInt8(id.byteCount)).appending(id)
  }

  /// Returns the common prefix of the keys of one kind of facts about a message.
  package static func prefix(_ conversation: UInt32, _ id: MessageID, _ kind: FactKind)
    -> ByteBuffer
  {
    prefix(conversation, id).appending(kind.rawValue)
  }

  /// Returns the key of a fact that exists once per member.
  @inline(never)
  package static func key(
    _ conversation: UInt32, _ id: MessageID, _ kind: FactKind, member: UInt32
  ) -> ByteBuffer {
    prefix(conversation, id, kind).appending(member)
  }

  /// Returns the key of an attachment.
  @inline(never)
  package static func key(
    _ conversation: UInt32, _ id: MessageID, attachment: String
  ) -> ByteBuffer {
    prefix(conversation, id, .attachment).appending(attachment)
  }

  /// The limit on the bytes of a key, which leaves room for keys that hold one of them.
  private static let maximumByteCount = 501

  /// Returns the parts of a key, or nil if the bytes are not a valid key.
  package static func parts(
    _ key: Bytes
  ) -> (conversation: UInt32, id: MessageID, kind: FactKind, rest: Bytes)? {
    guard let conversation = key.bigEndianNumber(at: 0), 6...maximumByteCount ~= key.count,
      case let idByteCount = Int(key[4]), idByteCount > 0, key.count >= 6 + idByteCount,
      let kind = FactKind(rawValue: key[5 + idByteCount]),
      key.slice(5, idByteCount).isValidUTF8
    else { return nil }
    return (
      conversation, MessageID(key.slice(5, idByteCount)), kind, key.dropFirst(6 + idByteCount)
    )
  }
}
