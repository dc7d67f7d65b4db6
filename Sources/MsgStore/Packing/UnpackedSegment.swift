package import PageFile

/// A segment as the messages in it.
///
/// Any bytes may be given: every length is checked, and what is unpacked ascends in the order of the
/// thread, so whoever walks through it relies on nothing more. Texts are not looked at.
package struct UnpackedSegment: ~Copyable {
  package private(set) var rows = SegmentRows()
  private var names = SegmentNames()
  /// All texts, then what few messages have; what is behind these is of no use.
  private var block = ByteBuffer(capacity: 16)
  /// How much of the block is there; -1 where rows have only places and names.
  private var blockByteCount = -1
  /// Whether any of the messages answers another.
  private var hasReplies = false
  private(set) var header: SegmentHeader?
  private var columns = ColumnReader(.empty)

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
    unpackPlaces(value, at: key) && unpackRecords(with: dictionary)
  }

  /// Unpacks places and names alone, which come first.
  ///
  /// The same as `unpack` if `unpackRecords` follows while the value is still there.
  package mutating func unpackPlaces(_ value: Bytes, at key: Bytes) -> Bool {
    rows.removeAll()
    blockByteCount = -1
    var reader = ByteReader(value)
    guard let header = SegmentHeader(&reader), let (place, placeByteCount) = key.place(at: 0),
      !place.isPending, case let name = key.dropFirst(placeByteCount),
      (1...Identifier.byteCountMax).contains(name.count)
    else { return false }
    self.header = header
    columns = ColumnReader(value, at: reader.offset)
    guard columns.readTimes(&rows, header.count, from: place),
      case let difference = rows[header.count - 1].time.subtractingReportingOverflow(place.time),
      !difference.overflow, UInt64(difference.partialValue) == header.lastTimeOffset,
      columns.readSequences(&rows), names.read(&columns, &rows, name), isAscending()
    else {
      rows.removeAll()
      return false
    }
    return true
  }

  /// Whether no more is to be unpacked.
  var isWhole: Bool { blockByteCount >= 0 }

  /// Unpacks what `unpackPlaces` has left.
  mutating func unpackRecords(with dictionary: CompressionDictionary) -> Bool {
    guard unpackUnchecked(with: dictionary) else { return false }
    if !hasReplies { return true }
    for index in 0..<rows.count where !isReplyText(index) {
      rows.removeAll()
      return false
    }
    return true
  }

  /// The same without a look at the names of messages that are answered.
  package mutating func unpackUnchecked(with dictionary: CompressionDictionary) -> Bool {
    guard let header, rows.count > 0, columns.readSenders(&rows, &block),
      let flags = columns.readKinds(&rows, &block), columns.readLengths(&rows, header, flags),
      readBlock(header, flags, with: dictionary)
    else {
      rows.removeAll()
      return false
    }
    return true
  }

  private mutating func readBlock(
    _ header: SegmentHeader, _ flags: MessageRecord.Flags, with dictionary: CompressionDictionary
  ) -> Bool {
    let byteCount = header.textByteCount + header.restByteCount
    let source = columns.rest
    if block.count < byteCount { block.append(zeros: byteCount - block.count) }
    switch header.coding {
    case .plain:
      guard source.count == byteCount else { return false }
      block.mutableBytes.copy(source, to: 0)
    case .lz4:
      guard dictionary.decompress(source, into: block.mutableBytes.slice(0, byteCount)) else {
        return false
      }
    }
    blockByteCount = byteCount
    hasReplies = flags.contains(.reply)
    return true
  }

  private func isReplyText(_ index: Int) -> Bool {
    let reply = reply(index)
    return reply.isASCII || reply.isText
  }

  /// Whether the text of a message is one, and the name of what it answers.
  package func isText(_ index: Int) -> Bool { text(index).isText && isReplyText(index) }

  /// Whether a message has the same bytes as in another unpacking of the same segment.
  package func isSame(as other: borrowing UnpackedSegment, _ index: Int) -> Bool {
    text(index).compare(to: other.text(index)) == 0
      && rest(index).compare(to: other.rest(index)) == 0
  }

  private func text(_ index: Int) -> Bytes {
    block.bytes.slice(Int(rows[index].textOffset), Int(rows[index].textByteCount))
  }

  /// What few messages have.
  private func rest(_ index: Int) -> Bytes {
    let row = rows[index]
    return block.bytes.slice(
      Int(row.restOffset), Int(row.replyByteCount) + Int(row.traitsByteCount))
  }

  /// Whether each message comes behind the one before; times do not fall anyway.
  private func isAscending() -> Bool {
    for index in 1..<rows.count {
      if rows[index &- 1].time < rows[index].time { continue }
      let (a, b) = (rows[index &- 1], rows[index])
      if a.hasRank != b.hasRank {
        guard a.hasRank else { return false }
      } else if a.rank != b.rank {
        guard a.rank < b.rank else { return false }
      } else {
        let name = name(index &- 1)
        let next = self.name(index)
        guard name.bytes.compare(to: next.bytes) < 0 else { return false }
      }
    }
    return true
  }

  // MARK: Messages

  private func name(_ index: Int) -> ByteBuffer {
    var name = ByteBuffer()
    names.append(rows[index], index, to: &name)
    return name
  }

  /// Adds the key of a message without the number of the conversation.
  func appendKey(_ index: Int, to key: inout ByteBuffer) {
    key.append(rows[index].place)
    names.append(rows[index], index, to: &key)
  }

  /// The place of a message.
  func place(_ index: Int) -> Place { rows[index].place }

  /// The record that a message would have alone.
  ///
  /// Only of segments that are whole.
  func record(_ index: Int) -> MessageRecord { rows[index].record(in: block.bytes) }

  /// Adds the name of a message.
  @inline(__always)
  func appendName(_ index: Int, to buffer: inout ByteBuffer) {
    names.append(rows[index], index, to: &buffer)
  }

  /// The texts of some messages, one behind the other.
  ///
  /// Only of segments that are whole.
  func texts(_ range: ClosedRange<Int>) -> Bytes {
    let (first, last) = (rows[range.lowerBound], rows[range.upperBound])
    return block.bytes.slice(
      Int(first.textOffset), Int(last.textOffset &- first.textOffset &+ last.textByteCount))
  }

  /// The name of the message that one answers.
  ///
  /// Only of segments that are whole.
  func reply(_ index: Int) -> Bytes {
    block.bytes.slice(Int(rows[index].restOffset), Int(rows[index].replyByteCount))
  }

  /// Where a run ends that begins at a message: at the first that has traits, or a sequence that does
  /// not follow the one before.
  ///
  /// - Parameters:
  ///   - step: 1 or −1, which way it goes.
  ///   - countMax: How many messages it may have.
  ///   - last: The sequence of the message before, then that of the last in the run.
  func runEnd(from start: Int, step: Int, countMax: Int, after last: inout Int64?) -> Int {
    var index = start
    while index >= 0, index < rows.count, abs(index &- start) < countMax {
      let row = rows[index]
      if row.flags.contains(.traits) { break }
      if row.hasRank {
        if let last, last &+ Int64(step) != row.rank { break }
        last = row.rank
      }
      index &+= step
    }
    return index
  }

  /// Adds all messages to a run.
  package func append(to run: inout MessageRun, in number: UInt32) {
    for index in 0..<rows.count { run.append(self, index, in: number) }
  }

  /// The first message whose key is not below `key`, and whether it is that key's.
  ///
  /// - Parameter key: Without the number of the conversation.
  func search(_ key: Bytes) -> (index: Int, isEqual: Bool) {
    let position = key.place(at: 0)
    var (low, high) = (0, rows.count)
    while low < high {
      let middle = (low &+ high) &>> 1
      let order = order(middle, key, position)
      if order == 0 { return (middle, true) }
      if order < 0 { low = middle &+ 1 } else { high = middle }
    }
    return (low, false)
  }

  @inline(__always)
  private func order(_ index: Int, _ key: Bytes, _ position: (place: Place, byteCount: Int)?) -> Int
  {
    // Most are told apart by their times.
    if let position, !position.place.isPending, rows[index].time != position.place.time {
      return rows[index].time < position.place.time ? -1 : 1
    }
    var other = ByteBuffer(capacity: 64)
    appendKey(index, to: &other)
    return other.bytes.compare(to: key)
  }
}

extension UnpackedSegment {
  /// The names alone; nil when these bytes are no segment.
  package static func names(_ value: Bytes, at key: Bytes) -> [MessageID]? {
    var segment = UnpackedSegment()
    guard segment.unpackPlaces(value, at: key) else { return nil }
    return (0..<segment.rows.count).map {
      let name = segment.name($0)
      return MessageID(name.bytes)
    }
  }
}
