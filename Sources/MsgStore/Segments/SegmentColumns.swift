import PageFile

/// Reads the columns of a segment, one behind the other.
///
/// Each answers false when the bytes are no such column.
struct SegmentColumns {
  var reader: ByteReader

  mutating func readTimes(_ rows: inout [SegmentRow]) -> Bool {
    guard let code = reader.byte(), Int(code) < Segment.timeUnits.count else { return false }
    let unit = UInt64(Segment.timeUnits[Int(code)])
    var time = rows[0].time
    for index in 1..<rows.count {
      guard let step = reader.varint() else { return false }
      let (difference, isTooLong) = step.multipliedReportingOverflow(by: unit)
      guard !isTooLong, difference <= UInt64(Int64.max) else { return false }
      let (next, isTooLate) = time.addingReportingOverflow(Int64(difference))
      guard !isTooLate else { return false }
      time = next
      rows[index].time = time
    }
    return true
  }

  mutating func readSequences(_ rows: inout [SegmentRow]) -> Bool {
    guard let code = reader.byte(), let form = Segment.Sequences(rawValue: code) else {
      return false
    }
    switch form {
    case .none:
      return !rows[0].hasRank
    case .mixed:
      for index in 1..<rows.count {
        guard let mark = reader.byte(), mark <= 1 else { return false }
        guard mark == 1 else { continue }
        guard let rank = reader.signedVarint() else { return false }
        (rows[index].rank, rows[index].hasRank) = (rank, true)
      }
    case .consecutive, .differences:
      guard rows[0].hasRank else { return false }
      var rank = rows[0].rank
      for index in 1..<rows.count {
        rank &+= 1
        if form == .differences {
          guard let difference = reader.signedVarint() else { return false }
          rank &+= difference
        }
        (rows[index].rank, rows[index].hasRank) = (rank, true)
      }
    }
    return true
  }

  mutating func readNames(
    _ rows: inout [SegmentRow], _ first: Bytes, to buffer: inout ByteBuffer
  ) -> Bool {
    guard let code = reader.byte(), let kind = NameKind(rawValue: code) else { return false }
    (rows[0].nameOffset, rows[0].nameByteCount) = (buffer.count, first.count)
    let start = buffer.count
    buffer.append(first)
    guard kind == .text else {
      guard readPackedNames(&rows, kind, to: &buffer) else { return false }
      return buffer.bytes.dropFirst(start).isText
    }
    for index in 1..<rows.count {
      guard let lengths = reader.byte() else { return false }
      var (shared, rest) = (Int(lengths >> 4), Int(lengths & 15))
      if shared == 15 {
        guard let byte = reader.byte() else { return false }
        shared = Int(byte)
      }
      if rest == 15 {
        guard let byte = reader.byte() else { return false }
        rest = Int(byte)
      }
      let (before, count) = (rows[index - 1], shared + rest)
      guard shared <= before.nameByteCount, (1...Identifier.byteCountMax).contains(count),
        let bytes = reader.take(rest)
      else { return false }
      (rows[index].nameOffset, rows[index].nameByteCount) = (buffer.count, count)
      // Growing moves what is copied from.
      buffer.reserve(count)
      buffer.append(buffer.bytes.slice(before.nameOffset, shared))
      buffer.append(bytes)
      guard buffer.bytes.dropFirst(rows[index].nameOffset).isText else { return false }
    }
    return buffer.bytes.slice(start, first.count).isText
  }

  private mutating func readPackedNames(
    _ rows: inout [SegmentRow], _ kind: NameKind, to buffer: inout ByteBuffer
  ) -> Bool {
    let width = kind.packedByteCount
    var packed = ByteBuffer(capacity: 32)
    let name = buffer.bytes.slice(rows[0].nameOffset, rows[0].nameByteCount)
    guard kind.pack(name, to: &packed), let shared = reader.byte(), Int(shared) <= width else {
      return false
    }
    for index in 1..<rows.count {
      guard let rest = reader.take(width - Int(shared)) else { return false }
      packed.truncate(to: Int(shared))
      packed.append(rest)
      rows[index].nameOffset = buffer.count
      kind.unpack(packed.bytes, to: &buffer)
      rows[index].nameByteCount = buffer.count - rows[index].nameOffset
    }
    return true
  }

