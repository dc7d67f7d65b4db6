package import PageFile

/// A cursor over all messages, both those with cells of their own and those in segments.
///
///  1. Like a `Cursor`, it is valid within one `within`, while the tree does not change.
///  2. A segment is unpacked when one of its messages is examined, not when the cursor arrives at
///     its cell. A walk often ends at the beginning of another conversation's segment.
///  3. `seek` looks into the segment before a key only if the key may lie within it. Keys of
///     pending messages never do.
package struct MessageCursor: ~Copyable {
  private let view: StoreView
  /// The time from which on messages that expire earlier are passed over; nil if none is.
  let hideTime: Int64?
  private var scratch = ByteBuffer(capacity: 0)
  var cursor: Cursor
  var place = Standing.alone
  /// The cell at the cursor, if the cursor is at one.
  private var current = LeafCell.none
  var segment = UnpackedSegment()
  /// The value that the segment was unpacked from; nil if it may change before the next look.
  private var source: Bytes?
  /// The number of the segment's conversation.
  private var number: UInt32 = 0
  private var dictionary = CompressionDictionary.none

  /// The place of the cursor within its cell.
  enum Standing {
    /// At a cell that is not a segment, or at no cell.
    case alone
    /// At a segment that is not unpacked.
    ///
    /// The cursor came from its end or its beginning.
    case packed(fromEnd: Bool)
    case unpacked(index: Int)
  }

  package init(_ view: StoreView) {
    self.view = view
    hideTime = view.hiding.time
    cursor = Cursor(view.source, Schema.messages)
  }

  // MARK: Moving

  /// Moves to the first message whose key is not below `key`.
  ///
  /// Returns true if its key is equal.
  package mutating func seek(_ key: Bytes) throws(StoreError) -> Bool {
    let isEqual = try seekAny(key)
    guard let hideTime else { return isEqual }
    return try !passHidden(hideTime, isForward: true) && isEqual
  }

  private mutating func seekAny(_ key: Bytes) throws(StoreError) -> Bool {
    if try seekCell(key) { return true }
    if try enterSpan(of: key) {
      let found = segment.search(key.dropFirst(KeyEncoding.numberByteCount))
      if found.index < segment.rows.count {
        place = .unpacked(index: found.index)
        return found.isEqual
      }
    }
    _ = try nextCellOfAll()
    return false
  }

  /// Moves to the last message whose key is below `key`.
  ///
  /// Returns false if no message is.
  mutating func seekBefore(_ key: Bytes) throws(StoreError) -> Bool {
    let isThere = try seekAnyBefore(key)
    guard let hideTime else { return isThere }
    _ = try passHidden(hideTime, isForward: false)
    return isAtMessage
  }

  private mutating func seekAnyBefore(_ key: Bytes) throws(StoreError) -> Bool {
    if try seekCell(key) { return try previousOfAll() }
    if try enterSpan(of: key) {
      let found = segment.search(key.dropFirst(KeyEncoding.numberByteCount))
      // The first message has the key of the cell, which is below.
      place = .unpacked(index: max(found.index - 1, 0))
    }
    return isAtMessage
  }

  /// Moves to the last cell whose key is not above `key`.
  ///
  /// Returns true if its key is equal.
  private mutating func seekCell(_ key: Bytes) throws(StoreError) -> Bool {
    place = .alone
    let isEqual = try storage { () throws(PageFileError) in try cursor.seekBack(key) }
    arrive(fromEnd: !isEqual)
    return isEqual
  }

  /// Unpacks the segment at the cursor if a key may lie within it.
  ///
  /// Returns true if it did.
  private mutating func enterSpan(of key: Bytes) throws(StoreError) -> Bool {
    guard case .packed = place, mayContain(key) else { return false }
    try load()
    return true
  }

  /// Returns true if a key may lie within the segment at the cursor: both are of one conversation,
  /// and the time of the segment's last message is not below that of the key.
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

  /// Moves to the next message.
  ///
  /// Returns false after the last one.
  package mutating func next() throws(StoreError) -> Bool {
    let isThere = try nextOfAll()
    guard let hideTime else { return isThere }
    _ = try passHidden(hideTime, isForward: true)
    return isAtMessage
  }

  @inline(__always)
  mutating func nextOfAll() throws(StoreError) -> Bool {
    if case .packed(fromEnd: false) = place { try load() }
    if case .unpacked(let index) = place, index + 1 < segment.rows.count {
      place = .unpacked(index: index + 1)
      return true
    }
    return try nextCellOfAll()
  }

  /// Moves to the previous message.
  ///
  /// Returns false before the first one.
  mutating func previous() throws(StoreError) -> Bool {
    let isThere = try previousOfAll()
    guard let hideTime else { return isThere }
    _ = try passHidden(hideTime, isForward: false)
    return isAtMessage
  }

  @inline(__always)
  mutating func previousOfAll() throws(StoreError) -> Bool {
    if case .packed(fromEnd: true) = place { try load() }
    if case .unpacked(let index) = place, index > 0 {
      place = .unpacked(index: index - 1)
      return true
    }
    let isThere = try storage { () throws(PageFileError) in try cursor.previous() }
    arrive(fromEnd: true)
    return isThere
  }

  /// Moves to the first message of all.
  ///
  /// Returns false if the tree is empty.
  mutating func first() throws(StoreError) -> Bool {
    _ = try storage { () throws(PageFileError) in try cursor.first() }
    arrive(fromEnd: false)
    if let hideTime { _ = try passHidden(hideTime, isForward: true) }
    return isAtMessage
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

  /// Unpacks the places and names of the segment at the cursor.
  ///
  /// A slice comes to one segment up to three times, so an unpacked segment stays unpacked.
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
    // A committed value stays in place for as long as it may be read.
    if view.isCommitted { source = value }
  }

  /// Unpacks the rest of the segment's records.
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
      // There are no rows left to stand at.
      place = .packed(fromEnd: false)
      throw corrupt
    }
    guard header.hasBeside else { return }
    do throws(StoreError) {
      try view.beside.apply(to: &segment, in: number)
    } catch {
      // Rows that are replaced in part must not be read.
      source = nil
      place = .packed(fromEnd: false)
      throw error
    }
  }

  private var corrupt: StoreError {
    view.corrupt(Schema.messages, "malformed segment")
  }

  // MARK: Looking

  /// True if the cursor is at a message.
  ///
  /// All other properties trap if it is not.
  @inline(__always)
  package var isAtMessage: Bool { cursor.isAtCell }

  /// Returns true if the message belongs to the conversation whose number these bytes are.
  @inline(__always)
  package func isIn(_ number: Bytes) -> Bool { cursor.keyHasPrefix(number) }

  /// Returns true if the message belongs to a conversation.
  @inline(__always)
  func isIn(_ number: UInt32) -> Bool {
    if case .unpacked = place { return self.number == number }
    return cursor.key.number == number
  }

  /// Returns true if the message is a pending one of the conversation whose number these bytes are.
  ///
  /// Pending messages have cells of their own, so nothing is unpacked.
  func isPending(in number: Bytes) throws(StoreError) -> Bool {
    guard case .alone = place, cursor.keyHasPrefix(number) else { return false }
    guard let place = cursor.key.messagePlace?.place else {
      throw view.corrupt(Schema.messages, "key does not decode to a position")
    }
    return place.isPending
  }

  /// Returns the place in the key of the message, or nil if the key has no valid place.
  mutating func messagePlace() throws(StoreError) -> Place? {
    try load()
    guard case .unpacked(let index) = place else { return cursor.key.messagePlace?.place }
    return segment.place(index)
  }

  /// True if the message lies in an unpacked segment.
  ///
  /// After `seek`, the key then lies within that segment.
  var isWithinSegment: Bool { if case .unpacked = place { true } else { false } }

  /// True if the message lies in a segment.
  var isPacked: Bool { if case .alone = place { false } else { true } }

  /// Appends the key that the message would have in a cell of its own.
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

  /// Returns the record that the message would have in a cell of its own, or nil if the record is
  /// malformed.
  ///
  /// It is valid until the cursor moves and as long as `value`, which is overwritten, does not
  /// change.
  mutating func record(_ value: inout ByteBuffer) throws(StoreError) -> MessageRecord? {
    try loadRecords()
    if case .unpacked(let index) = place { return segment.record(index) }
    value.removeAll()
    try view.append(cursor, to: &value)
    return MessageRecord(value.bytes)
  }

  /// Returns the record of the cell at the cursor, which is not a segment; nil if it is malformed.
  mutating func recordAtCell() throws(StoreError) -> MessageRecord? {
    if !current.isOverflow { return MessageRecord(current.value) }
    scratch.removeAll()
    try view.append(cursor, to: &scratch)
    return MessageRecord(scratch.bytes)
  }

  /// Appends the bytes of the record that the message would have in a cell of its own.
  package mutating func appendRecord(to value: inout ByteBuffer) throws(StoreError) {
    try loadRecords()
    guard case .unpacked(let index) = place else { return try view.append(cursor, to: &value) }
    segment.record(index).append(to: &value)
  }

  /// Returns the position of the message.
  mutating func position() throws(StoreError) -> MessagePosition {
    var key = ByteBuffer()
    try appendKey(to: &key, dropping: KeyEncoding.numberByteCount)
    guard let position = key.bytes.position else {
      throw view.corrupt(Schema.messages, "key does not decode to a position")
    }
    return position
  }

  /// The byte count of the cell's value: a segment, or the record of a message with a cell of its
  /// own.
  var recordByteCount: Int { cursor.valueByteCount }

  /// Moves past the segment, or past the message that has a cell of its own.
  mutating func nextCell() throws(StoreError) -> Bool {
    let isThere = try nextCellOfAll()
    guard let hideTime else { return isThere }
    _ = try passHidden(hideTime, isForward: true)
    return isAtMessage
  }

  @inline(__always)
  private mutating func nextCellOfAll() throws(StoreError) -> Bool {
    let isThere = try storage { () throws(PageFileError) in try cursor.next() }
    arrive(fromEnd: false)
    return isThere
  }

  /// Appends all messages of the segment at the cursor to a run, and returns its cell.
  mutating func takeSegment(to run: inout MessageRun) throws(StoreError) -> TakenCell {
    try loadRecords()
    segment.append(to: &run, in: number)
    var key = ByteBuffer()
    cursor.appendKey(to: &key)
    return TakenCell(
      key: key.bytes.array(), isSegment: true, besideKeys: segment.besideKeys(in: number))
  }

  /// Returns true if the message of this key may lie beside the segment at the cursor: it does so
  /// already, or at most a quarter of the segment's messages will, so that reading stays close to
  /// reading a segment.
  ///
  /// The cursor must be at the message.
  mutating func hasRoomBeside(for key: Bytes) throws(StoreError) -> Bool {
    try load()
    guard let header = segment.header else { return false }
    guard header.hasBeside else { return true }
    var record = ByteBuffer()
    if try view.value(of: key, in: Schema.beside, appendTo: &record) { return true }
    let maximumCount = max(1, header.count / 4)
    let first = segment.key(0, in: number)
    let last = segment.key(segment.rows.count - 1, in: number)
    return try view.beside.count(from: first.bytes, through: last.bytes, atMost: maximumCount)
      < maximumCount
  }

  /// Appends the cell of the segment at the cursor, with the tag of one that has messages beside
  /// it.
  ///
  /// Returns false, and appends nothing, if it has that tag.
  func appendMarked(
    to value: inout ByteBuffer, _ key: inout ByteBuffer
  ) throws(StoreError) -> Bool {
    if segment.header?.hasBeside == true { return false }
    cursor.appendKey(to: &key)
    let start = value.count
    try view.append(cursor, to: &value)
    value.mutableBytes[start] |= Segment.besideBit
    return true
  }
}
