package import MsgStore
package import PageFile

/// The contents of a cell in the messages tree according to its header, for tools and tests.
package enum SegmentReport {
  /// Returns the number of messages in a segment, or nil if the value is not a segment.
  package static func messageCount(_ value: Bytes) -> Int? { SegmentHeader(value)?.count }

  /// Returns a readable form of a value's first bytes, or an empty string if it is not a segment.
  package static func describe(_ head: [UInt8], tree: Int) -> String {
    guard TreeNumber(tree) == Schema.messages,
      let (count, coding) = Bytes.with(head, { SegmentHeader.beginning($0) })
    else { return "" }
    return switch coding {
    case .plain: "segment of \(count), not compressed"
    case .lz4(0): "segment of \(count)"
    case .lz4(let number): "segment of \(count), dictionary \(number)"
    }
  }

  /// Returns the number of the dictionary that a segment is packed with, 0 for none; nil if the
  /// value is not a segment.
  package static func dictionary(_ value: Bytes) -> UInt32? { SegmentHeader.dictionary(value) }

  /// Returns the names in the keys of a segment's messages, or nil if the value is not a segment.
  ///
  /// Texts are not unpacked, so no dictionary is needed.
  ///
  /// - Parameter key: The key of the cell.
  package static func names(_ value: Bytes, at key: Bytes) -> [MessageID]? {
    UnpackedSegment.names(value, at: key.dropFirst(KeyEncoding.numberByteCount))
  }
}
