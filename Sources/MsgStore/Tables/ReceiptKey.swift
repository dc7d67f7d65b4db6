package import PageFile

/// Keys of the receipts tree.
///
/// See docs/message-format.md, V-1 and V-6 … V-9.
///
///     conversation's number (4), member's number (4)        the member's receipts
///     conversation's number (4), 0 (4)                      the conversation's own record
///     conversation's number (4), 0 (4), kind (1), ordinal (8), id
///                                                           a named receipt to tell
///     0 (4), kind (1), conversation's number (4)            the conversation has receipts to tell
package enum ReceiptKey {
  package static let memberByteCount = 8
  private static let exactByteCount = 17

  /// The decoded parts of a key.
  package enum Parts {
    case member(conversation: UInt32, member: UInt32)
    case own(conversation: UInt32)
    /// A named receipt.
    case exact(conversation: UInt32, ReceiptKind, MessageID, ordinal: UInt64)
    case pending(ReceiptKind, conversation: UInt32)
  }

  package static func member(_ conversation: UInt32, _ member: UInt32) -> ByteBuffer {
    KeyEncoding.key(conversation).appending(member)
  }

  package static func own(_ conversation: UInt32) -> ByteBuffer { member(conversation, 0) }

  /// Returns the common prefix of the keys of named receipts.
  package static func exact(_ conversation: UInt32, _ kind: ReceiptKind) -> ByteBuffer {
    own(conversation).appending(kind.rawValue)
  }

  /// Returns the common prefix of the keys of named receipts with an ordinal.
  static func exact(
    _ conversation: UInt32, _ kind: ReceiptKind, ordinal: UInt64
  ) -> ByteBuffer {
    exact(conversation, kind).appending(ordinal)
  }

  package static func exact(
    _ conversation: UInt32, _ kind: ReceiptKind, ordinal: UInt64, _ id: MessageID
  ) -> ByteBuffer {
    exact(conversation, kind, ordinal: ordinal).appending(id)
  }

  /// Returns the common prefix of the keys of conversations with receipts to tell.
  package static func pending(_ kind: ReceiptKind) -> ByteBuffer {
    KeyEncoding.key(0).appending(kind.rawValue)
  }

  package static func pending(_ kind: ReceiptKind, _ conversation: UInt32) -> ByteBuffer {
    pending(kind).appending(conversation)
  }

  /// Returns the parts of a key, or nil if the bytes are not a valid key.
  package static func parts(_ key: Bytes) -> Parts? {
    guard let conversation = key.bigEndianNumber(at: 0) else { return nil }
    if conversation == 0 {
      guard key.count == 9, let kind = ReceiptKind(rawValue: key[4]),
        let number = key.bigEndianNumber(at: 5)
      else { return nil }
      return .pending(kind, conversation: number)
    }
    guard let member = key.bigEndianNumber(at: 4) else { return nil }
    if key.count == memberByteCount {
      return member == 0
        ? .own(conversation: conversation) : .member(conversation: conversation, member: member)
    }
    guard member == 0, let kind = ReceiptKind(rawValue: key[memberByteCount]) else { return nil }
    guard key.count > exactByteCount, case let id = key.dropFirst(exactByteCount),
      id.count <= Identifier.maximumByteCount, id.isValidUTF8
    else { return nil }
    let ordinal = key.bigEndian64(at: memberByteCount + 1)
    return .exact(conversation: conversation, kind, MessageID(id), ordinal: ordinal)
  }
}
