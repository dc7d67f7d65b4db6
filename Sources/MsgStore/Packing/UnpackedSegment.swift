package import PageFile

/// A segment, unpacked into its messages.
///
/// Any bytes may be given: every length is checked, and the unpacked messages ascend in the order
/// of the thread, so a walk through them relies on nothing else. Texts are not validated.
package struct UnpackedSegment: ~Copyable {
  package private(set) var rows = SegmentRows()
  private var names = SegmentNames()
  /// All texts, then the rare fields.
  ///
  /// The bytes after these have no meaning.
  private var block = ByteBuffer(capacity: 16)
  /// The byte count of the valid part of the block; -1 if rows have only places and names.
  private var blockByteCount = -1
  /// True if any of the messages answers another.
  private var hasReplies = false
  private(set) var header: SegmentHeader?
  private var columns = ColumnReader(.empty)

  package init() {}

  /// Unpacks a segment.
  ///
  /// Returns false if the bytes are not a segment of this key; there are no rows then.
  ///
  /// - Parameters:
  ///   - key: The cell's key without the number of the conversation.
  ///   - dictionary: The dictionary that the header names.
  package mutating func unpack(
    _ value: Bytes, at key: Bytes, with dictionary: CompressionDictionary
  ) -> Bool {
    unpackPlaces(value, at: key) && unpackRecords(with: dictionary)
  }

  /// Unpacks only the places and names, which come first.
  ///
  /// Followed by `unpackRecords` while the value is still valid, it does the same as `unpack`.
  package mutating func unpackPlaces(_ value: Bytes, at key: Bytes) -> Bool {
    rows.removeAll()
    blockByteCount = -1
    var reader = ByteReader(value)
    guard let header = SegmentHeader(&reader), let (place, placeByteCount) = key.place(at: 0),
      !place.isPending, case let name = key.dropFirst(placeByteCount),
      (1...Identifier.maximumByteCount).contains(name.count)
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

  /// True if nothing is left to unpack.
  var isWhole: Bool { blockByteCount >= 0 }

  /// Unpacks the part that `unpackPlaces` has left.
  mutating func unpackRecords(with dictionary: CompressionDictionary) -> Bool {
    guard unpackUnchecked(with: dictionary) else { return false }
    if !hasReplies { return true }
    for index in 0..<rows.count where !isReplyText(index) {
      rows.removeAll()
      return false
    }
    return true
  }

  /// Does the same as `unpackRecords`, without validating the names of answered messages.
  package mutating func unpackUnchecked(with dictionary: CompressionDictionary) -> Bool {
    guard let header, rows.count > 0 else { return false }
    // The columns use the block before its own bytes come.
    block.removeAll()
    block.reserve(header.unpackedByteCount)
    guard columns.readSenders(&rows, &block),
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
    block.removeAll()
    let target = block.extend(by: byteCount)
    switch header.coding {
    case .plain:
      guard source.count == byteCount else { return false }
      target.copy(source, to: 0)
    case .lz4:
      guard dictionary.decompress(source, into: target) else {
        return false
      }
    }
    blockByteCount = byteCount
    hasReplies = flags.contains(.reply)
    return true
  }

  /// Replaces the record of a message by the one that lies beside the segment.
  ///
  /// Returns false, and changes nothing, if the bytes are not such a record.
  package mutating func replace(_ index: Int, with value: Bytes) -> Bool {
    // The limits of a packed message, so that no file makes the block outgrow memory.
    guard let record = MessageRecord(value), SegmentEncoder.canHold(record),
      !rows[index].isBeside
    else { return false }
    var row = rows[index]
    row.textOffset = Int32(block.count)
    guard record.appendText(to: &block) else { return false }
    row.textByteCount = Int32(block.count) - row.textOffset
    row.restOffset = Int32(block.count)
    block.append(record.replyBytes)
    block.append(record.traitsBytes)
    row.replyByteCount = UInt8(record.replyBytes.count)
    row.traitsByteCount = Int32(record.traitsBytes.count)
    row.flags = record.flags.subtracting(.compressed)
    row.status = record.status
    row.sender = record.sender
    row.localDelta = record.localDelta
    row.markOrdinal = record.markOrdinal ?? 0
    row.isBeside = true
    rows[index] = row
    return true
  }

  private func isReplyText(_ index: Int) -> Bool {
    let reply = reply(index)
    return reply.isASCII || reply.isText
  }

  /// Returns true if the text of a message and the name of the message that it answers are valid
  /// text.
  package func isText(_ index: Int) -> Bool { text(index).isText && isReplyText(index) }

  /// Returns true if a message has the same bytes as in another unpacking of the same segment.
  package func isSame(as other: borrowing UnpackedSegment, _ index: Int) -> Bool {
    text(index).compare(to: other.text(index)) == 0
      && rest(index).compare(to: other.rest(index)) == 0
  }

  /// Returns the text of a message.
  ///
  /// The segment must be whole.
  func text(_ index: Int) -> Bytes {
    block.bytes.slice(Int(rows[index].textOffset), Int(rows[index].textByteCount))
  }

  /// Returns the bytes of a message's rare fields.
  private func rest(_ index: Int) -> Bytes {
    let row = rows[index]
    return block.bytes.slice(
      Int(row.restOffset), Int(row.replyByteCount) + Int(row.traitsByteCount))
  }

  /// Returns true if each message comes after the previous one.
  ///
  /// Times never descend anyway.
  private func isAscending() -> Bool {
    for index in 1..<rows.count {
      if rows[index &- 1].time < rows[index].time { continue }
      let (a, b) = (rows[index &- 1], rows[index])
      if a.hasRank != b.hasRank {
        guard a.hasRank else { return false }
      } else if a.rank != b.rank {
        guard a.rank < b.rank else { return false }
      } else {
        // Servers that count seconds or minutes give neighbours the same time.
        guard names.isAscending(rows, to: index) else { return false }
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

  /// Appends the key of a message without the number of the conversation.
  func appendKey(_ index: Int, to key: inout ByteBuffer) {
    key.append(rows[index].place)
    names.append(rows[index], index, to: &key)
  }

  /// Returns the place of a message.
  func place(_ index: Int) -> Place { rows[index].place }

  /// Returns the record that a message would have in a cell of its own.
  ///
  /// The segment must be whole.
  package func record(_ index: Int) -> MessageRecord { rows[index].record(in: block.bytes) }

  /// Appends the name of a message.
  @inline(__always)
  func appendName(_ index: Int, to buffer: inout ByteBuffer) {
    names.append(rows[index], index, to: &buffer)
  }

  /// Returns the texts of some messages, one after the other.
  ///
  /// The segment must be whole.
  func texts(_ range: ClosedRange<Int>) -> Bytes {
    let (first, last) = (rows[range.lowerBound], rows[range.upperBound])
    return block.bytes.slice(
      Int(first.textOffset), Int(last.textOffset &- first.textOffset &+ last.textByteCount))
  }

  /// Returns the name of the message that a message answers.
  ///
  /// The segment must be whole.
  func reply(_ index: Int) -> Bytes {
    block.bytes.slice(Int(rows[index].restOffset), Int(rows[index].replyByteCount))
  }

  /// Returns the end of the run that begins at a message.
  ///
  /// The run ends before the first message that has uncommon traits or a long reply beside its
  /// traits, lies beside the segment, or has a sequence that does not follow the previous one.
  ///
  /// - Parameters:
  ///   - step: 1 or −1, the direction of the run.
  ///   - countMax: The maximum number of messages.
  ///   - last: The sequence of the message before the run; on return, that of the last message in
  ///     it.
  ///   - hideTime: The time from which on messages that expire earlier end the run.
  func runEnd(
    from start: Int, step: Int, maximumCount: Int, after last: inout Int64?, _ hideTime: Int64?
  ) -> Int {
    var index = start
    while index >= 0, index < rows.count, abs(index &- start) < maximumCount {
      let row = rows[index]
      if row.isBeside || row.flags.contains(.traits) && !hasCommonTraits(index, hideTime) { break }
      if row.hasRank {
        if let last, last &+ Int64(step) != row.rank { break }
        last = row.rank
      }
      index &+= step
    }
    return index
  }

  /// Returns the block of a message's traits.
  ///
  /// The segment must be whole.
  func traits(_ index: Int) -> Bytes {
    let row = rows[index]
    return block.bytes.slice(
      Int(row.restOffset) + Int(row.replyByteCount), Int(row.traitsByteCount))
  }

  @inline(never)
  private func hasCommonTraits(_ index: Int, _ hideTime: Int64?) -> Bool {
    guard Int(rows[index].replyByteCount) <= MessageID.maximumInlineByteCount,
      let outline = TraitsOutline(traits(index))
    else { return false }
    guard let hideTime, outline.bits.contains(.expires) else { return true }
    return MessageTraits.expiryTime(in: traits(index)).map { $0 > hideTime } ?? true
  }

  /// Appends all messages to a run.
  @inline(never)
  package func append(to run: inout MessageRun, in number: UInt32) {
    for index in 0..<rows.count { run.append(self, index, in: number) }
  }

  /// Returns the index of the first message whose key is not below `key`, and true if its key is
  /// equal.
  ///
  /// - Parameter key: The key without the number of the conversation.
  package func search(_ key: Bytes) -> (index: Int, isEqual: Bool) {
    let position = key.place(at: 0)
    var other = ByteBuffer(capacity: 64)
    var (low, high) = (0, rows.count)
    while low < high {
      let middle = (low &+ high) &>> 1
      let order = order(middle, key, position, &other)
      if order == 0 { return (middle, true) }
      if order < 0 { low = middle &+ 1 } else { high = middle }
    }
    return (low, false)
  }

  @inline(__always)
  private func order(
    _ index: Int, _ key: Bytes, _ position: (place: Place, byteCount: Int)?,
    _ other: inout ByteBuffer
  ) -> Int {
    // Most messages differ in their times.
    if let position, !position.place.isPending, rows[index].time != position.place.time {
      return rows[index].time < position.place.time ? -1 : 1
    }
    other.removeAll()
    appendKey(index, to: &other)
    return other.bytes.compare(to: key)
  }
}

extension UnpackedSegment {
  /// Returns only the names, or nil if the bytes are not a segment.
  package static func names(_ value: Bytes, at key: Bytes) -> [MessageID]? {
    var segment = UnpackedSegment()
    guard segment.unpackPlaces(value, at: key) else { return nil }
    return (0..<segment.rows.count).map {
      let name = segment.name($0)
      return MessageID(name.bytes)
    }
  }
}
