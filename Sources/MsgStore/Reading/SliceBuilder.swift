import PageFile

/// Copies messages from pages into the memory of a slice and checks each of them once.
///
/// Names, texts, and the names of answered messages are copied one after the other. Numbers go into
/// the row.
struct SliceBuilder: ~Copyable {
  private let view: StoreView
  private let conversation: ConversationID
  let number: UInt32
  private let localMember: UInt32?
  private var rows: SliceRows
  private var rares: [Message.Rare] = []
  /// The rare fields that are decoded when they are asked for, once there are any.
  private var deferred: DeferredBox?
  var buffer: ByteBuffer
  private var marks: DeliveryMarks
  private var senders: MemberList

  /// The room for a typical message.
  ///
  /// More is allocated when needed.
  private static let typicalByteCount = 144
  private static let maximumReservedCount = 256

  @inline(never)
  init(_ view: StoreView, _ conversation: ConversationID, _ number: UInt32, count: Int) {
    self.view = view
    self.conversation = conversation
    self.number = number
    localMember = view.localMember
    marks = DeliveryMarks(view, number)
    let reserved = min(count, Self.maximumReservedCount)
    buffer = ByteBuffer(capacity: reserved * Self.typicalByteCount)
    rows = SliceRows(capacity: reserved)
    senders = MemberList(reservedCount: min(reserved, 8))
  }

  var count: Int { rows.count }

  /// Returns the place of an added message.
  func place(_ index: Int) -> Place { rows[index].place }

  /// Returns the position of an added message.
  func position(_ index: Int) -> MessagePosition {
    let row = rows[index]
    return MessagePosition(
      row.place, MessageID(buffer.bytes.slice(row.idOffset, Int(row.idByteCount))))
  }

  /// Removes the message that was added last.
  mutating func removeLast() { rows.removeLast() }

  // MARK: Single records

  /// Appends the message at the cursor.
  ///
  /// Returns false and appends nothing at the end of the tree and at another conversation.
  mutating func append(_ cursor: inout MessageCursor) throws(StoreError) -> Bool {
    guard cursor.isAtMessage, cursor.isIn(number) else { return false }
    let start = buffer.count
    try cursor.appendKey(to: &buffer)
    let valueOffset = buffer.count
    try cursor.appendRecord(to: &buffer)
    try addRecord(start..<valueOffset)
    return true
  }

  /// Appends the message at a position.
  ///
  /// Returns false if no message is there.
  mutating func append(at position: MessagePosition) throws(StoreError) -> Bool {
    let key = KeyEncoding.key(number, position)
    if !position.place.isPending {
      // Done as for a slice: the text is copied once, and no record is assembled to be decoded
      // again.
      var cursor = MessageCursor(view)
      guard try cursor.seek(key.bytes) else { return false }
      if try cursor.appendPacked(to: &self) { return true }
      return try append(&cursor)
    }
    let start = buffer.count
    buffer.append(key.bytes)
    let valueOffset = buffer.count
    guard try view.messages.record(at: position, in: number, appendTo: &buffer) else {
      return false
    }
    try addRecord(start..<valueOffset)
    return true
  }

  /// Appends the message whose key, followed by its record, was copied last.
  private mutating func addRecord(_ key: Range<Int>) throws(StoreError) {
    let placeOffset = key.lowerBound + KeyEncoding.numberByteCount
    guard let (place, placeByteCount) = buffer.bytes.place(at: placeOffset),
      case let id = placeOffset + placeByteCount..<key.upperBound,
      (1...Identifier.maximumByteCount).contains(id.count)
    else { throw corrupt }
    try addRecord(at: key.upperBound, place, idOffset: id.lowerBound, idByteCount: id.count)
  }

