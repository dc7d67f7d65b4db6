package import PageFile

/// A segment as the messages in it.
///
/// Any bytes may be given: every length is checked, and what is unpacked ascends in the order of the
/// thread, so whoever walks through it relies on nothing more. Texts are not looked at.
package struct UnpackedSegment: ~Copyable {
  private(set) var rows: [SegmentRow] = []
  /// Names, then all texts, then what few messages have.
  private(set) var buffer = ByteBuffer(capacity: 4096)

  package init() {}

  /// Unpacks a segment.
  ///
  /// False when it is none that belongs to this key; then there are no rows.
  ///
  /// - Parameters:
  ///   - key: The cell's key without the number of the conversation.
  ///   - dictionary: The one that the header names.
  package mutating func unpack(
    _ value: Bytes, at key: Bytes, with dictionary: CompressionDictionary
  ) -> Bool {
    buffer.removeAll()
    guard Self.unpack(value, at: key, with: dictionary, rows: &rows, to: &buffer) else {
      return false
    }
    for row in rows where !row.isReplyText(in: buffer.bytes) {
      rows.removeAll(keepingCapacity: true)
      return false
    }
    return true
  }

  /// The same without a look at the names of messages that are answered.
  mutating func unpackUnchecked(
    _ value: Bytes, at key: Bytes, with dictionary: CompressionDictionary
  ) -> Bool {
    buffer.removeAll()
    return Self.unpack(value, at: key, with: dictionary, rows: &rows, to: &buffer)
  }

  /// Whether the text of a message is one, and what it answers.
  func isText(_ index: Int) -> Bool {
    let row = rows[index]
    return buffer.bytes.slice(row.textOffset, row.textByteCount).isText
      && row.isReplyText(in: buffer.bytes)
  }

  /// Whether a message has the same bytes as in another unpacking of the same segment.
  func isSame(as other: borrowing UnpackedSegment, _ index: Int) -> Bool {
    let row = rows[index]
    let restByteCount = row.replyByteCount + row.traitsByteCount
    func part(_ bytes: Bytes, _ offset: Int, _ byteCount: Int) -> Bytes {
      bytes.slice(offset, byteCount)
    }
    return
      part(buffer.bytes, row.textOffset, row.textByteCount)
      .compare(to: part(other.buffer.bytes, row.textOffset, row.textByteCount)) == 0
      && part(buffer.bytes, row.replyOffset, restByteCount)
        .compare(to: part(other.buffer.bytes, row.replyOffset, restByteCount)) == 0
  }

  func appendKey(_ index: Int, to key: inout ByteBuffer) {
    key.append(rows[index].place)
    key.append(name(index))
  }

  func name(_ index: Int) -> Bytes {
    buffer.bytes.slice(rows[index].nameOffset, rows[index].nameByteCount)
  }

  /// The record that a message would have alone.
  func record(_ index: Int) -> MessageRecord { rows[index].record(in: buffer.bytes) }

  /// Adds what a slice shows of a message without traits; nil for one that has them.
  func appendParts(_ index: Int, to buffer: inout ByteBuffer) -> MessageParts? {
    let row = rows[index]
    guard !row.flags.contains(.traits) else { return nil }
    let start = buffer.count
    let bytes = self.buffer.bytes
    buffer.append(bytes.slice(row.nameOffset, row.nameByteCount))
    buffer.append(bytes.slice(row.textOffset, row.textByteCount))
    var parts = MessageParts(
      place: row.place, idOffset: start, idByteCount: row.nameByteCount, sender: row.sender,
      status: row.status, textOffset: start &+ row.nameByteCount,
      textByteCount: row.textByteCount, isASCII: buffer.bytes.isASCII(from: start))
    if row.flags.contains(.localTime) { parts.extra = row.time &+ row.localDelta }
    if row.flags.contains(.reply) {
      parts.replyOffset = buffer.count
      parts.replyByteCount = row.replyByteCount
      buffer.append(bytes.slice(row.replyOffset, row.replyByteCount))
    }
    return parts
  }

  /// Adds all messages to a run.
  package func append(to run: inout MessageRun, in number: UInt32) {
    for index in rows.indices { run.append(self, index, in: number) }
  }

  /// The first message whose key is not below `key`, and whether it is that key's.
  ///
  /// - Parameter key: Without the number of the conversation.
  func search(_ key: Bytes) -> (index: Int, isEqual: Bool) {
    var (low, high) = (0, rows.count)
    var other = ByteBuffer(capacity: 64)
    while low < high {
      let middle = (low + high) / 2
      other.removeAll()
      appendKey(middle, to: &other)
      let order = other.bytes.compare(to: key)
      if order == 0 { return (middle, true) }
      if order < 0 { low = middle + 1 } else { high = middle }
    }
    return (low, false)
  }
}

