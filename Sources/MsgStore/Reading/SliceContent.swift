import PageFile

/// What the copies of one slice share.
///
///  1. Rows were copied in the order in which a cursor met them: first those from some message onwards,
///     then those before it, newest of them first. Nothing is moved afterwards; an index is turned
///     into a row by arithmetic.
///  2. What it takes to make a message that has nothing unusual can be inlined where the message is
///     used: a loop over a slice then keeps it in registers, makes only what it looks at, and counts no
///     references but that of the text.
@safe @usableFromInline
final class SliceContent: @unchecked Sendable {
  // Unchecked: nothing changes after init, and rows and buffer are only read.
  @usableFromInline let count: Int
  @usableFromInline let forwardCount: Int
  /// Where rows and buffer lie, for code that cannot know their types.
  @usableFromInline let rowBase: UnsafePointer<SliceRow>
  @usableFromInline let byteBase: UnsafeRawPointer
  @usableFromInline let origin: Message.Origin
  private let rows: SliceRows
  private let buffer: ByteBuffer
  private let rares: [Message.Rare]
  let hasOlder: Bool
  let hasNewer: Bool
  let gaps: SliceGaps

  init(
    rows: consuming SliceRows, rares: [Message.Rare], forwardCount: Int,
    buffer: consuming ByteBuffer, origin: Message.Origin, hasOlder: Bool,
    hasNewer: Bool, gaps: SliceGaps
  ) {
    count = rows.count
    unsafe rowBase = rows.start
    // Unsafe: the memory of both stays where it is until this object goes.
    unsafe byteBase = buffer.bytes.withUnsafeBytes { bytes in
      unsafe bytes.baseAddress.unsafelyUnwrapped
    }
    self.rows = rows
    self.rares = rares
    self.forwardCount = forwardCount
    self.buffer = buffer
    self.origin = origin
    self.hasOlder = hasOlder
    self.hasNewer = hasNewer
    self.gaps = gaps
  }

  @inlinable @inline(__always)
  func message(at index: Int) -> Message {
    precondition(index >= 0 && index < count, "no such message")
    // Unsafe: rows and what they refer to live as long as this object, and the builder has made sure
    // that offsets are within the buffer, with room for a name behind them, and the text valid.
    defer { extendLifetime(self) }
    let backwardCount = count &- forwardCount
    let row =
      unsafe rowBase + (index < backwardCount ? count &- 1 &- index : index &- backwardCount)
    guard unsafe row.pointee.isPlain else { return unsafe unusualMessage(row.pointee) }
    let textBytes = unsafe Span<UInt8>(
      _unsafeBytes: UnsafeRawBufferPointer(
        start: byteBase + row.pointee.textOffset, count: Int(row.pointee.textByteCount)))
    return unsafe Message(
      MessageID(byteBase + row.pointee.idOffset, byteCount: Int(row.pointee.idByteCount)),
      origin, row.pointee.senderIndex,
      String(copying: UTF8Span(unchecked: textBytes, isKnownASCII: row.pointee.isASCII)),
      row.pointee.fields, row.pointee.time, row.pointee.extra, row.pointee.rank, nil)
  }

  /// A message that is pending, has a long name, or something else that few have.
  @usableFromInline @inline(never)
  func unusualMessage(_ row: SliceRow) -> Message {
    row.message(buffer.bytes, rare: row.rareIndex < 0 ? nil : rares[Int(row.rareIndex)], origin)
  }
}

extension SliceRow {
  /// The message of the row, whose bytes lie in the given ones.
  func message(_ bytes: Bytes, rare: Message.Rare?, _ origin: Message.Origin) -> Message {
    // Unsafe: the builder has validated the text.
    let text = unsafe bytes.slice(textOffset, Int(textByteCount)).uncheckedText(isASCII: isASCII)
    let rare = rare ?? (replyByteCount > 0 || isPending ? makeRare(bytes) : nil)
    let id = rare?.fields.ownID ?? MessageID(bytes.slice(idOffset, Int(idByteCount)))
    return isPending
      ? Message(id, origin, senderIndex, text, fields, 0, time, extra, rare)
      : Message(id, origin, senderIndex, text, fields, time, extra, rank, rare)
  }

  private func makeRare(_ bytes: Bytes) -> Message.Rare {
    let replyTo =
      replyByteCount == 0 ? nil : MessageID(bytes.slice(replyOffset, Int(replyByteCount)))
    return Message.Rare(RareFields(replyTo: replyTo, localOrder: isPending ? rank : 0))
  }
}
