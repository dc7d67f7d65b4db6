import PageFile

/// Lays messages out column by column, see `Segment`.
///
/// It is a struct inside the encoder. In a class, each buffer would be checked for exclusive access
/// at every message.
struct SegmentWriter: ~Copyable {
  /// A message of the segment that is being written.
  private struct Row {
    var place: Place
    var name: Bytes
    var record: MessageRecord
    var textByteCount = 0
  }

  private var rows: [Row] = []
  private var texts = ByteBuffer(capacity: 4096)
  private var rest = ByteBuffer(capacity: 1024)
  private var values: [UInt32] = []
  private var codes: [UInt8] = []

  /// Appends the segment of some messages of a run, see `SegmentEncoder.encode`.
  mutating func encode(
    _ run: borrowing MessageRun, _ range: Range<Int>, with compressor: inout BlockCompressor,
    _ effort: BlockCompressor.Effort, to value: inout ByteBuffer
  ) -> Bool {
    guard (2...Segment.maximumCount).contains(range.count) else { return false }
    rows.removeAll(keepingCapacity: true)
    texts.removeAll()
    rest.removeAll()
    for index in range { guard add(run.key(index), run.record(index)) else { return false } }
    guard run.isAscending(range) else { return false }
    let textByteCount = texts.count
    guard textByteCount <= Segment.maximumBlockByteCount,
      rest.count <= Segment.maximumBlockByteCount,
      !rows[rows.count - 1].place.time.subtractingReportingOverflow(rows[0].place.time).overflow
    else { return false }
    texts.append(rest.bytes)
    var block = ByteBuffer(capacity: texts.count)
    let isSmaller = compressor.compress(texts.bytes, effort: effort, to: &block)
    let coding: Segment.Coding =
      isSmaller ? .lz4(dictionary: compressor.dictionary.version) : .plain
    value.append(Segment.tag)
    value.append(UInt8(range.count))
    value.append(varint: coding.number)
    value.append(varint: UInt64(rows[rows.count - 1].place.time - rows[0].place.time))
    value.append(varint: UInt64(textByteCount))
    value.append(varint: UInt64(rest.count))
    appendTimes(to: &value)
    appendSequences(to: &value)
    appendNames(to: &value)
    append(to: &value) { $0.record.sender }
    append(to: &value) { UInt32($0.record.flags.rawValue) << 8 | UInt32($0.record.status.rawValue) }
    for row in rows { value.append(varint: UInt64(row.textByteCount)) }
    appendRareLengths(to: &value)
    if isSmaller { value.append(block.bytes) } else { value.append(texts.bytes) }
    return true
  }

  private mutating func add(_ key: Bytes, _ value: Bytes) -> Bool {
    let placeOffset = KeyEncoding.numberByteCount
    guard let (place, placeByteCount) = key.place(at: placeOffset),
      var record = MessageRecord(value)
    else { return false }
    let start = texts.count
    guard record.appendText(to: &texts) else { return false }
    rest.append(record.replyBytes)
    rest.append(record.traitsBytes)
    record.flags.remove(.compressed)
    rows.append(
      Row(
        place: place, name: key.dropFirst(placeOffset + placeByteCount), record: record,
        textByteCount: texts.count - start))
    return true
  }

  // MARK: Columns

  private func appendTimes(to value: inout ByteBuffer) {
    let first = rows[0].place.time
    var code = KeyEncoding.timeUnits.count - 1
    while code > 0,
      !rows.allSatisfy({ ($0.place.time - first).isMultiple(of: KeyEncoding.timeUnits[code]) })
    { code -= 1 }
    value.append(UInt8(code))
    let unit = KeyEncoding.timeUnits[code]
    for index in rows.indices.dropFirst() {
      let step = rows[index].place.time - rows[index - 1].place.time
      value.append(varint: UInt64(step / unit))
    }
  }

  private func appendSequences(to value: inout ByteBuffer) {
    let count = rows.count { $0.place.hasRank }
    if count == 0 { return value.append(Segment.SequenceForm.none.rawValue) }
    guard count == rows.count else {
      value.append(Segment.SequenceForm.mixed.rawValue)
      for row in rows.dropFirst() {
        value.append(row.place.hasRank ? 1 : 0)
        if row.place.hasRank { value.append(signedVarint: row.place.rank) }
      }
      return
    }
    let steps = zip(rows, rows.dropFirst()).map { $1.place.rank &- $0.place.rank &- 1 }
    if steps.allSatisfy({ $0 == 0 }) {
      return value.append(Segment.SequenceForm.consecutive.rawValue)
    }
    value.append(Segment.SequenceForm.differences.rawValue)
    for step in steps { value.append(signedVarint: step) }
  }

  private func appendNames(to value: inout ByteBuffer) {
    let kind = NameKind(rows[0].name)
    let start = value.count
    if kind != .text {
      value.append(kind.rawValue)
      if appendPackedNames(kind, to: &value) { return }
      value.truncate(to: start)
    }
    value.append(NameKind.text.rawValue)
    for index in rows.indices.dropFirst() {
      let name = rows[index].name
      let shared = rows[index - 1].name.sharedPrefixByteCount(with: name)
      let rest = name.count - shared
      value.append(UInt8(min(shared, 15) << 4 | min(rest, 15)))
      if shared >= 15 { value.append(UInt8(shared)) }
      if rest >= 15 { value.append(UInt8(rest)) }
      value.append(name.dropFirst(shared))
    }
  }

  private func appendPackedNames(_ kind: NameKind, to value: inout ByteBuffer) -> Bool {
    let width = kind.packedByteCount
    var packed = ByteBuffer(capacity: rows.count * width)
    for row in rows { guard kind.pack(row.name, to: &packed) else { return false } }
    let first = packed.bytes.slice(0, width)
    var shared = width
    for index in 1..<rows.count {
      shared = min(
        shared, first.sharedPrefixByteCount(with: packed.bytes.slice(index * width, width)))
    }
    value.append(UInt8(shared))
    for index in 1..<rows.count {
      value.append(packed.bytes.slice(index * width + shared, width - shared))
    }
    return true
  }

  /// Appends a column of few values: each value once, then the index of each message's value.
  private mutating func append(to value: inout ByteBuffer, _ number: (Row) -> UInt32) {
    values.removeAll(keepingCapacity: true)
    codes.removeAll(keepingCapacity: true)
    for row in rows {
      let number = number(row)
      if let code = values.firstIndex(of: number) {
        codes.append(UInt8(code))
      } else {
        codes.append(UInt8(values.count))
        values.append(number)
      }
    }
    value.append(UInt8(values.count))
    for number in values { value.append(varint: UInt64(number)) }
    let bitCount = Segment.indexBitCount(values.count)
    guard bitCount > 0 else { return }
    var (byte, used) = (UInt8(0), 0)
    for code in codes {
      byte |= code << UInt8(used)
      used += bitCount
      if used == 8 {
        value.append(byte)
        (byte, used) = (0, 0)
      }
    }
    if used > 0 { value.append(byte) }
  }

  private func appendRareLengths(to value: inout ByteBuffer) {
    for row in rows {
      let record = row.record
      if record.flags.contains(.localTime) { value.append(signedVarint: record.localDelta) }
      if let ordinal = record.markOrdinal { value.append(varint: ordinal) }
      if record.flags.contains(.reply) { value.append(UInt8(record.replyBytes.count)) }
      if record.flags.contains(.traits) { value.append(varint: UInt64(record.traitsBytes.count)) }
    }
  }
}
