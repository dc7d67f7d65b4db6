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
  ///   - hideTime: The time from which on messages that expire earlier end the run.
  mutating func appendRun(
    _ leaf: TreePage, from start: Int, step: Int, limit: Int, after last: inout Int64?,
    _ hideTime: Int64?
  ) throws(StoreError) -> Int {
    guard let shared = LeafTimes(leaf.prefix, number) else { return start }
    var index = start
    while count < limit, index >= 0, index < leaf.cellCount,
      try append(leaf.leafCell(index), shared, after: &last, step, hideTime)
    {
      index &+= step
    }
    return index
  }

  /// The times in the keys of a leaf: the bytes that all share, and the location of the others.
  ///
  /// In a leaf of several conversations the prefix ends before the time. Then each suffix begins
  /// with the rest of the conversation's number and the phase, which have to be those of this
  /// thread.
  private struct LeafTimes {
    let head: UInt64
    let headBitCount: UInt64
    /// The bytes that a suffix has to begin with, as its first bytes of eight.
    let border: UInt64
    let borderMask: UInt64
    /// The offset of the time in a suffix.
    let timeOffset: Int
    /// The offset in a suffix of the byte that says if there is a sequence.
    let markOffset: Int

    /// Returns nil if no cell of a leaf with this prefix is an acknowledged message of the
    /// conversation, or all have one time.
    init?(_ prefix: Bytes, _ number: UInt32) {
      let start =
        UInt64(number) << 32 | UInt64(Place.Phase.acknowledged.rawValue) << 24
      let sharedByteCount = max(0, prefix.count &- KeyEncoding.timeOffset)
      let startByteCount = min(prefix.count, KeyEncoding.timeOffset)
      let startMask: UInt64 = startByteCount == 0 ? 0 : .max << UInt64(64 &- startByteCount &* 8)
      guard sharedByteCount < 8,
        (prefix.bigEndianHead(at: 0, byteCount: prefix.count) ^ start) & startMask == 0
      else { return nil }
      var head: UInt64 = 0
      for index in 0..<sharedByteCount {
        head |= UInt64(prefix[KeyEncoding.timeOffset &+ index]) &<< UInt64(56 &- index &* 8)
      }
      self.head = head
      headBitCount = UInt64(sharedByteCount &* 8)
      timeOffset = KeyEncoding.timeOffset &- startByteCount
      markOffset = timeOffset &+ 8 &- sharedByteCount
      border = start &<< UInt64(startByteCount &* 8)
      borderMask = timeOffset == 0 ? 0 : .max << UInt64(64 &- timeOffset &* 8)
    }
  }

  /// Appends the message of a cell.
  ///
  /// Returns false if the message does not fit the run.
  @inline(__always)
  private mutating func append(
    _ cell: LeafCell, _ times: LeafTimes, after last: inout Int64?, _ step: Int,
    _ hideTime: Int64?
  ) throws(StoreError) -> Bool {
    let bytes = cell.bytes
    guard times.markOffset < cell.suffixByteCount else { return false }
    let hasSequence = bytes[times.markOffset] == KeyEncoding.hasSequence
    let idOffset = times.markOffset &+ (hasSequence ? 9 : 1)
    let idByteCount = cell.suffixByteCount &- idOffset
    let headEnd = cell.valueOffset &+ MessageRecord.plainHeadByteCount
    guard idByteCount > 0, idByteCount <= Identifier.maximumByteCount, headEnd < bytes.count,
      hasSequence || bytes[times.markOffset] == KeyEncoding.hasNoSequence,
      bytes[cell.valueOffset] == MessageRecord.tag,
      (bytes.bigEndian64(at: 0) ^ times.border) & times.borderMask == 0
    else { return false }
    if let hideTime, isHidden(cell, hideTime) { return false }
    var sequence: Int64?
    if hasSequence {
      let number = KeyEncoding.unflipped(bytes.bigEndian64(at: times.markOffset &+ 1))
      if let last, last &+ Int64(step) != number { return false }
      (sequence, last) = (number, number)
    }
    let time = KeyEncoding.unflipped(
      times.head | bytes.bigEndian64(at: times.timeOffset) &>> times.headBitCount)
    let place = Place.acknowledged(time, sequence: sequence)
    // The offset in the buffer at which the cell would begin if all of it were copied.
    let start = buffer.count &- idOffset
    let valueOffset = start &+ cell.valueOffset
    buffer.append(bytes.dropFirst(idOffset))
    guard let head = MessageRecord.PlainHead(bytes.uint32(at: cell.valueOffset)) else {
      return try addWhole(at: valueOffset, place, start &+ idOffset, idByteCount)
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
    var traits: (block: Bytes, outline: TraitsOutline)?
    if head.flags.contains(.traits) {
      guard canDefer(parts), let byteCount = reader.length(), let block = reader.take(byteCount),
        let outline = TraitsOutline(block)
      else { return try addWhole(at: valueOffset, place, start &+ idOffset, idByteCount) }
      traits = (block, outline)
    }
    parts.textOffset = start &+ reader.offset
    let (id, text) = (bytes.slice(idOffset, idByteCount), reader.rest())
    parts.textByteCount = text.count
    let isASCII = text.isASCII(from: 0)
    guard isASCII || text.isText, id.isASCII || id.isText else { throw corrupt }
    guard let traits else {
      try add(parts, isASCII: isASCII)
      return true
    }
    try addDeferred(parts, isASCII: isASCII, traits.block, traits.outline)
    return true
  }

  /// Returns true if the message of a cell expires at a time or earlier.
  @inline(never)
  private func isHidden(_ cell: LeafCell, _ hideTime: Int64) -> Bool {
    let record = MessageRecord(cell.bytes.dropFirst(cell.valueOffset))
    return record?.expiryTime.map { $0 <= hideTime } ?? false
      && !StoreDefect.expiredShown.isPlanted
  }

  /// Appends the message whose record, beginning at an offset, was copied last; it fits the run.
  private mutating func addWhole(
    at valueOffset: Int, _ place: Place, _ idOffset: Int, _ idByteCount: Int
  ) throws(StoreError) -> Bool {
    try addRecord(at: valueOffset, place, idOffset: idOffset, idByteCount: idByteCount)
    return true
  }

  /// Does the same as `appendRun` above for a segment, whose texts are copied and validated
  /// together.
  mutating func appendRun(
    _ segment: borrowing UnpackedSegment, from start: Int, step: Int, limit: Int,
    after last: inout Int64?, _ hideTime: Int64?
  ) throws(StoreError) -> Int {
    let end = segment.runEnd(
      from: start, step: step, maximumCount: limit &- count, after: &last, hideTime)
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
      if row.flags.contains(.traits) {
        let block = segment.traits(index)
        guard let outline = TraitsOutline(block) else { throw corrupt }
        try addDeferred(parts, isASCII: isASCII, block, outline)
      } else {
        try add(parts, isASCII: isASCII)
      }
      index &+= step
    }
    return end
  }
}