  /// Appends the message whose record, beginning at an offset, was copied last.
  @inline(never)
  mutating func addRecord(
    at valueOffset: Int, _ place: Place, idOffset: Int, idByteCount: Int
  ) throws(StoreError) {
    guard let record = MessageRecord(buffer.bytes.dropFirst(valueOffset)) else { throw corrupt }
    let flags = record.flags
    var parts = MessageParts(
      place: place, idOffset: idOffset, idByteCount: idByteCount,
      sender: record.sender, status: record.status,
      textOffset: buffer.count - record.payload.count, textByteCount: record.textByteCount)
    if place.isPending {
      if flags.contains(.sequence) { parts.extra = record.sequenceNumber }
    } else if flags.contains(.localTime) {
      parts.extra = place.time &+ record.localDelta
    }
    if flags.contains(.reply) {
      parts.replyOffset = valueOffset + record.replyOffset
      parts.replyByteCount = record.replyBytes.count
    }
    if flags.isDisjoint(with: [.traits, .compressed]) { return try add(parts) }
    if !flags.contains(.compressed), canDefer(parts),
      let outline = TraitsOutline(record.traitsBytes)
    {
      let isASCII = try checkTexts(of: parts)
      return try addDeferred(parts, isASCII: isASCII, record.traitsBytes, outline)
    }
    guard let traits = record.traits() else { throw corrupt }
    if traits.isRetracted {
      parts.textByteCount = 0
    } else if flags.contains(.compressed) {
      var block = ByteBuffer(capacity: record.payload.count)
      block.append(record.payload)
      parts.textOffset = buffer.count
      guard TextCompression.decompress(block.bytes, byteCount: parts.textByteCount, to: &buffer)
      else { throw corrupt }
    }
    if traits.isEmpty { try add(parts) } else { try add(parts, traits) }
  }

  // MARK: Parts

  /// Appends a message whose rare fields are already resolved or absent.
  mutating func add(_ parts: MessageParts) throws(StoreError) {
    try add(parts, isASCII: try checkTexts(of: parts))
  }

  /// Does the same for a message whose id and text were validated.
  @inline(__always)
  mutating func add(_ parts: MessageParts, isASCII: Bool) throws(StoreError) {
    var parts = parts
    if parts.sender == localMember {
      if isConcerned(parts) {
        parts.status = try effectiveStatus(
          parts.status, from: parts.sender, at: parts.place, parts.idOffset, parts.idByteCount)
      }
      if mayBeTimed(parts),
        let times = try receiptTimes(parts.status, at: parts.place, idOf: parts)
      {
        return try addTimed(parts, isASCII: isASCII, times)
      }
    }
    var rareIndex: Int32 = -1
    if parts.place.isPending || parts.replyByteCount > MessageID.maximumInlineByteCount {
      rareIndex = addRare(RareFields(), &parts)
    }
    try add(parts, isASCII: isASCII, rareIndex: rareIndex)
  }

  /// Returns true if the rare fields of a message may be decoded later.
  @inline(__always)
  func canDefer(_ parts: MessageParts) -> Bool {
    !parts.place.isPending && parts.replyByteCount <= MessageID.maximumInlineByteCount
  }

  /// Appends a message whose id and text were validated, and whose rare fields are decoded when
  /// they are asked for.
  ///
  /// - Parameter traits: The block of its traits, which has this outline.
  @inline(never)
  mutating func addDeferred(
    _ parts: MessageParts, isASCII: Bool, _ traits: Bytes, _ outline: TraitsOutline
  ) throws(StoreError) {
    var parts = parts
    if isConcerned(parts) {
      parts.status = try effectiveStatus(
        parts.status, from: parts.sender, at: parts.place, parts.idOffset, parts.idByteCount)
    }
    if mayBeTimed(parts),
      let times = try receiptTimes(parts.status, at: parts.place, idOf: parts)
    {
      guard var traits = MessageTraits(traits) else { throw corrupt }
      traits.join(times)
      return try addDeferred(parts, isASCII: isASCII, traits)
    }
    try appendDeferred(parts, isASCII: isASCII, traits, outline)
  }

