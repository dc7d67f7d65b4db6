package import PageFile

/// Keys of the index tree, which leads to records by their contents.
///
/// See docs/message-format.md, S-11. Every key begins with the number of a conversation, or with 0
/// where it concerns all of them, and a kind:
///
///     number  0x01  tag of messages                           see `TagKey`
///     number  0x02  replies to a message                      see `ReplyKey`
///     0       0x03  message that is not here and has facts    see `WaitingKey`
///     0       0x04  moving attachment                         see `TransferIndex`
///     0       0x05  attachment by its content hash            see `TransferIndex`
///     0       0x06  attachment by its local file              see `FileIndex`
///     0       0x07  local file that no attachment needs       see `FileIndex`
///     0       0x08  conversation with receipts to tell        see `PendingKey`
///     0       0x09  name of a member by its number            see `MemberKey`
package enum IndexKind: UInt8 {
  case tag = 1
  case reply = 2
  case waiting = 3
  case moving = 4
  case hashed = 5
  case neededFile = 6
  case unneededFile = 7
  case pendingReceipts = 8
  case member = 9
}

extension KeyEncoding {
  /// The number in the place of a conversation's, under which the keys of all of them lie.
  package static let allConversations: UInt32 = 0
  /// The byte count of the number and the kind at the start of a key of the index tree.
  package static let indexByteCount = numberByteCount + 1

  /// Returns the common prefix of the keys of one kind.
  package static func key(_ conversation: UInt32, _ kind: IndexKind) -> ByteBuffer {
    key(conversation).appending(kind.rawValue)
  }

  /// Returns the digest of a text or of a hash, which may be longer than a key: the 64-bit FNV-1a
  /// of the bytes, the halves of which are xored.
  ///
  /// Other bytes may have the same digest, so what is found is compared.
  package static func digest(_ bytes: Bytes) -> UInt32 {
    var hash: UInt64 = 0xCBF2_9CE4_8422_2325
    for index in 0..<bytes.count {
      hash = (hash ^ UInt64(bytes[index])) &* 0x100_0000_01B3
    }
    return UInt32(truncatingIfNeeded: hash ^ hash &>> 32)
  }
}

extension Bytes {
  /// The kind of a key of the index tree; nil if the bytes are not one.
  package var indexKind: IndexKind? {
    guard count > KeyEncoding.indexByteCount,
      let kind = IndexKind(rawValue: self[KeyEncoding.numberByteCount])
    else { return nil }
    let isOfAll = uint32(at: 0) == KeyEncoding.allConversations
    return switch kind {
    case .tag: kind
    case .reply: isOfAll ? nil : kind
    default: isOfAll ? kind : nil
    }
  }

  /// The bytes of a key of the index tree behind its kind.
  package var indexRest: Bytes { dropFirst(KeyEncoding.indexByteCount) }
}

/// Keys of messages that are not here and have facts, in the order in which they began to wait.
///
///     0 (4), 0x03, ordinal (8), number of the conversation (4), name of the message
package enum WaitingKey: RecordIndex {
  package typealias Record = (ordinal: UInt64, conversation: UInt32, id: MessageID)
  package static let isCounted = false
  /// The common prefix of all these keys.
  package static var prefix: ByteBuffer {
    KeyEncoding.key(KeyEncoding.allConversations, .waiting)
  }

  package static func key(_ record: Record) -> ByteBuffer {
    prefix.appending(record.ordinal).appending(record.conversation).appending(record.id)
  }

  package static func forEachKey(
    of record: Record, _ body: (borrowing ByteBuffer) throws(StoreError) -> Void
  ) throws(StoreError) {
    try body(key(record))
  }

  /// Returns the parts of a key, or nil if it is malformed.
  package static func parts(_ key: Bytes) -> Record? {
    key.indexKind == .waiting ? parts(behindPrefix: key.indexRest) : nil
  }

  package static func parts(behindPrefix rest: Bytes) -> Record? {
    guard let conversation = rest.bigEndianNumber(at: 8), case let name = rest.dropFirst(12),
      (1...Identifier.maximumByteCount).contains(name.count), name.isText
    else { return nil }
    return (rest.bigEndian64(at: 0), conversation, MessageID(name))
  }
}

/// Keys of the numbers of members, which lead to their ids.
///
///     0 (4), 0x09, number of the member (4) → id
package enum MemberKey {
  package static func key(_ member: UInt32) -> ByteBuffer {
    KeyEncoding.key(KeyEncoding.allConversations, .member).appending(member)
  }

  /// Returns the number in a key, or nil if it is malformed.
  package static func number(_ key: Bytes) -> UInt32? {
    guard key.indexKind == .member, case let rest = key.indexRest, rest.count == 4 else {
      return nil
    }
    return rest.bigEndianNumber(at: 0)
  }
}

/// Keys of conversations with receipts that the server has not been told.
///
///     0 (4), 0x08, kind of receipts (1), number of the conversation (4)
package enum PendingKey: RecordIndex {
  package typealias Record = (conversation: UInt32, own: ConversationReceipts)
  package static let isCounted = false

  /// Returns the common prefix of the keys of one kind of receipts.
  package static func prefix(_ kind: ReceiptKind) -> ByteBuffer {
    KeyEncoding.key(KeyEncoding.allConversations, .pendingReceipts).appending(kind.rawValue)
  }

  package static func key(_ kind: ReceiptKind, _ conversation: UInt32) -> ByteBuffer {
    prefix(kind).appending(conversation)
  }

  package static func forEachKey(
    of record: Record, _ body: (borrowing ByteBuffer) throws(StoreError) -> Void
  ) throws(StoreError) {
    for kind in ReceiptKind.allCases where record.own.isListed(kind) {
      try body(key(kind, record.conversation))
    }
  }

  /// Returns the parts of a key, or nil if it is malformed.
  package static func parts(_ key: Bytes) -> (kind: ReceiptKind, conversation: UInt32)? {
    guard key.indexKind == .pendingReceipts, case let rest = key.indexRest, rest.count == 5,
      let kind = ReceiptKind(rawValue: rest[0]), let conversation = rest.bigEndianNumber(at: 1)
    else { return nil }
    return (kind, conversation)
  }
}
