package import PageFile

/// Keys of receipts in the conversations tree.
///
/// See docs/message-format.md, V-1 and V-6 … V-9.
///
///     conversation's number (4), 0x05                       the conversation's own record
///     conversation's number (4), 0x06, kind (1), ordinal (8), id
///                                                           a named receipt to tell
///     conversation's number (4), 0x07, member's number (4)  the member's receipts
package enum ReceiptKey {
  package static let ownSuffix: UInt8 = 5
  private static let exactSuffix: UInt8 = 6
  package static let memberSuffix: UInt8 = 7
  /// The suffixes of all keys of receipts.
  package static let suffixes = ownSuffix...memberSuffix
  package static let memberByteCount = 9
  private static let exactByteCount = 14

  /// The decoded parts of a key.
  package enum Parts {
    case member(conversation: UInt32, member: UInt32)
    case own(conversation: UInt32)
    /// A named receipt.
    case exact(conversation: UInt32, ReceiptKind, MessageID, ordinal: UInt64)
  }

  package static func member(_ conversation: UInt32, _ member: UInt32) -> ByteBuffer {
    KeyEncoding.key(conversation).appending(memberSuffix).appending(member)
  }

  package static func own(_ conversation: UInt32) -> ByteBuffer {
    KeyEncoding.key(conversation).appending(ownSuffix)
  }

  /// Returns the common prefix of the keys of named receipts.
  package static func exact(_ conversation: UInt32, _ kind: ReceiptKind) -> ByteBuffer {
    KeyEncoding.key(conversation).appending(exactSuffix).appending(kind.rawValue)
  }

  /// Returns the common prefix of the keys of named receipts with an ordinal.
  static func exact(
    _ conversation: UInt32, _ kind: ReceiptKind, ordinal: UInt64
  ) -> ByteBuffer {
    exact(conversation, kind).appending(ordinal)
  }

  @inline(never)
  package static func exact(
    _ conversation: UInt32, _ kind: ReceiptKind, ordinal: UInt64, _ id: MessageID
  ) -> ByteBuffer {
    exact(conversation, kind, ordinal: ordinal).appending(id)
  }

  /// Returns the parts of a key, or nil if the bytes are not a valid key.
  package static func parts(_ key: Bytes) -> Parts? {
    guard key.count > KeyEncoding.numberByteCount, let conversation = key.bigEndianNumber(at: 0)
    else { return nil }
    switch key[KeyEncoding.numberByteCount] {
    case ownSuffix where key.count == 5:
      return .own(conversation: conversation)
    case memberSuffix where key.count == memberByteCount:
      return key.bigEndianNumber(at: 5).map { .member(conversation: conversation, member: $0) }
    case exactSuffix where key.count > exactByteCount:
      guard let kind = ReceiptKind(rawValue: key[5]), case let id = key.dropFirst(exactByteCount),
        id.count <= Identifier.maximumByteCount, id.isValidUTF8
      else { return nil }
      return .exact(
        conversation: conversation, kind, MessageID(id), ordinal: key.bigEndian64(at: 6))
    default:
      return nil
    }
  }
}