  /// Appends a message whose only rare fields are times that receipts say.
  @inline(never)
  private mutating func addTimed(
    _ parts: MessageParts, isASCII: Bool, _ times: KnownTimes
  ) throws(StoreError) {
    if canDefer(parts) {
      var traits = MessageTraits()
      traits.join(times)
      return try addDeferred(parts, isASCII: isASCII, traits)
    }
    var (parts, fields) = (parts, RareFields())
    fields.join(times)
    let rareIndex = addRare(fields, &parts)
    try add(parts, isASCII: isASCII, rareIndex: rareIndex)
  }

  /// Appends a message with common traits that are not those of its record.
  private mutating func addDeferred(
    _ parts: MessageParts, isASCII: Bool, _ traits: MessageTraits
  ) throws(StoreError) {
    var block = ByteBuffer(capacity: 32)
    traits.append(to: &block)
    guard let outline = TraitsOutline(block.bytes) else { throw corrupt }
    try appendDeferred(parts, isASCII: isASCII, block.bytes, outline)
  }

  private mutating func appendDeferred(
    _ parts: MessageParts, isASCII: Bool, _ traits: Bytes, _ outline: TraitsOutline
  ) throws(StoreError) {
    let box = deferred ?? DeferredBox(view, number)
    deferred = box
    let id = buffer.bytes.slice(parts.idOffset, parts.idByteCount)
    let index = try box.append(traits, outline, of: id)
    try add(parts, isASCII: isASCII, rareIndex: index, isDeferred: true)
  }

  /// Lists the rare fields of a message; returns their index.
  ///
  /// They get the fields that only rows of plain messages hold.
  @inline(never)
  private mutating func addRare(_ fields: RareFields, _ parts: inout MessageParts) -> Int32 {
    var fields = fields
    if parts.place.isPending { fields.localOrder = parts.place.rank }
    if parts.replyByteCount > MessageID.maximumInlineByteCount {
      fields.longReply = MessageID(buffer.bytes.slice(parts.replyOffset, parts.replyByteCount))
      parts.replyByteCount = 0
    }
    rares.append(Message.Rare(fields))
    return Int32(rares.count - 1)
  }

  /// Appends a message with rare fields.
  @inline(never)
  mutating func add(_ parts: MessageParts, _ traits: MessageTraits) throws(StoreError) {
    var parts = parts
    let id = MessageID(buffer.bytes.slice(parts.idOffset, parts.idByteCount))
    let position = MessagePosition(parts.place, id)
    if isConcerned(parts) {
      parts.status = try marks.effectiveStatus(
        parts.status, from: parts.sender, at: parts.place, id: id,
        exactly: traits.marks.contains(.receipts) ? traits.names.first ?? id : nil,
        awaited: traits.awaited)
    }
    if traits.isRetracted { parts.replyByteCount = 0 }
    var fields = RareFields()
    try view.threads.fill(&fields, traits, at: position, in: number)
    if mayBeTimed(parts),
      let times = try marks.times(
        parts.status, at: parts.place, id: id,
        exactly: traits.marks.contains(.receipts) ? traits.names.first ?? id : nil)
    {
      fields.join(times)
    }
    let rareIndex = addRare(fields, &parts)
    try add(parts, isASCII: try checkTexts(of: parts), rareIndex: rareIndex)
  }

  @inline(__always)
  private func isConcerned(_ parts: MessageParts) -> Bool {
    !parts.place.isPending
      && DeliveryMarks.concern(parts.status, from: parts.sender, localMember: localMember)
  }

  @inline(__always)
  private func mayBeTimed(_ parts: MessageParts) -> Bool {
    !parts.place.isPending
      && DeliveryMarks.mayBeTimed(parts.status, from: parts.sender, localMember: localMember)
  }

