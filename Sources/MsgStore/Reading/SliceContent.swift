import PageFile

/// The memory that the copies of one slice share.
///
///  1. Rows are in the order in which a cursor met them: first those from some message on, then
///     those before it, the newest of these first. Nothing is moved afterwards. An index is turned
///     into a row by arithmetic.
///  2. The code that creates a plain message can be inlined where the message is used. A loop over
///     a slice then keeps the message in registers, creates only the parts it uses, and counts no
///     references but that of the text.
@safe @usableFromInline
final class SliceContent: @unchecked Sendable {
  // Unchecked: nothing changes after init, and rows and buffer are only read.
  @usableFromInline let count: Int
  @usableFromInline let forwardCount: Int
  /// The addresses of rows and buffer, for code that cannot know their types.
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
    // Unsafe: the memory of both stays in place until this object is destroyed.
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
    precondition(index >= 0 && index < count, "MessageSlice: index out of range")
    // Unsafe: the rows and the bytes they refer to live as long as this object. The builder has
    // ensured that offsets are within the buffer, with room for a name after them, and that the
    // text is valid.
    defer { extendLifetime(self) }
    let backwardCount = count &- forwardCount
    let row =
      unsafe rowBase + (index < backwardCount ? count &- 1 &- index : index &- backwardCount)
    guard unsafe row.pointee.isPlain else { return unsafe unusualMessage(row.pointee) }
    let text = unsafe UnsafeRawBufferPointer(
      start: byteBase + row.pointee.textOffset, count: Int(row.pointee.textByteCount))
    let replyByteCount = unsafe Int(row.pointee.replyByteCount)
    let reply =
      unsafe replyByteCount == 0
      ? MessageID.noWords
      : MessageID(byteBase + row.pointee.replyOffset, byteCount: replyByteCount).words
    return unsafe Message(
      MessageID(byteBase + row.pointee.idOffset, byteCount: Int(row.pointee.idByteCount)),
      origin, row.pointee.senderIndex, Self.string(text, isASCII: row.pointee.isASCII),
      row.pointee.fields, row.pointee.time, row.pointee.extra, row.pointee.rank, reply,
      row.pointee.rareIndex, nil)
  }

  /// Returns valid UTF-8 as a string.
  ///
  /// As `Bytes.uncheckedText`, which cannot be inlined into the code of others.
  @inlinable @inline(__always) @unsafe
  static func string(_ text: UnsafeRawBufferPointer, isASCII: Bool) -> String {
    // Older systems of Apple's make no string without validating its bytes once more.
    guard #available(macOS 26, iOS 26, tvOS 26, watchOS 26, visionOS 26, *) else {
      return unsafe String(decoding: text, as: UTF8.self)
    }
    let bytes = unsafe Span<UInt8>(_unsafeBytes: text)
    return unsafe String(copying: UTF8Span(unchecked: bytes, isKnownASCII: isASCII))
  }

  /// Returns a message that has a long name or rare fields, as a pending one has.
  @usableFromInline @inline(never)
  func unusualMessage(_ row: SliceRow) -> Message {
    row.message(buffer.bytes, rares, origin)
  }
}

extension SliceRow {
  /// Returns the message of the row, whose bytes lie in the given ones.
  func message(_ bytes: Bytes, _ rares: [Message.Rare], _ origin: Message.Origin) -> Message {
    let rare = isDeferred || rareIndex < 0 ? nil : rares[Int(rareIndex)]
    let deferredIndex = isDeferred ? rareIndex : -1
    // Unsafe: the builder has validated the text.
    let text = unsafe bytes.slice(textOffset, Int(textByteCount)).uncheckedText(isASCII: isASCII)
    let id = rare?.fields.ownID ?? MessageID(bytes.slice(idOffset, Int(idByteCount)))
    let reply =
      replyByteCount == 0
      ? MessageID.noWords : MessageID(bytes.slice(replyOffset, Int(replyByteCount))).words
    return isPending
      ? Message(id, origin, senderIndex, text, fields, 0, time, extra, reply, -1, rare)
      : Message(
        id, origin, senderIndex, text, fields, time, extra, rank, reply, deferredIndex, rare)
  }
}
