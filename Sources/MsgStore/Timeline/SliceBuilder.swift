import PageFile

/// Copies messages out of pages into what a slice owns, checking each of them once.
struct SliceBuilder: ~Copyable {
  private let reader: StoreReader
  private let conversation: ConversationID
  private let number: UInt32
  private var rows: [SliceRow] = []
  private var rares: [Message.Rare] = []
  private var buffer: ByteBuffer
  private var marks: DeliveryMarks
  private var senders: [MemberID] = []
  /// Where in `senders` the sender of each of these numbers is.
  ///
  /// A slice has few senders but may have thousands: one that was pushed out of here is only listed
  /// again.
  private let recentSenders: ByteBuffer
  private static let recentCount = 16

  /// Room for typical messages; more is made when it is needed.
  private static let typicalByteCount = 144
  private static let reservedCountMax = 256

  init(_ reader: StoreReader, _ conversation: ConversationID, _ number: UInt32, count: Int) {
    self.reader = reader
    self.conversation = conversation
    self.number = number
    marks = DeliveryMarks(reader, number)
    let reserved = min(count, Self.reservedCountMax)
    buffer = ByteBuffer(capacity: reserved * Self.typicalByteCount)
    // Pairs of a sender's number and one more than where it is in `senders`. An inline array of pairs
    // was copied whole at each look.
    var recent = ByteBuffer(capacity: Self.recentCount * 8)
    recent.append(zeros: Self.recentCount * 8)
    recentSenders = recent
    rows.reserveCapacity(reserved)
  }

  var count: Int { rows.count }

  /// The place of a message that was added.
  func place(_ index: Int) -> Place { rows[index].place }

  /// The place in the key that a cursor stands at; nil when it is none.
  mutating func place(at cursor: inout MessageCursor) throws(StoreError) -> Place? {
    let start = buffer.count
    try cursor.appendKey(to: &buffer)
    defer { buffer.truncate(to: start) }
    return buffer.bytes.place(at: start + KeyEncoding.numberByteCount)?.place
  }

  /// Takes back the message that was added last.
  mutating func removeLast() { rows.removeLast() }

  /// Adds the message a cursor stands at.
  ///
  /// False, and nothing added, at the end of the tree and where another conversation begins.
  mutating func append(_ cursor: inout MessageCursor) throws(StoreError) -> Bool {
    guard cursor.isAtMessage else { return false }
    let start = buffer.count
    try cursor.appendKey(to: &buffer)
    guard buffer.bytes.bigEndianNumber(at: start) == number else {
      buffer.truncate(to: start)
      return false
    }
    let valueOffset = buffer.count
    try cursor.appendRecord(to: &buffer)
    try addRow(keyOffset: start, valueOffset: valueOffset)
    return true
  }

  /// Adds the message at a position.
  ///
  /// False when there is none.
  mutating func append(at position: Position) throws(StoreError) -> Bool {
    let key = KeyEncoding.key(number, position)
    let start = buffer.count
    buffer.append(key.bytes)
    let valueOffset = buffer.count
    guard try reader.record(at: position, in: number, appendTo: &buffer) else {
      return false
    }
    try addRow(keyOffset: start, valueOffset: valueOffset)
    return true
  }

  /// Checks the record whose bytes were copied last, and notes where its parts are.
  private mutating func addRow(keyOffset: Int, valueOffset: Int) throws(StoreError) {
    let placeOffset = keyOffset + KeyEncoding.numberByteCount
    guard let (place, placeByteCount) = buffer.bytes.place(at: placeOffset),
      case let idOffset = placeOffset + placeByteCount,
      (1...Identifier.byteCountMax).contains(valueOffset - idOffset),
      let record = MessageRecord(buffer.bytes.dropFirst(valueOffset))
    else { throw corrupt }
    let sender = try senderIndex(record.sender)
    let hasExtra =
      place.isPending ? record.flags.contains(.sequence) : record.flags.contains(.localTime)
    let extra = place.isPending ? record.sequenceNumber : place.time &+ record.localDelta
    let idByteCount = valueOffset - idOffset
    let flags = record.flags
    let status = try marks.effectiveStatus(
      record, at: Position(place, MessageID(buffer.bytes.slice(idOffset, idByteCount))))
    var (rareIndex, isWithdrawn) = (Int32(-1), false)
    if !flags.isDisjoint(with: [.reply, .traits]) {
      let position = Position(place, MessageID(buffer.bytes.slice(idOffset, idByteCount)))
      (rareIndex, isWithdrawn) = try addRare(record, at: position)
    }
    // Only numbers are kept of the record: decompressing may move the bytes it looks at.
    let textByteCount = isWithdrawn ? 0 : record.textByteCount
    var textOffset = buffer.count - record.payload.count
    if flags.contains(.compressed), !isWithdrawn {
      var block = ByteBuffer(capacity: record.payload.count)
      block.append(record.payload)
      textOffset = buffer.count
      guard TextCompression.decompress(block.bytes, byteCount: textByteCount, to: &buffer) else {
        throw corrupt
      }
    }
    let text = buffer.bytes.slice(textOffset, textByteCount)
    let isASCII = text.isASCII
    guard isASCII || text.isValidUTF8,
      buffer.bytes.slice(idOffset, idByteCount).isValidUTF8
    else { throw corrupt }
    rows.append(
      SliceRow(
        place: place, extra: extra, idOffset: idOffset, textOffset: textOffset,
        textByteCount: Int32(textByteCount), senderIndex: sender, rareIndex: rareIndex,
        idByteCount: UInt8(idByteCount), hasExtra: hasExtra, isASCII: isASCII, status: status))
  }

  /// Puts together what few messages have.
  ///
  /// Returns where it is, and whether the message was taken back.
  @inline(never)
  private mutating func addRare(
    _ record: MessageRecord, at position: Position
  ) throws(StoreError) -> (index: Int32, isWithdrawn: Bool) {
    guard let traits = record.traits() else { throw corrupt }
    var fields = RareFields(
      replyTo: record.replyTo, localOrder: position.place.isPending ? position.place.rank : 0)
    if !traits.isEmpty { try reader.fill(&fields, traits, at: position, in: number) }
    rares.append(Message.Rare(fields))
    return (Int32(rares.count - 1), traits.isWithdrawn)
  }

  private mutating func senderIndex(_ number: UInt32) throws(StoreError) -> Int32 {
    let place = Int(number) % Self.recentCount * 8
    let recent = recentSenders.bytes
    let known = Int32(truncatingIfNeeded: recent.uint32(at: place + 4))
    if known > 0 && recent.uint32(at: place) == number { return known - 1 }
    senders.append(try reader.member(number))
    recentSenders.mutableBytes.store(number, at: place)
    recentSenders.mutableBytes.store(UInt32(senders.count), at: place + 4)
    return Int32(senders.count - 1)
  }

  private var corrupt: StoreError {
    reader.corrupt(
      Schema.messages, "message \(rows.count) of a slice of \"\(conversation)\" is no record")
  }

  /// The slice of what was added: first `forwardCount` messages forwards, then the rest backwards.
  consuming func finish(
    forwardCount: Int, hasOlder: Bool, hasNewer: Bool, gaps: SliceGaps = SliceGaps()
  ) -> Slice {
    Slice(
      SliceContent(
        rows: rows, rares: rares, forwardCount: forwardCount, buffer: buffer,
        origin: Message.Origin(conversation, senders),
        hasOlder: hasOlder, hasNewer: hasNewer, gaps: gaps))
  }
}