  @inline(never)
  private mutating func receiptTimes(
    _ status: MessageStatus, at place: Place, idOf parts: MessageParts
  ) throws(StoreError) -> KnownTimes? {
    let id = buffer.bytes.slice(parts.idOffset, parts.idByteCount)
    return try marks.times(status, at: place, id: MessageID(id), exactly: nil)
  }

  // Its arguments fit into registers. As a whole, the parts would be in memory for each message.
  @inline(never)
  private mutating func effectiveStatus(
    _ status: MessageStatus, from sender: UInt32, at place: Place, _ idOffset: Int,
    _ idByteCount: Int
  ) throws(StoreError) -> MessageStatus {
    try marks.effectiveStatus(
      status, from: sender, at: place, id: MessageID(buffer.bytes.slice(idOffset, idByteCount)),
      exactly: nil)
  }

  @inline(__always)
  private mutating func add(
    _ parts: MessageParts, isASCII: Bool, rareIndex: Int32, isDeferred: Bool = false
  ) throws(StoreError) {
    let place = parts.place
    rows.append(
      SliceRow(
        time: place.time, rank: place.hasRank ? place.rank : 0, extra: parts.extra ?? 0,
        idOffset: parts.idOffset,
        textOffset: parts.textOffset, replyOffset: parts.replyOffset,
        textByteCount: Int32(truncatingIfNeeded: parts.textByteCount),
        senderIndex: try senders.index(of: parts.sender, view), rareIndex: rareIndex,
        idByteCount: UInt8(truncatingIfNeeded: parts.idByteCount),
        replyByteCount: UInt8(truncatingIfNeeded: parts.replyByteCount),
        fields: place.isPending
          ? Message.Fields(
            parts.status, serverTime: false, localTime: true, sequence: parts.extra != nil,
            reply: parts.replyByteCount > 0)
          : Message.Fields(
            parts.status, serverTime: true, localTime: parts.extra != nil, sequence: place.hasRank,
            reply: parts.replyByteCount > 0),
        isPending: place.isPending, isASCII: isASCII, isDeferred: isDeferred,
        isPlain: (isDeferred || rareIndex < 0)
          && parts.idByteCount <= MessageID.maximumInlineByteCount))
  }

  /// Validates the id and the text of a message.
  ///
  /// Returns true if the text is ASCII.
  // Mutating, although it changes nothing: otherwise it would be passed a copy of the builder.
  private mutating func checkTexts(of parts: MessageParts) throws(StoreError) -> Bool {
    let text = buffer.bytes.slice(parts.textOffset, parts.textByteCount)
    let id = buffer.bytes.slice(parts.idOffset, parts.idByteCount)
    let isASCII = text.isASCII(from: 0)
    guard isASCII || text.isText, id.isASCII || id.isText else { throw corrupt }
    return isASCII
  }

  var corrupt: StoreError {
    view.corrupt(
      Schema.messages, "slice of \"\(conversation)\": malformed message at index \(rows.count)")
  }

  /// Returns the slice of the added messages: the first `forwardCount` were added forwards, the
  /// rest backwards.
  consuming func finish(
    forwardCount: Int, hasOlder: Bool, hasNewer: Bool, gaps: SliceGaps = SliceGaps()
  ) -> MessageSlice {
    // A name is read as a whole, whatever follows it.
    buffer.append(zeros: MessageID.maximumInlineByteCount + 1)
    return MessageSlice(
      SliceContent(
        rows: rows, rares: rares, forwardCount: forwardCount, buffer: buffer,
        origin: Message.Origin(
          conversation, senders.members, senders.profiles, rares: deferred?.takeRares()),
        hasOlder: hasOlder, hasNewer: hasNewer, gaps: gaps))
  }

  /// Returns the only message that was added, without a slice around it.
  consuming func finishOne() -> Message {
    buffer.append(zeros: MessageID.maximumInlineByteCount + 1)
    return rows[0].message(
      buffer.bytes, rares,
      Message.Origin(
        conversation, senders.members, senders.profiles, rares: deferred?.takeRares()))
  }
}
