import LZ4Blocks
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
    let textByteCount: Int
    /// The sizes of all texts and rare fields up to this message.
    let textEnd: Int
    let restEnd: Int
    /// The unread messages up to this one, itself included.
    let unreadEnd: UnreadCount
  }

  /// The local member, for whom messages are unread; nil if it is not known.
  var localMember: UInt32?
  private var rows: [Row] = []
  private var texts = ByteBuffer(capacity: 4096)
  private var rest = ByteBuffer(capacity: 1024)
  private var values: [UInt32] = []
  private var codes: [UInt8] = []
  /// The bytes that 256 bytes of weight took in the last segment, an estimate for the next one.
  private var sizeOf256 = 160
  /// The bytes that the columns of sixteen messages took in the last segment.
  private var columnByteCount = 128

  /// Appends the segment of some messages of a run, see `SegmentEncoder.encode`.
  mutating func encode(
    _ run: borrowing MessageRun, _ range: Range<Int>, with compressor: inout BlockCompressor,
    to value: inout ByteBuffer
  ) -> Bool {
    guard (2...Segment.maximumCount).contains(range.count) else { return false }
    removeAll()
    for index in range { guard add(run, index) else { return false } }
    guard rest.count <= Segment.maximumBlockByteCount else { return false }
    texts.append(rest.bytes)
    let textByteCount = texts.count - rest.count
    let encoder = compressor.encoder
    encoder.search(texts.bytes, limit: texts.count)
    let byteCount = encoder.blockByteCount(first: texts.count) ?? texts.count
    let isSmaller = byteCount < texts.count
    appendHead(
      isSmaller ? .lz4(dictionary: compressor.dictionary.version) : .plain, textByteCount,
      to: &value)
    appendColumns(to: &value)
    if isSmaller {
      _ = encoder.encode(first: texts.count, into: value.extend(by: byteCount))
    } else {
      value.append(texts.bytes)
    }
    return true
  }

  /// Appends a segment of as many messages from one on as fit, see `SegmentEncoder.encodeMost`.
  ///
  /// All texts are searched for matches once, and the sizes of blocks for fewer of them are known
  /// then. Rare fields lie behind the texts: they are searched again for each number of messages
  /// that is tried.
  mutating func encodeMost(
    of run: borrowing MessageRun, from start: Int, limit: Int,
    with compressor: inout BlockCompressor, to value: inout ByteBuffer
  ) -> Int {
    removeAll()
    // More than half as many again as predicted are not considered.
    let maximumWeight = limit * 384 / sizeOf256
    var weight = 0
    for index in start..<min(run.count, start + Segment.maximumCount) {
      guard add(run, index) else { break }
      weight += Self.weight(run.record(index))
      if rows.count > 2, weight > maximumWeight { break }
    }
    guard rows.count > 1 else { return 1 }
    let encoder = compressor.encoder
    encoder.search(texts.bytes, limit: limit)
    let segmentStart = value.count
    var columns = ByteBuffer(capacity: 512)
    var count = predictedCount(limit, encoder)
    while count > 1 {
      cut(to: count)
      columns.removeAll()
      appendColumns(to: &columns)
      let byteCount = blockByteCount(encoder, limit)
      let isSmaller = byteCount < texts.count + rest.count
      let coding: Segment.Coding =
        isSmaller ? .lz4(dictionary: compressor.dictionary.version) : .plain
      appendHead(coding, texts.count, to: &value)
      let size = value.count - segmentStart + columns.count + byteCount
      guard size <= limit else {
        value.truncate(to: segmentStart)
        count -= max(1, (size - limit) * count / (size * 2))
        continue
      }
      value.append(columns.bytes)
      if isSmaller {
        _ = encoder.encode(
          first: texts.count + rest.count, into: value.extend(by: byteCount))
      } else {
        value.append(texts.bytes)
        value.append(rest.bytes)
      }
      let total = (start..<start + count).reduce(0) { $0 + Self.weight(run.record($1)) }
      sizeOf256 = max(1, size * 256 / total)
      columnByteCount = max(1, columns.count * 16 / count)
      return count
    }
    return 1
  }

  /// Returns the greatest number of messages that may fit: a few more than will.
  private func predictedCount(_ limit: Int, _ encoder: Codec.Encoder) -> Int {
    var count = rows.count
    while count > 2 {
      let texts = rows[count - 1].textEnd
      let block = encoder.blockByteCount(first: texts).map { min($0, texts) } ?? limit
      let rest = rows[count - 1].restEnd / 2
      if block + rest + count * columnByteCount / 16 <= limit { break }
      count -= 1
    }
    return count
  }

  /// Drops all messages but the first.
  private mutating func cut(to count: Int) {
    rows.removeLast(rows.count - count)
    texts.truncate(to: rows[count - 1].textEnd)
    rest.truncate(to: rows[count - 1].restEnd)
  }

  /// Returns the size of the block for texts and rare fields: at most that of its content.
  private func blockByteCount(_ encoder: Codec.Encoder, _ limit: Int) -> Int {
    let textByteCount = texts.count
    guard encoder.blockByteCount(first: textByteCount) != nil else {
      return textByteCount + rest.count
    }
    if rest.count > 0 { encoder.replace(from: textByteCount, with: rest.bytes, limit: limit) }
    let byteCount = textByteCount + rest.count
    return min(encoder.blockByteCount(first: byteCount) ?? byteCount, byteCount)
  }

  /// The predicted raw weight of a message: its record, and its share of the columns.
  private static func weight(_ record: Bytes) -> Int { 12 + record.count }

  private mutating func removeAll() {
    rows.removeAll(keepingCapacity: true)
    texts.removeAll()
    rest.removeAll()
  }

  /// Adds a message of a run; returns false, and adds nothing, if it cannot lie in a segment with
  /// those before.
  private mutating func add(_ run: borrowing MessageRun, _ index: Int) -> Bool {
    let (key, value) = (run.key(index), run.record(index))
    let placeOffset = KeyEncoding.numberByteCount
    guard let (place, placeByteCount) = key.place(at: placeOffset), !place.isPending,
      var record = MessageRecord(value), SegmentEncoder.canHold(record)
    else { return false }
    if let first = rows.first {
      guard run.key(index - 1).compare(to: key) < 0,
        !place.time.subtractingReportingOverflow(first.place.time).overflow
      else { return false }
    }
    let start = texts.count
    guard record.appendText(to: &texts), texts.count <= Segment.maximumBlockByteCount,
      rest.count + record.replyBytes.count + record.traitsBytes.count
        <= Segment.maximumBlockByteCount
    else {
      texts.truncate(to: start)
      return false
    }
    rest.append(record.replyBytes)
    rest.append(record.traitsBytes)
    record.flags.remove(.compressed)
    rows.append(
      Row(
        place: place, name: key.dropFirst(placeOffset + placeByteCount), record: record,
        textByteCount: texts.count - start, textEnd: texts.count, restEnd: rest.count,
        unreadEnd: (rows.last?.unreadEnd ?? UnreadCount()) + record.unreadCount(for: localMember)))
    return true
  }

  private func appendHead(
    _ coding: Segment.Coding, _ textByteCount: Int, to value: inout ByteBuffer
  ) {
    let last = rows[rows.count - 1]
    value.append(localMember == nil ? Segment.tag : Segment.countedTag)
    value.append(UInt8(rows.count))
    value.append(varint: coding.number)
    value.append(varint: UInt64(last.place.time - rows[0].place.time))
    value.append(varint: UInt64(textByteCount))
    value.append(varint: UInt64(rest.count))
    guard localMember != nil else { return }
    value.append(UInt8(last.unreadEnd.messages))
    value.append(UInt8(last.unreadEnd.mentions))
  }

  // MARK: Columns

  private mutating func appendColumns(to value: inout ByteBuffer) {
    appendTimes(to: &value)
    appendSequences(to: &value)
    appendNames(to: &value)
    append(to: &value) { $0.record.sender }
    append(to: &value) { UInt32($0.record.flags.rawValue) << 8 | UInt32($0.record.status.rawValue) }
    for row in rows { value.append(varint: UInt64(row.textByteCount)) }
    appendRareLengths(to: &value)
  }

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
