package import PageFile

/// The kinds of facts about a message.
package enum FactKind: UInt8, CaseIterable {
  /// A version of its text that is not the newest.
  case version = 1
  /// A member's reaction with one emoji.
  case reaction = 2
  /// What is known of an attachment.
  case attachment = 3
  /// When a member has received or read exactly this message.
  case receipt = 4
  /// What is known of a message that is not here yet.
  case waiting = 5
  /// A member's mark that goes up to this message, which is not at its place yet.
  case waitingMark = 6
}

/// Keys of the facts tree: everything about a message that is not in its record.
///
/// See docs/message-format.md, F-1 … F-3, V-4 and V-5.
///
///     conversation's number (4), byte count of the id (1), id, kind (1), and what tells facts of
///     one kind apart
///
/// The byte count stands first so that no id is the beginning of another's key.
package enum FactKey {
  /// What the keys of all facts about a message begin with.
  package static func prefix(_ conversation: UInt32, _ id: MessageID) -> ByteBuffer {
    var key = KeyEncoding.key(conversation)
    key.append(UInt8(id.byteCount))
    key.append(id)
    return key
  }

  /// What the keys of one kind of facts begin with.
  package static func prefix(_ conversation: UInt32, _ id: MessageID, _ kind: FactKind)
    -> ByteBuffer
  {
    var key = prefix(conversation, id)
    key.append(kind.rawValue)
    return key
  }

  /// The key of a fact that is one for each member.
  package static func key(
    _ conversation: UInt32, _ id: MessageID, _ kind: FactKind, member: UInt32
  ) -> ByteBuffer {
    var key = prefix(conversation, id, kind)
    key.append(bigEndian: member)
    return key
  }

  /// The key of an attachment.
  package static func key(
    _ conversation: UInt32, _ id: MessageID, attachment: String
  ) -> ByteBuffer {
    var key = prefix(conversation, id, .attachment)
    key.append(attachment)
    return key
  }

  /// The parts of a key; nil when these bytes are none.
  package static func parts(
    _ key: Bytes
  ) -> (conversation: UInt32, id: MessageID, kind: FactKind, rest: Bytes)? {
    guard let conversation = key.bigEndianNumber(at: 0), key.count > 5,
      case let idByteCount = Int(key[4]), idByteCount > 0, key.count >= 6 + idByteCount,
      let kind = FactKind(rawValue: key[5 + idByteCount]),
      key.slice(5, idByteCount).isValidUTF8
    else { return nil }
    return (
      conversation, MessageID(key.slice(5, idByteCount)), kind, key.dropFirst(6 + idByteCount)
    )
  }
}
