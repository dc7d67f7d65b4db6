package import PageFile

/// Keys of the index tree for the files that attachments have on this device.
///
/// See docs/message-format.md, P-4, P-5 and P-7.
///
///     0 (4), 0x06, digest of the path (4), key of the fact    the attachment has it → nothing
///     0 (4), 0x07, digest of the path (4), number (4)         no attachment has it → the path
///
/// The number tells apart paths of one digest. Paths may be longer than keys, so keys have digests,
/// and each path that is found is compared.
package enum FileIndex {
  package static var unneeded: ByteBuffer {
    KeyEncoding.key(KeyEncoding.allConversations, .unneededFile)
  }
  /// The byte count of the key of a file that nothing needs.
  private static let unneededByteCount = 13

  package static func neededKey(_ path: String, _ fact: Bytes) -> ByteBuffer {
    KeyEncoding.key(KeyEncoding.allConversations, .neededFile)
      .appending(digest(path)).appending(fact)
  }

  package static func unneededPrefix(_ path: String) -> ByteBuffer {
    unneeded.appending(digest(path))
  }

  package static func unneededKey(_ path: String, _ number: UInt32) -> ByteBuffer {
    unneededPrefix(path).appending(number)
  }

  @inline(never)
  package static func digest(_ path: String) -> UInt32 {
    let name = KeyEncoding.key(path)
    return KeyEncoding.digest(name.bytes)
  }

  /// Returns the number and the path of a file that nothing needs, or nil if the bytes are not a
  /// valid entry.
  package static func unneededParts(_ key: Bytes, _ value: Bytes) -> (number: UInt32, path: String)?
  {
    guard key.count == unneededByteCount, key.indexKind == .unneededFile,
      let number = key.bigEndianNumber(at: 9),
      (1...MessageAttachment.maximumFieldByteCount).contains(value.count),
      let path = String(field: value), digest(path) == key.bigEndianNumber(at: 5)
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
    try view.forEachCell(with: prefix, in: Schema.index) { (key, _) throws(StoreError) in
      guard let fact = TransferIndex.fact(key),
        let record = try view.facts.attachmentRecord(fact)
      else { throw view.corrupt(Schema.index, "file entry: missing attachment") }
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
    var start = FileIndex.unneeded
    if let last {
      let number = try place(of: last).number
      start = number.map { FileIndex.unneededKey(last, $0) } ?? FileIndex.unneededPrefix(last)
    }
    try forEachUnneeded(start, sharing: KeyEncoding.indexByteCount) { _, path in
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
    try view.forEachCell(with: start, sharing: byteCount, in: Schema.index) {
      (key, value) throws(StoreError) in
      guard let (number, path) = FileIndex.unneededParts(key, value) else {
        throw view.corrupt(Schema.index, "malformed entry of an unneeded file")
      }
      return body(number, path)
    }
  }
}

extension StoreView {
  package var files: FileReader { FileReader(view: self) }
}
