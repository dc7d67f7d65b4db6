import PageFile

/// Decodes the columns of a segment, one after the other, into rows.
///
/// Each function returns false if the bytes are not a valid column of its kind.
extension ColumnReader {
  /// Creates all rows, beginning with the place of the first message.
  mutating func readTimes(_ rows: inout SegmentRows, _ count: Int, from first: Place) -> Bool {
    guard let code = byte(), Int(code) < KeyEncoding.timeUnits.count else { return false }
    let unit = UInt64(KeyEncoding.timeUnits[Int(code)])
    var time = first.time
    rows.reset(count)
    rows.append(SegmentRow(time: time))
    (rows[0].rank, rows[0].hasRank) = (first.rank, first.hasRank)
    for _ in 1..<count {
      guard let step = varint() else { return false }
      let (difference, isTooLong) = step.multipliedReportingOverflow(by: unit)
      guard !isTooLong, difference <= UInt64(Int64.max) else { return false }
      let (next, isTooLate) = time.addingReportingOverflow(Int64(difference))
      guard !isTooLate else { return false }
      time = next
      rows.append(SegmentRow(time: time))
    }
    return true
  }

  mutating func readSequences(_ rows: inout SegmentRows) -> Bool {
    guard let code = byte(), let form = Segment.SequenceForm(rawValue: code) else { return false }
    let count = rows.count
    switch form {
    case .none:
      return !rows[0].hasRank
    case .mixed:
      for index in 1..<count {
        guard let mark = byte(), mark <= 1 else { return false }
        guard mark == 1 else { continue }
        guard let rank = signedVarint() else { return false }
        (rows[index].rank, rows[index].hasRank) = (rank, true)
      }
    case .consecutive:
      guard rows[0].hasRank else { return false }
      let first = rows[0].rank
      for index in 1..<count {
        (rows[index].rank, rows[index].hasRank) = (first &+ Int64(index), true)
      }
    case .differences:
      guard rows[0].hasRank else { return false }
      var rank = rows[0].rank
      for index in 1..<count {
        guard let difference = signedVarint() else { return false }
        rank &+= 1 &+ difference
        (rows[index].rank, rows[index].hasRank) = (rank, true)
      }
    }
    return true
  }

  mutating func readSenders(_ rows: inout SegmentRows, _ scratch: inout ByteBuffer) -> Bool {
    guard let count = readValues(to: &scratch) else { return false }
    return readIndices(&rows, scratch.bytes, count) { (row, number) in row.sender = number }
  }

  /// Returns the union of all flags, or nil if the bytes are not a valid column.
  mutating func readKinds(
    _ rows: inout SegmentRows, _ scratch: inout ByteBuffer
  ) -> MessageRecord.Flags? {
    guard let count = readValues(to: &scratch) else { return nil }
    var all: MessageRecord.Flags = []
    for index in 0..<count {
      let number = scratch.bytes.uint32(at: index * 4)
      guard number <= 0xFFFF, MessageStatus(rawValue: UInt8(truncatingIfNeeded: number)) != nil
      else { return nil }
      all.formUnion(MessageRecord.Flags(rawValue: UInt8(number >> 8)))
    }
    guard all.isDisjoint(with: [.sequence, .compressed]),
      readIndices(
        &rows, scratch.bytes, count,
        { (row, number) in
          row.flags = MessageRecord.Flags(rawValue: UInt8(truncatingIfNeeded: number >> 8))
          row.status = MessageStatus(bits: UInt8(truncatingIfNeeded: number))
        })
    else { return nil }
    return all
  }

  /// Reads the values of a column of few values, see `SegmentEncoder`.
  ///
  /// Returns their count.
  private mutating func readValues(to values: inout ByteBuffer) -> Int? {
    guard let count = byte(), count > 0 else { return nil }
    values.removeAll()
    values.reserve(Int(count) * 4)
    for _ in 0..<count {
      guard let number = varint(), number <= UInt64(UInt32.max) else { return nil }
      values.append(littleEndian: UInt32(truncatingIfNeeded: number))
    }
    return Int(count)
  }

  @inline(__always)
  private mutating func readIndices(
    _ rows: inout SegmentRows, _ values: Bytes, _ count: Int,
    _ set: (inout SegmentRow, UInt32) -> Void
  ) -> Bool {
    let rowCount = rows.count
    if count == 1 {
      let number = values.uint32(at: 0)
      for index in 0..<rowCount { set(&rows[index], number) }
      return true
    }
    let bitCount = Segment.indexBitCount(count)
    guard let indices = take((rowCount &* bitCount &+ 7) / 8) else { return false }
    let mask = UInt8(truncatingIfNeeded: 1 << bitCount - 1)
    for index in 0..<rowCount {
      let bit = index &* bitCount
      let value = Int(indices[bit &>> 3] &>> UInt8(truncatingIfNeeded: bit & 7) & mask)
      guard value < count else { return false }
      set(&rows[index], values.uint32(at: value &* 4))
    }
    return true
  }

  /// Reads the lengths of texts and rare fields, and computes the offsets of their bytes.
  mutating func readLengths(
    _ rows: inout SegmentRows, _ header: SegmentHeader, _ flags: MessageRecord.Flags
  ) -> Bool {
    let rowCount = rows.count
    var offset: Int32 = 0
    for index in 0..<rowCount {
      guard let count = varint(), count <= UInt64(header.textByteCount) else { return false }
      let byteCount = Int32(truncatingIfNeeded: count)
      (rows[index].textOffset, rows[index].textByteCount) = (offset, byteCount)
      // The sum is at most 255 times 64 KiB.
      offset &+= byteCount
    }
    guard Int(offset) == header.textByteCount else { return false }
    guard !flags.isDisjoint(with: Self.rare) else { return header.restByteCount == 0 }
    for index in 0..<rowCount {
      rows[index].restOffset = offset
      let flags = rows[index].flags
      if flags.isDisjoint(with: Self.rare) { continue }
      if flags.contains(.localTime) {
        guard let delta = signedVarint() else { return false }
        rows[index].localDelta = delta
      }
      if flags.contains(.markOrdinal) {
        guard let ordinal = varint() else { return false }
        rows[index].markOrdinal = ordinal
      }
      if flags.contains(.reply) {
        guard let count = byte(), count > 0 else { return false }
        rows[index].replyByteCount = count
        offset &+= Int32(count)
      }
      if flags.contains(.traits) {
        guard let count = varint(), count > 0, count <= UInt64(header.restByteCount) else {
          return false
        }
        rows[index].traitsByteCount = Int32(truncatingIfNeeded: count)
        offset &+= Int32(truncatingIfNeeded: count)
      }
    }
    return Int(offset) == header.textByteCount + header.restByteCount
  }

  private static let rare: MessageRecord.Flags = [.localTime, .markOrdinal, .reply, .traits]
}
