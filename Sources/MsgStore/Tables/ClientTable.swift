package import PageFile

/// Keys of the client tree, which holds the clients' own data, such as sync positions.
///
/// See docs/message-format.md, H-1 and H-2.
///
///     conversation's number (4), or 0 for the store; key → the client's bytes
package enum ClientKey {
  /// The number that stands for the store as a whole; no conversation has it.
  package static let store: UInt32 = 0

  static func key(_ conversation: UInt32, _ key: String) -> ByteBuffer {
    var buffer = KeyEncoding.key(conversation)
    buffer.append(key)
    return buffer
  }

  /// Returns the parts of a key, or nil if the bytes are not a valid key.
  package static func parts(_ key: Bytes) -> (conversation: UInt32, key: Bytes)? {
    guard let conversation = key.bigEndianNumber(at: 0),
      case let rest = key.dropFirst(KeyEncoding.numberByteCount),
      (1...Identifier.maximumByteCount).contains(rest.count), rest.isValidUTF8
    else { return nil }
    return (conversation, rest)
  }
}

/// A reader of the clients' own data.
struct ClientReader {
  let view: StoreView

  /// Returns the number under which the data of a conversation, or of the store, is kept.
  ///
  /// Returns nil for an unknown conversation.
  func clientNumber(of conversation: ConversationID?) throws(StoreError) -> UInt32? {
    guard let conversation else { return ClientKey.store }
    return try view.number(of: conversation)
  }

  func syncPosition(
    for key: String, in conversation: ConversationID?
  ) throws(StoreError) -> [UInt8]? {
    guard (1...Identifier.maximumByteCount).contains(key.utf8.count),
      let number = try clientNumber(of: conversation)
    else { return nil }
    var value = ByteBuffer()
    let key = ClientKey.key(number, key)
    guard try view.value(of: key.bytes, in: Schema.client, appendTo: &value) else { return nil }
    return value.bytes.array()
  }

  func syncPositions(in conversation: ConversationID?) throws(StoreError) -> [SyncPosition] {
    guard let number = try clientNumber(of: conversation) else { return [] }
    var positions: [SyncPosition] = []
    try view.forEachCell(with: KeyEncoding.key(number), in: Schema.client) {
      (key, value) throws(StoreError) in
      guard let parts = ClientKey.parts(key) else {
        throw view.corrupt(Schema.client, "malformed key (\(key.count) bytes)")
      }
      positions.append(SyncPosition(key: parts.key.repairedText(), bytes: value.array()))
      return true
    }
    return positions
  }
}

extension StoreView {
  var client: ClientReader { ClientReader(view: self) }
}
