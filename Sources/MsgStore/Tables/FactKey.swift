package import PageFile

/// The kinds of facts about a message.
package enum FactKind: UInt8, CaseIterable {
  /// A version of the text that is not the newest.
  case version = 1
  /// A member's reaction with one emoji.
  case reaction = 2
  /// The record of an attachment.
  case attachment = 3
  /// A member's named receipt: when the member received or read exactly this message.
  case receipt = 4
  /// The waiting facts of a message that is not here yet.
  case waiting = 5
  /// A member's receipt mark up to this message, which is not at its place yet.
  case waitingMark = 6
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
    var key = KeyEncoding.key(conversation)
    key.append(UInt8(id.byteCount))
    key.append(id)
    return key
  }

  /// Returns the common prefix of the keys of one kind of facts about a message.
  package static func prefix(_ conversation: UInt32, _ id: MessageID, _ kind: FactKind)
    -> ByteBuffer
  {
    var key = prefix(conversation, id)
    key.append(kind.rawValue)
    return key
  }

  /// Returns the key of a fact that exists once per member.
  package static func key(
    _ conversation: UInt32, _ id: MessageID, _ kind: FactKind, member: UInt32
  ) -> ByteBuffer {
    var key = prefix(conversation, id, kind)
    key.append(bigEndian: member)
    return key
  }

  /// Returns the key of an attachment.
  package static func key(
    _ conversation: UInt32, _ id: MessageID, attachment: String
  ) -> ByteBuffer {
    var key = prefix(conversation, id, .attachment)
    key.append(attachment)
    return key
  }

  /// Returns the parts of a key, or nil if the bytes are not a valid key.
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
