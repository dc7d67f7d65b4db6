package import PageFile

/// Keys of the transfers tree, which leads to moving attachments and to attachments by content
/// hash.
///
/// See docs/message-format.md, F-11 … F-13.
///
///     0x01, key of the attachment's fact               an upload or download is queued or running
///     0x02, digest of the hash (8), key of the fact    the hash and the remote URL are known
///
/// Keys of local files follow them, see `FileIndex`. The values are empty. The key of a fact has at
/// most 501 bytes, so these have at most 510.
package enum TransferIndex {
  package static let moving: UInt8 = 1
  static let hashed: UInt8 = 2

  private static func movingKey(_ fact: Bytes) -> ByteBuffer {
    ByteBuffer().appending(moving).appending(fact)
  }

  static func hashedKey(_ hash: [UInt8], _ fact: Bytes) -> ByteBuffer {
    ByteBuffer().appending(hashed).appending(digest(hash)).appending(fact)
  }

  /// Returns the entry's kind and the key of its fact, or nil if the bytes are not a valid key.
  package static func parts(_ key: Bytes) -> (kind: UInt8, digest: UInt64?, fact: Bytes)? {
    switch key.count > 0 ? key[0] : 0 {
    case moving: return (moving, nil, key.dropFirst(1))
    case hashed where key.count > 9: return (hashed, key.bigEndian64(at: 1), key.dropFirst(9))
    default: return nil
    }
  }

  /// Returns the digest of a hash, or of a path.
  ///
  /// Hashes may be of any length, keys may not.
  package static func digest(_ bytes: some Sequence<UInt8>) -> UInt64 {
    var digest: UInt64 = 0xCBF2_9CE4_8422_2325
    for byte in bytes { digest = (digest ^ UInt64(byte)) &* 0x100_0000_01B3 }
    return digest
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
  package static let tree = Schema.transfers
  package static let isCounted = false

  package static func forEachKey(
    of record: Record, _ body: (borrowing ByteBuffer) throws(StoreError) -> Void
  ) throws(StoreError) {
    let (fact, attachment) = record
    if attachment.isMoving, !StoreDefect.transfersUnlisted.isPlanted {
      try body(movingKey(fact))
    }
    if let hash = attachment.indexedHash { try body(hashedKey(hash, fact)) }
    if let path = attachment.neededPath { try body(FileIndex.neededKey(path, fact)) }
  }
}
