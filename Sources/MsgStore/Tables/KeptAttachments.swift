import PageFile

/// The attachments that the newest edit with a list of them leaves to a message.
///
/// See docs/message-format.md, X-12. Of two lists the one with the later time counts, and of one
/// time the greater one, so lists merge in any order.
package struct KeptAttachments: Equatable, Sendable {
  package let time: Int64
  /// The ids, without repetition, in the order of their bytes.
  package let ids: [String]

  package static let maximumCount = 1000

  package init(_ ids: some Sequence<String>, at time: Int64) {
    self.time = time
    var sorted: [String] = []
    for id in ids.sorted(by: { $0.precedesByBytes($1) }) {
      if let last = sorted.last, last.hasSameBytes(as: id) { continue }
      sorted.append(id)
    }
    self.ids = sorted
  }

  /// Returns true if an attachment stays.
  package func contains(_ id: String) -> Bool { ids.contains { $0.hasSameBytes(as: id) } }

  /// Returns the list that counts.
  static func later(_ a: Self?, _ b: Self?) -> Self? {
    guard let a, let b else { return a ?? b }
    if a.time != b.time {
      return (a.time < b.time) != StoreDefect.olderListWins.isPlanted ? b : a
    }
    return a.precedes(b) ? b : a
  }

  /// Compares two lists of one time.
  private func precedes(_ other: Self) -> Bool {
    for (id, theirs) in zip(ids, other.ids) where !id.hasSameBytes(as: theirs) {
      return id.precedesByBytes(theirs)
    }
    return ids.count < other.ids.count
  }

  /// Returns nil if the bytes are not a valid list.
  init?(_ reader: inout ByteReader) {
    guard let time = reader.uint64(), let count = reader.varint(), count <= Self.maximumCount
    else { return nil }
    var ids: [String] = []
    for _ in 0..<count {
      guard let byteCount = reader.byte(), byteCount <= MessageAttachment.maximumIDByteCount,
        byteCount > 0, let bytes = reader.take(Int(byteCount)), bytes.isText
      else { return nil }
      let id = bytes.repairedText()
      if let last = ids.last, !last.precedesByBytes(id) { return nil }
      ids.append(id)
    }
    self.time = Int64(bitPattern: time)
    self.ids = ids
  }

  func append(to buffer: inout ByteBuffer) {
    buffer.append(time: time)
    buffer.append(varint: UInt64(ids.count))
    for id in ids {
      buffer.append(UInt8(truncatingIfNeeded: id.utf8.count))
      buffer.append(id)
    }
  }
}
