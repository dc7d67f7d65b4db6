package import PageFile

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
