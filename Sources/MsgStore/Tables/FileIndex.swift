package import PageFile

/// Keys of the transfers tree for the files that attachments have on this device.
///
/// See docs/message-format.md, P-4, P-5 and P-7.
///
///     0x03, digest of the path (8), key of the fact    the attachment has this path → nothing
///     0x04, digest of the path (8), number (4)         no attachment has this path → the path
///
/// The number tells apart paths of one digest. Paths may be longer than keys, so keys have digests,
/// and each path that is found is compared.
package enum FileIndex {
  package static let needed: UInt8 = 3
  package static let unneeded: UInt8 = 4
  /// The byte count of the key of a file that nothing needs.
  private static let unneededByteCount = 13

  package static func neededKey(_ path: String, _ fact: Bytes) -> ByteBuffer {
    ByteBuffer().appending(needed).appending(digest(path)).appending(fact)
  }

  package static func unneededPrefix(_ path: String) -> ByteBuffer {
    ByteBuffer().appending(unneeded).appending(digest(path))
  }

  package static func unneededKey(_ path: String, _ number: UInt32) -> ByteBuffer {
    unneededPrefix(path).appending(number)
  }

  package static func digest(_ path: String) -> UInt64 { TransferIndex.digest(path.utf8) }

  /// Returns the digest and the key of the fact of an attachment that has a path, or nil if the
  /// bytes are not such a key.
  package static func neededParts(_ key: Bytes) -> (digest: UInt64, fact: Bytes)? {
    guard key.count > 9, key[0] == needed else { return nil }
    return (key.bigEndian64(at: 1), key.dropFirst(9))
  }

  /// Returns the number and the path of a file that nothing needs, or nil if the bytes are not a
  /// valid entry.
  package static func unneededParts(_ key: Bytes, _ value: Bytes) -> (number: UInt32, path: String)?
  {
    guard key.count == unneededByteCount, key[0] == unneeded,
      let number = key.bigEndianNumber(at: 9),
      (1...MessageAttachment.maximumFieldByteCount).contains(value.count),
      let path = String(field: value), digest(path) == key.bigEndian64(at: 1)
    else { return nil }
    return (number, path)
  }
}

extension AttachmentRecord {
  /// The path of the file that the attachment needs; nil without one.
  package var neededPath: String? {
    guard let path = attachment.localPath, !path.isEmpty else { return nil }
    return path
  }
}

/// A reader of the local files that attachments need, and of those that nothing needs any more.
package struct FileReader {
  let view: StoreView

  /// Returns true if an attachment has a path.
  ///
  /// Costs two lookups, and one more for each other path of the same digest.
  package func isNeeded(_ path: String) throws(StoreError) -> Bool {
    var isNeeded = false
    let prefix = FileIndex.neededKey(path, .empty)
    try view.forEachCell(with: prefix, in: Schema.transfers) { (key, _) throws(StoreError) in
      guard let (_, fact) = FileIndex.neededParts(key),
        let record = try view.facts.attachmentRecord(fact)
      else { throw view.corrupt(Schema.transfers, "file entry: missing attachment") }
      isNeeded = record.neededPath?.hasSameBytes(as: path) ?? false
      return !isNeeded
    }
    return isNeeded
  }

  /// Returns the number of a path among the unneeded ones of its digest, nil if it is not listed,
  /// and the lowest number that none of them has.
  package func place(
    of path: String
  ) throws(StoreError) -> (number: UInt32?, free: UInt32) {
    var number: UInt32?
    var free: UInt32 = 0
    let prefix = FileIndex.unneededPrefix(path)
    try forEachUnneeded(prefix, sharing: prefix.count) { other, listed in
      if listed.hasSameBytes(as: path) { number = other }
      if other == free { free += 1 }
      return true
    }
    return (number, free)
  }

  /// Returns paths that nothing needs, in the order of their digests.
  ///
  /// - Parameter last: The path behind which to begin; nil begins with the first.
  func unneeded(count: Int, after last: String?) throws(StoreError) -> [String] {
    var found: [String] = []
    if count <= 0 { return found }
    var start = KeyEncoding.prefix(FileIndex.unneeded)
    if let last {
      let number = try place(of: last).number
      start = number.map { FileIndex.unneededKey(last, $0) } ?? FileIndex.unneededPrefix(last)
    }
    try forEachUnneeded(start, sharing: 1) { _, path in
      if last.map({ path.hasSameBytes(as: $0) }) ?? false { return true }
      found.append(path)
      return found.count < count
    }
    return found
  }

  private func forEachUnneeded(
    _ start: borrowing ByteBuffer, sharing byteCount: Int,
    _ body: (_ number: UInt32, _ path: String) -> Bool
  ) throws(StoreError) {
    try view.forEachCell(with: start, sharing: byteCount, in: Schema.transfers) {
      (key, value) throws(StoreError) in
      guard let (number, path) = FileIndex.unneededParts(key, value) else {
        throw view.corrupt(Schema.transfers, "malformed entry of an unneeded file")
      }
      return body(number, path)
    }
  }
}

extension StoreView {
  package var files: FileReader { FileReader(view: self) }
}
