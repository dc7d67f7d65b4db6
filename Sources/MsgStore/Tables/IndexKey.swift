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