extension SegmentRow {
  /// Whether what it answers has a name that is text.
  func isReplyText(in bytes: Bytes) -> Bool {
    replyByteCount == 0 || bytes.slice(replyOffset, replyByteCount).isText
  }

  /// The record of the message whose bytes lie in these.
  func record(in bytes: Bytes) -> MessageRecord {
    var record = MessageRecord(
      flags: flags, status: status, sender: sender, textByteCount: textByteCount,
      payload: bytes.slice(textOffset, textByteCount))
    record.localDelta = localDelta
    if flags.contains(.markOrdinal) { record.markOrdinal = markOrdinal }
    record.replyBytes = bytes.slice(replyOffset, replyByteCount)
    record.traitsBytes = bytes.slice(replyOffset + replyByteCount, traitsByteCount)
    return record
  }
}

extension UnpackedSegment {
  /// Unpacks a segment to the end of a buffer, where the rows say their bytes are.
  ///
  /// Neither texts nor the names of messages that are answered are looked at.
  static func unpack(
    _ value: Bytes, at key: Bytes, with dictionary: CompressionDictionary,
    rows: inout [SegmentRow], to buffer: inout ByteBuffer
  ) -> Bool {
    guard let (header, unread) = unpackPlaces(value, at: key, rows: &rows, to: &buffer) else {
      rows.removeAll(keepingCapacity: true)
      return false
    }
    var columns = unread
    guard columns.readSenders(&rows), columns.readKinds(&rows),
      columns.readLengths(&rows, from: buffer.count, header),
      columns.readBlock(header, with: dictionary, to: &buffer),
      isAscending(rows, buffer.bytes)
    else {
      rows.removeAll(keepingCapacity: true)
      return false
    }
    return true
  }

  /// Unpacks places and names, which come first.
  private static func unpackPlaces(
    _ value: Bytes, at key: Bytes, rows: inout [SegmentRow], to buffer: inout ByteBuffer
  ) -> (SegmentHeader, SegmentColumns)? {
    rows.removeAll(keepingCapacity: true)
    var reader = ByteReader(value)
    guard let header = SegmentHeader(&reader), let (place, placeByteCount) = key.place(at: 0),
      !place.isPending, case let name = key.dropFirst(placeByteCount),
      (1...Identifier.byteCountMax).contains(name.count)
    else { return nil }
    for _ in 0..<header.count { rows.append(SegmentRow()) }
    (rows[0].time, rows[0].rank, rows[0].hasRank) = (place.time, place.rank, place.hasRank)
    var columns = SegmentColumns(reader: reader)
    guard columns.readTimes(&rows),
      case let difference = rows[header.count - 1].time.subtractingReportingOverflow(place.time),
      !difference.overflow, UInt64(difference.partialValue) == header.lastTimeOffset,
      columns.readSequences(&rows), columns.readNames(&rows, name, to: &buffer)
    else { return nil }
    return (header, columns)
  }

  /// The names alone; nil when these bytes are no segment.
  static func names(_ value: Bytes, at key: Bytes) -> [MessageID]? {
    var rows: [SegmentRow] = []
    var buffer = ByteBuffer(capacity: 1024)
    guard unpackPlaces(value, at: key, rows: &rows, to: &buffer) != nil else { return nil }
    return rows.map { MessageID(buffer.bytes.slice($0.nameOffset, $0.nameByteCount)) }
  }

  private static func isAscending(_ rows: [SegmentRow], _ bytes: Bytes) -> Bool {
    for index in 1..<rows.count {
      // Times do not fall.
      let (a, b) = (rows[index - 1], rows[index])
      if a.time != b.time { continue }
      if a.hasRank != b.hasRank {
        guard a.hasRank else { return false }
        continue
      }
      if a.rank != b.rank {
        guard a.rank < b.rank else { return false }
        continue
      }
      let name = bytes.slice(a.nameOffset, a.nameByteCount)
      guard name.compare(to: bytes.slice(b.nameOffset, b.nameByteCount)) < 0 else { return false }
    }
    return true
  }
}
