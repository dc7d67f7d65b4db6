package import PageFile

/// Keys of the names tree.
///
///     0x01, id of a conversation                    → its number, see `ConversationName`
///     0x02, id of a member                          → its number (4)
///     0x03, digest of the participants (8), number of the conversation (4)
///                                                   → nothing, see `ParticipantsKey`
///
/// The way back from the number of a member is in the index, see `MemberKey`: so one lost page does
/// not take both.
///
/// See docs/message-format.md, N-1 … N-5.
package enum NameKey {
  /// The kinds of keys.
  package enum Kind: UInt8 {
    case conversation = 1
    case member = 2
    case participants = 3
  }

  package static func prefix(_ kind: Kind) -> ByteBuffer { KeyEncoding.prefix(kind.rawValue) }

  @inline(never)
  package static func conversation(_ id: String) -> ByteBuffer {
    prefix(.conversation).appending(id)
  }

  @inline(never)
  package static func member(_ id: String) -> ByteBuffer { prefix(.member).appending(id) }

  /// Returns the kind of a key and the bytes behind it; nil if the bytes are not a key.
  package static func parts(_ key: Bytes) -> (kind: Kind, rest: Bytes)? {
    guard key.count > 1, let kind = Kind(rawValue: key[0]) else { return nil }
    return (kind, key.dropFirst(1))
  }
}

/// Keys by which a conversation is found with exactly some participants.
package enum ParticipantsKey: RecordIndex {
  package typealias Record = (digest: UInt64, conversation: UInt32)
  package static var tree: TreeNumber { Schema.names }
  package static let isCounted = false

  /// Returns the common prefix of the keys of one digest.
  package static func prefix(_ digest: UInt64) -> ByteBuffer {
    NameKey.prefix(.participants).appending(digest)
  }

  package static func key(_ record: Record) -> ByteBuffer {
    prefix(record.digest).appending(record.conversation)
  }

  package static func forEachKey(
    of record: Record, _ body: (borrowing ByteBuffer) throws(StoreError) -> Void
  ) throws(StoreError) {
    try body(key(record))
  }

  /// Returns the parts of a key, or nil if it is malformed.
  package static func parts(_ key: Bytes) -> Record? {
    guard case (.participants, let rest)? = NameKey.parts(key), rest.count == 12,
      let number = rest.bigEndianNumber(at: 8)
    else { return nil }
    return (rest.bigEndian64(at: 0), number)
  }
}
