package import PageFile

/// A place among all messages: it goes from one to the next whether they have cells of their own or
/// lie in segments.
///
///  1. As a `Cursor` it is valid within one `within`, while nobody changes the tree.
///  2. A segment is unpacked when one of its messages is looked at, not when the cursor comes to its
///     cell: a walk often ends where a segment of another conversation begins.
///  3. `seek` looks into the segment before a key only if the key may lie within it. Keys of pending
///     messages do not.
package struct MessageCursor: ~Copyable {
  private let view: StoreView
  var cursor: Cursor
  var place = Standing.alone
  /// The cell that the cursor stands at, if it does.
  private var current = LeafCell.none
  var segment = UnpackedSegment()
  /// The value that the segment was unpacked from; nil of one that may change before the next look.
  private var source: Bytes?
  /// The conversation of the segment.
  private var number: UInt32 = 0
  private var dictionary = CompressionDictionary.none

  enum Standing {
    /// At a cell that is no segment, or at none.
    case alone
    /// At a segment that is not unpacked, coming from either side.
    case packed(fromEnd: Bool)
    case unpacked(index: Int)
  }

  package init(_ view: StoreView) {
    self.view = view
    cursor = Cursor(view.source, Schema.messages)
  }

  // MARK: Moving

  /// Goes to the first message whose key is not below `key`; returns whether it is that key's.
  package mutating func seek(_ key: Bytes) throws(StoreError) -> Bool {
    if try seekCell(key) { return true }
    if try enterSpan(of: key) {
      let found = segment.search(key.dropFirst(KeyEncoding.numberByteCount))
      if found.index < segment.rows.count {
        place = .unpacked(index: found.index)
        return found.isEqual
      }
    }
    _ = try nextCell()
    return false
  }

  /// Goes to the last message whose key is below `key`.
  ///
  /// False: there is none.
  mutating func seekBefore(_ key: Bytes) throws(StoreError) -> Bool {
    if try seekCell(key) { return try previous() }
    if try enterSpan(of: key) {
      let found = segment.search(key.dropFirst(KeyEncoding.numberByteCount))
      // The first of them is the cell's, whose key is below.
      place = .unpacked(index: max(found.index - 1, 0))
    }
    return isAtMessage
  }

  /// Goes to the last cell whose key is not above `key`; returns whether it is that key's.
  private mutating func seekCell(_ key: Bytes) throws(StoreError) -> Bool {
    place = .alone
    let isEqual = try storage { () throws(PageFileError) in try cursor.seekBack(key) }
    arrive(fromEnd: !isEqual)
    return isEqual
  }

  /// Unpacks the segment that the cursor stands at if a key may lie within it.
  private mutating func enterSpan(of key: Bytes) throws(StoreError) -> Bool {
    guard case .packed = place, mayContain(key) else { return false }
    try load()
    return true
  }

  /// Whether a segment is of the conversation of a key that is above its first, and the time of its
  /// last message not below that of the key.
  private func mayContain(_ key: Bytes) -> Bool {
    guard key.count > KeyEncoding.numberByteCount,
      key[KeyEncoding.numberByteCount] == Place.Phase.acknowledged.rawValue,
      cursor.keyHasPrefix(key.slice(0, KeyEncoding.numberByteCount))
    else { return false }
    guard let header = SegmentHeader(current.value), key.count >= 13,
      let first = cursor.key.messagePlace
    else { return true }
    let time = KeyEncoding.unflipped(key.bigEndian64(at: 5))
    return UInt64(bitPattern: time &- first.place.time) <= header.lastTimeOffset
  }

  /// Goes to the next message.
  ///
  /// False: there is none.
  package mutating func next() throws(StoreError) -> Bool {
    if case .packed(fromEnd: false) = place { try load() }
    if case .unpacked(let index) = place, index + 1 < segment.rows.count {
      place = .unpacked(index: index + 1)
      return true
    }
    return try nextCell()
  }

  /// Goes to the message before.
  ///
  /// False: there is none.
  mutating func previous() throws(StoreError) -> Bool {
    if case .packed(fromEnd: true) = place { try load() }
    if case .unpacked(let index) = place, index > 0 {
      place = .unpacked(index: index - 1)
      return true
    }
    let isThere = try storage { () throws(PageFileError) in try cursor.previous() }
    arrive(fromEnd: true)
    return isThere
  }

  /// Goes to the first message of all.
  mutating func first() throws(StoreError) -> Bool {
    let isThere = try storage { () throws(PageFileError) in try cursor.first() }
    arrive(fromEnd: false)
    return isThere
  }

  @inline(__always)
  mutating func arrive(fromEnd: Bool) {
    place = .alone
    guard cursor.isAtCell else { return }
    current = cursor.cell
    if !current.isOverflow, Segment.isSegment(current.value) { place = .packed(fromEnd: fromEnd) }
  }

  @inline(__always)
  private mutating func load() throws(StoreError) {
    if case .packed(let fromEnd) = place { try load(fromEnd: fromEnd) }
  }

  @inline(never)
  private mutating func load(fromEnd: Bool) throws(StoreError) {
    try unpack()
    place = .unpacked(index: fromEnd ? segment.rows.count - 1 : 0)
  }

  /// Unpacks places and names of the segment that the cursor stands at.
  ///
  /// A slice comes to one segment up to three times: what is unpacked stays so.
  private mutating func unpack() throws(StoreError) {
    let value = current.value
    if let source, source.isSame(as: value), segment.rows.count > 0 { return }
    source = nil
    var key = ByteBuffer()
    cursor.appendKey(to: &key)
    guard let number = key.bytes.bigEndianNumber(at: 0) else { throw corrupt }
    self.number = number
    let position = key.bytes.dropFirst(KeyEncoding.numberByteCount)
    guard segment.unpackPlaces(value, at: position) else { throw corrupt }
    // What is committed stays where it is as long as it may be looked at.
    if view.isCommitted { source = value }
  }

  /// Goes on to what else the segment says of a message.
  @inline(__always)
  mutating func loadRecords() throws(StoreError) {
    try load()
    if case .unpacked = place, !segment.isWhole { try unpackRecords() }
  }

  @inline(never)
  private mutating func unpackRecords() throws(StoreError) {
    guard let header = segment.header else { throw corrupt }
    if case .lz4(let number) = header.coding, number != dictionary.version {
      dictionary = try view.dictionaryTable.dictionary(number)
    }
    guard segment.unpackRecords(with: dictionary) else {
      // There are no rows to stand at any more.
      place = .packed(fromEnd: false)
      throw corrupt
    }
  }

  private var corrupt: StoreError {
    view.corrupt(Schema.messages, "a segment of messages is none")
  }

  // MARK: Looking

  /// Asking anything else where there is no message traps.
  @inline(__always)
  package var isAtMessage: Bool { cursor.isAtCell }

  /// Whether the message belongs to a conversation, whose number these bytes are.
  @inline(__always)
  package func isIn(_ number: Bytes) -> Bool { cursor.keyHasPrefix(number) }

  /// The same for the number itself.
  @inline(__always)
  func isIn(_ number: UInt32) -> Bool {
    if case .unpacked = place { return self.number == number }
    return cursor.key.number == number
  }

  /// The place in the key of the message; nil where there is none.
  mutating func messagePlace() throws(StoreError) -> Place? {
    try load()
    guard case .unpacked(let index) = place else { return cursor.key.messagePlace?.place }
    return segment.place(index)
  }

  /// Whether the message lies in a segment that is unpacked: after `seek`, one that a key lies in.
  var isWithinSegment: Bool { if case .unpacked = place { true } else { false } }

  /// Whether the message lies in a segment.
  var isPacked: Bool { if case .alone = place { false } else { true } }

  /// Adds the key that the message would have alone.
  package mutating func appendKey(
    to buffer: inout ByteBuffer, dropping dropped: Int = 0
  ) throws(StoreError) {
    try load()
    guard case .unpacked(let index) = place else {
      return cursor.appendKey(to: &buffer, dropping: dropped)
    }
    if dropped == 0 { buffer.append(bigEndian: number) }
    segment.appendKey(index, to: &buffer)
  }

  /// The record that the message would have alone; nil when it is none.
  ///
  /// It lives until the next step, and as long as `value`, which is overwritten.
  mutating func record(_ value: inout ByteBuffer) throws(StoreError) -> MessageRecord? {
    try loadRecords()
    if case .unpacked(let index) = place { return segment.record(index) }
    value.removeAll()
    try view.append(cursor, to: &value)
    return MessageRecord(value.bytes)
  }

  /// The bytes of the record that the message would have alone.
  package mutating func appendRecord(to value: inout ByteBuffer) throws(StoreError) {
    try loadRecords()
    guard case .unpacked(let index) = place else { return try view.append(cursor, to: &value) }
    segment.record(index).append(to: &value)
  }

  /// The position of the message.
  mutating func position() throws(StoreError) -> Position {
    var key = ByteBuffer()
    try appendKey(to: &key, dropping: KeyEncoding.numberByteCount)
    guard let position = key.bytes.position else {
      throw view.corrupt(Schema.messages, "a key is no position")
    }
    return position
  }

  /// How many bytes the record of a message that has a cell of its own takes.
  var recordByteCount: Int { cursor.valueByteCount }

  /// The key of the segment's cell, and whether its value has at least so many bytes.
  func packedCell(fullAt byteCount: Int) throws(StoreError) -> (isFull: Bool, key: [UInt8]) {
    var key = ByteBuffer()
    cursor.appendKey(to: &key)
    return (cursor.valueByteCount >= byteCount, key.bytes.array())
  }

  /// Goes behind the segment, or the message that has a cell of its own.
  mutating func nextCell() throws(StoreError) -> Bool {
    let isThere = try storage { () throws(PageFileError) in try cursor.next() }
    arrive(fromEnd: false)
    return isThere
  }

  /// Adds all messages of the segment that the cursor stands at to a run, and its cell's key to `key`.
  mutating func appendSegment(
    to run: inout MessageRun, _ key: inout ByteBuffer
  ) throws(StoreError) {
    try loadRecords()
    cursor.appendKey(to: &key)
    segment.append(to: &run, in: number)
  }
}
