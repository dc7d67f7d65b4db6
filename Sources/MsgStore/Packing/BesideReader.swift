package import PageFile

/// A reader of the messages that lie beside their segments.
///
/// See docs/message-format.md, M-11.
///
/// A change of a packed message would unpack, compress, and log a whole segment. Instead, the
/// record as it is now goes to a tree of its own, under the key that the message would have in a
/// cell of its own, and the segment says so by its tag. The places and names of the segment stay as
/// they are, so cursors find messages without looking here.
struct BesideReader {
  let view: StoreView

  /// A limit above any record that may lie beside a segment; a longer one is not read.
  private static let maximumByteCount = Segment.maximumBlockByteCount

  /// Replaces the rows of a segment by the records that lie beside it.
  ///
  /// - Parameters:
  ///   - segment: A segment that is unpacked as a whole.
  ///   - number: The number of its conversation.
  /// - Throws: `corruptRecord` if a record is malformed, or belongs to no message of the segment.
  func apply(to segment: inout UnpackedSegment, in number: UInt32) throws(StoreError) {
    let first = segment.key(0, in: number)
    let last = segment.key(segment.rows.count - 1, in: number)
    var cursor = Cursor(view.source, Schema.beside)
    var key = ByteBuffer(capacity: 64)
    var value = ByteBuffer(capacity: 256)
    try storage { () throws(PageFileError) in _ = try cursor.seek(first.bytes) }
    while cursor.isAtCell {
      key.removeAll()
      cursor.appendKey(to: &key)
      guard key.bytes.compare(to: last.bytes) <= 0 else { return }
      guard cursor.valueByteCount <= Self.maximumByteCount else {
        throw view.corrupt(Schema.beside, "record too long (\(cursor.valueByteCount) bytes)")
      }
      value.removeAll()
      try view.append(cursor, to: &value)
      let found = segment.search(key.bytes.dropFirst(KeyEncoding.numberByteCount))
      guard found.isEqual else {
        throw view.corrupt(Schema.beside, "record of a message that is not in the segment")
      }
      guard segment.replace(found.index, with: value.bytes) else {
        throw view.corrupt(Schema.beside, "malformed record")
      }
      try storage { () throws(PageFileError) in _ = try cursor.next() }
    }
  }

  /// Returns the number of records between two keys, both included, counted up to a limit.
  func count(
    from first: Bytes, through last: Bytes, atMost maximumCount: Int
  ) throws(StoreError) -> Int {
    var cursor = Cursor(view.source, Schema.beside)
    var key = ByteBuffer(capacity: 64)
    var count = 0
    try storage { () throws(PageFileError) in _ = try cursor.seek(first) }
    while cursor.isAtCell, count < maximumCount {
      key.removeAll()
      cursor.appendKey(to: &key)
      guard key.bytes.compare(to: last) <= 0 else { break }
      count += 1
      try storage { () throws(PageFileError) in _ = try cursor.next() }
    }
    return count
  }
}

extension StoreView {
  var beside: BesideReader { BesideReader(view: self) }
}

extension UnpackedSegment {
  /// Returns the key of a message.
  package func key(_ index: Int, in number: UInt32) -> ByteBuffer {
    var key = KeyEncoding.key(number)
    appendKey(index, to: &key)
    return key
  }

  /// Returns true if the record of a message lies beside the segment.
  package func isBeside(_ index: Int) -> Bool { rows[index].isBeside }

  /// Returns the keys of the messages that lie beside the segment.
  func besideKeys(in number: UInt32) -> [[UInt8]] {
    guard header?.hasBeside == true else { return [] }
    return (0..<rows.count).compactMap {
      guard rows[$0].isBeside else { return nil }
      let key = key($0, in: number)
      return key.bytes.array()
    }
  }
}
