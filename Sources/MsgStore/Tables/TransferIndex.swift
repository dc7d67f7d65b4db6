package import PageFile

/// Keys of the index tree that lead to attachments: moving ones, those of a content hash, and those
/// with a local file.
///
/// See docs/message-format.md, F-11 … F-13.
///
///     0 (4), 0x04, key of the fact                          it is queued or running
///     0 (4), 0x05, digest of the hash (4), key of the fact  its hash and remote URL are known
///     0 (4), 0x06, digest of the path (4), key of the fact  it has this path
///
/// The values are empty. The key of a fact has at most 501 bytes, so these have at most 510.
package enum TransferIndex {
  static var movingPrefix: ByteBuffer { KeyEncoding.key(KeyEncoding.allConversations, .moving) }

  static func hashedKey(_ hash: [UInt8], _ fact: Bytes) -> ByteBuffer {
    let digest = Bytes.with(hash) { KeyEncoding.digest($0) }
    return KeyEncoding.key(KeyEncoding.allConversations, .hashed)
      .appending(digest).appending(fact)
  }

  /// Returns the key of the fact that a key leads to, or nil if the bytes are not a valid key.
  package static func fact(_ key: Bytes) -> Bytes? {
    let rest: Bytes
    switch key.indexKind {
    case .moving: rest = key.indexRest
    case .hashed, .neededFile:
      guard key.indexRest.count > 4 else { return nil }
      rest = key.indexRest.dropFirst(4)
    default: return nil
    }
    return FactKey.parts(rest).map { $0.kind == .attachment } ?? false ? rest : nil
  }
}

extension AttachmentRecord {
  /// The hash under which the attachment is found.
  ///
  /// Only an attachment whose bytes can be fetched has one.
  package var indexedHash: [UInt8]? {
    guard attachment.remoteURL != nil, let hash = attachment.contentHash, !hash.isEmpty else {
      return nil
    }
    return hash
  }
}

extension TransferIndex: RecordIndex {
  /// An attachment, and the key of its fact.
  package typealias Record = (fact: Bytes, attachment: AttachmentRecord)
  package static let isCounted = false

  package static func forEachKey(
    of record: Record, _ body: (borrowing ByteBuffer) throws(StoreError) -> Void
  ) throws(StoreError) {
    let (fact, attachment) = record
    if attachment.isMoving, !StoreDefect.transfersUnlisted.isPlanted {
      try body(movingPrefix.appending(fact))
    }
    if let hash = attachment.indexedHash { try body(hashedKey(hash, fact)) }
    if let path = attachment.neededPath { try body(FileIndex.neededKey(path, fact)) }
  }
}
