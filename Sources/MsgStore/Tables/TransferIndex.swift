package import PageFile

/// The transfers tree: which attachments are moving, and where one with a content hash is.
///
/// See docs/message-format.md, F-11 … F-13.
///
///     0x01, key of the attachment's fact                 an upload or a download is queued or runs
///     0x02, digest of the hash (8), key of the fact      the hash and the remote URL are known
///
/// The values are empty. The key of a fact has at most 501 bytes, so these have at most 510.
package enum TransferIndex {
  package static let moving: UInt8 = 1
  static let hashed: UInt8 = 2

  static func movingKey(_ fact: Bytes) -> ByteBuffer {
    var key = ByteBuffer()
    key.append(moving)
    key.append(fact)
    return key
  }

  static func hashedKey(_ hash: [UInt8], _ fact: Bytes) -> ByteBuffer {
    var key = ByteBuffer()
    key.append(hashed)
    key.append(bigEndian: digest(hash))
    key.append(fact)
    return key
  }

  /// The entry's kind and the key of its fact; nil when these bytes are no key.
  package static func parts(_ key: Bytes) -> (kind: UInt8, digest: UInt64?, fact: Bytes)? {
    switch key.count > 0 ? key[0] : 0 {
    case moving: return (moving, nil, key.dropFirst(1))
    case hashed where key.count > 9: return (hashed, key.bigEndian64(at: 1), key.dropFirst(9))
    default: return nil
    }
  }

  /// Hashes may be of any length, keys may not.
  package static func digest(_ hash: [UInt8]) -> UInt64 {
    var digest: UInt64 = 0xCBF2_9CE4_8422_2325
    for byte in hash { digest = (digest ^ UInt64(byte)) &* 0x100_0000_01B3 }
    return digest
  }
}

extension AttachmentRecord {
  /// The hash under which the attachment is found: one whose bytes can be fetched has it.
  package var indexedHash: [UInt8]? {
    guard attachment.remoteURL != nil, let hash = attachment.contentHash, !hash.isEmpty else {
      return nil
    }
    return hash
  }

  /// The keys that the transfers tree has of it.
  package func forEachIndexKey(
    of fact: Bytes, _ body: (borrowing ByteBuffer) throws(StoreError) -> Void
  ) throws(StoreError) {
    if isMoving, !StoreDefect.transfersUnlisted.isPlanted {
      let key = TransferIndex.movingKey(fact)
      try body(key)
    }
    if let hash = indexedHash {
      let key = TransferIndex.hashedKey(hash, fact)
      try body(key)
    }
  }
}
