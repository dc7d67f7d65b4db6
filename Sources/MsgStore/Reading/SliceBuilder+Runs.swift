import PageFile

/// Copies runs of plain messages, of which slices mostly consist.
///
/// A run ends at a message that needs more. That message is added alone, and another run begins.
extension SliceBuilder {
  /// Appends messages of a leaf that have cells of their own and consecutive sequences.
  ///
  /// Returns the index of the first cell that was not appended.
  ///
  /// The common prefix of the leaf's keys is decoded once. Of each cell, all bytes after its place
  /// are copied as they are.
  ///
  /// - Parameters:
  ///   - step: 1 or −1, the direction.
  ///   - limit: The maximum number of messages in the slice.
  ///   - last: The sequence of the previous message, if it has one; on return, that of the last one
  ///     appended.
  mutating func appendRun(
    _ leaf: TreePage, from start: Int, step: Int, limit: Int, after last: inout Int64?
  ) throws(StoreError) -> Int {
    let prefix = leaf.prefix
    let sharedByteCount = prefix.count &- KeyEncoding.timeOffset
    guard (3...7).contains(sharedByteCount), prefix.bigEndianNumber(at: 0) == number,
      prefix[KeyEncoding.numberByteCount] == Place.Phase.acknowledged.rawValue
    else { return start }
    let shared = LeafTimes(prefix.bigEndian64(at: prefix.count &- 8), sharedByteCount)
    var index = start
    while count < limit, index >= 0, index < leaf.cellCount,
      try append(leaf.leafCell(index), shared, after: &last, step)
    {
      index &+= step
    }
    return index
  }

  /// The times in the keys of a leaf: the bytes that all share, and the location of the others.
  private struct LeafTimes {
    let head: UInt64
    let headBitCount: UInt64
    /// The offset in a suffix of the byte that says if there is a sequence.
    let markOffset: Int

    /// - Parameter bytes: The last eight bytes of the prefix.
    @inline(__always)
    init(_ bytes: UInt64, _ byteCount: Int) {
      headBitCount = UInt64(byteCount &* 8)
      head = bytes &<< (64 &- headBitCount)
      markOffset = 8 &- byteCount
    }
  }

  /// Appends the message of a cell.
  ///
  /// Returns false if the message does not fit the run.
  @inline(__always)
  private mutating func append(
    _ cell: LeafCell, _ times: LeafTimes, after last: inout Int64?, _ step: Int
  ) throws(StoreError) -> Bool {
    let bytes = cell.bytes
    guard times.markOffset < cell.suffixByteCount else { return false }
    let hasSequence = bytes[times.markOffset] == KeyEncoding.hasSequence
    let idOffset = times.markOffset &+ (hasSequence ? 9 : 1)
    let idByteCount = cell.suffixByteCount &- idOffset
    let headEnd = cell.valueOffset &+ MessageRecord.plainHeadByteCount
    guard idByteCount > 0, idByteCount <= Identifier.maximumByteCount, headEnd < bytes.count,
      hasSequence || bytes[times.markOffset] == KeyEncoding.hasNoSequence,
      bytes[cell.valueOffset] == MessageRecord.tag
    else { return false }
    var sequence: Int64?
    if hasSequence {
      let number = KeyEncoding.unflipped(bytes.bigEndian64(at: times.markOffset &+ 1))
      if let last, last &+ Int64(step) != number { return false }
      (sequence, last) = (number, number)
    }
    let time = KeyEncoding.unflipped(
      times.head | bytes.bigEndian64(at: 0) &>> times.headBitCount)
    let place = Place.acknowledged(time, sequence: sequence)
    // The offset in the buffer at which the cell would begin if all of it were copied.
    let start = buffer.count &- idOffset
    buffer.append(bytes.dropFirst(idOffset))
    guard let head = MessageRecord.PlainHead(bytes.uint32(at: cell.valueOffset)) else {
      try addRecord(
        at: start &+ cell.valueOffset, place, idOffset: start &+ idOffset,
        idByteCount: idByteCount)
      return true
    }
    var reader = ByteReader(bytes, at: headEnd)
    guard let sender = reader.varint(), sender <= UInt64(UInt32.max) else { throw corrupt }
    var parts = MessageParts(
      place: place, idOffset: start &+ idOffset, idByteCount: idByteCount,
      sender: UInt32(truncatingIfNeeded: sender), status: head.status, textOffset: 0,
      textByteCount: 0)
    if head.flags.contains(.localTime) {
      guard let difference = reader.signedVarint() else { throw corrupt }
      parts.extra = time &+ difference
    }
    if head.flags.contains(.reply) {
      guard let byteCount = reader.byte(), byteCount > 0, let reply = reader.take(Int(byteCount)),
        reply.isASCII || reply.isText
      else { throw corrupt }
      parts.replyOffset = start &+ reader.offset &- reply.count
      parts.replyByteCount = reply.count
    }
    parts.textOffset = start &+ reader.offset
    let (id, text) = (bytes.slice(idOffset, idByteCount), reader.rest())
    parts.textByteCount = text.count
    let isASCII = text.isASCII(from: 0)
    guard isASCII || text.isText, id.isASCII || id.isText else { throw corrupt }
    try add(parts, isASCII: isASCII)
    return true
  }

  /// Does the same for a segment, whose texts are copied and validated together.
  mutating func appendRun(
    _ segment: borrowing UnpackedSegment, from start: Int, step: Int, limit: Int,
    after last: inout Int64?
  ) throws(StoreError) -> Int {
    let end = segment.runEnd(from: start, step: step, maximumCount: limit &- count, after: &last)
    if end == start { return end }
    let texts = segment.texts(min(start, end &- step)...max(start, end &- step))
    let areASCII = texts.isASCII(from: 0)
    let textsOffset =
      buffer.count &- Int(segment.rows[min(start, end &- step)].textOffset)
    buffer.append(texts)
    var index = start
    while index != end {
      let row = segment.rows[index]
      let idOffset = buffer.count
      segment.appendName(index, to: &buffer)
      let replyOffset = buffer.count
      if row.replyByteCount > 0 { buffer.append(segment.reply(index)) }
      let textOffset = textsOffset &+ Int(row.textOffset)
      var isASCII = areASCII
      if !areASCII {
        let text = buffer.bytes.slice(textOffset, Int(row.textByteCount))
        isASCII = text.isASCII(from: 0)
        guard isASCII || text.isText else { throw corrupt }
      }
      var parts = MessageParts(
        place: row.place, idOffset: idOffset, idByteCount: Int(row.nameByteCount),
        sender: row.sender, status: row.status, textOffset: textOffset,
        textByteCount: Int(row.textByteCount))
      if row.flags.contains(.localTime) { parts.extra = row.time &+ row.localDelta }
      if row.replyByteCount > 0 {
        parts.replyOffset = replyOffset
        parts.replyByteCount = Int(row.replyByteCount)
      }
      try add(parts, isASCII: isASCII)
      index &+= step
    }
    return end
  }
}