  mutating func readSenders(_ rows: inout [SegmentRow]) -> Bool {
    readFew(&rows) { (row, number) in
      row.sender = number
      return true
    }
  }

  mutating func readKinds(_ rows: inout [SegmentRow]) -> Bool {
    readFew(&rows) { (row, number) in
      guard number <= 0xFFFF,
        let status = MessageStatus(rawValue: UInt8(truncatingIfNeeded: number)),
        case let flags = MessageRecord.Flags(rawValue: UInt8(number >> 8)),
        flags.isDisjoint(with: [.sequence, .compressed])
      else { return false }
      (row.flags, row.status) = (flags, status)
      return true
    }
  }

  /// A column whose values are few, see `SegmentEncoder`.
  @inline(__always)
  private mutating func readFew(
    _ rows: inout [SegmentRow], _ set: (inout SegmentRow, UInt32) -> Bool
  ) -> Bool {
    guard let count = reader.byte(), count > 0 else { return false }
    func number(_ reader: inout ByteReader) -> UInt32? {
      reader.varint().flatMap { UInt32(exactly: $0) }
    }
    if count == 1 {
      guard let number = number(&reader) else { return false }
      for index in rows.indices { guard set(&rows[index], number) else { return false } }
      return true
    }
    let values = ByteBuffer(capacity: Int(count) * 4)
    return readIndexed(&rows, values, Int(count), set)
  }

  @inline(__always)
  private mutating func readIndexed(
    _ rows: inout [SegmentRow], _ values: consuming ByteBuffer, _ count: Int,
    _ set: (inout SegmentRow, UInt32) -> Bool
  ) -> Bool {
    for _ in 0..<count {
      guard let number = reader.varint(), number <= UInt64(UInt32.max) else { return false }
      values.append(littleEndian: UInt32(number))
    }
    let bitCount = Segment.indexBitCount(count)
    guard let indices = reader.take((rows.count * bitCount + 7) / 8) else { return false }
    let mask = UInt8(truncatingIfNeeded: 1 << bitCount - 1)
    for index in rows.indices {
      let bit = index * bitCount
      let value = Int(indices[bit / 8] >> UInt8(bit % 8) & mask)
      guard value < count, set(&rows[index], values.bytes.uint32(at: value * 4)) else {
        return false
      }
    }
    return true
  }

  /// Reads the lengths of texts and what few messages have, and finds out where the bytes will lie.
  mutating func readLengths(
    _ rows: inout [SegmentRow], from start: Int, _ header: SegmentHeader
  ) -> Bool {
    var offset = start
    for index in rows.indices {
      guard let count = reader.varint(), count <= UInt64(header.textByteCount) else { return false }
      (rows[index].textOffset, rows[index].textByteCount) = (offset, Int(count))
      offset += Int(count)
    }
    guard offset == start + header.textByteCount else { return false }
    for index in rows.indices {
      rows[index].replyOffset = offset
      let flags = rows[index].flags
      if flags.isDisjoint(with: [.localTime, .markOrdinal, .reply, .traits]) { continue }
      if flags.contains(.localTime) {
        guard let delta = reader.signedVarint() else { return false }
        rows[index].localDelta = delta
      }
      if flags.contains(.markOrdinal) {
        guard let ordinal = reader.varint() else { return false }
        rows[index].markOrdinal = ordinal
      }
      if flags.contains(.reply) {
        guard let count = reader.byte(), count > 0 else { return false }
        rows[index].replyByteCount = Int(count)
        offset += Int(count)
      }
      if flags.contains(.traits) {
        guard let count = reader.varint(), count > 0, count <= UInt64(header.restByteCount) else {
          return false
        }
        rows[index].traitsByteCount = Int(count)
        offset += Int(count)
      }
    }
    return offset == start + header.textByteCount + header.restByteCount
  }

  mutating func readBlock(
    _ header: SegmentHeader, with dictionary: CompressionDictionary, to buffer: inout ByteBuffer
  ) -> Bool {
    let byteCount = header.textByteCount + header.restByteCount
    let block = reader.rest()
    switch header.coding {
    case .plain:
      guard block.count == byteCount else { return false }
      buffer.append(block)
    case .lz4:
      guard dictionary.decompress(block, byteCount: byteCount, to: &buffer) else { return false }
    }
    return true
  }
}
