import PageFile

/// What the copies of one slice share.
///
/// Rows were copied in the order in which a cursor met them: first those from some message onwards,
/// then those before it, newest of them first. Nothing is moved afterwards; an index is turned into
/// a row by arithmetic.
final class SliceContent: @unchecked Sendable {
  // Unchecked: nothing changes after init, and rows and buffer are only read.
  private let rows: SliceRows
  private let rares: [Message.Rare]
  let count: Int
  let hasOlder: Bool
  let hasNewer: Bool
  let gaps: SliceGaps
  private let forwardCount: Int
  private let buffer: ByteBuffer
  private let origin: Message.Origin

  init(
    rows: consuming SliceRows, rares: [Message.Rare], forwardCount: Int,
    buffer: consuming ByteBuffer, origin: Message.Origin, hasOlder: Bool,
    hasNewer: Bool, gaps: SliceGaps
  ) {
    count = rows.count
    self.rows = rows
    self.rares = rares
    self.forwardCount = forwardCount
    self.buffer = buffer
    self.origin = origin
    self.hasOlder = hasOlder
    self.hasNewer = hasNewer
    self.gaps = gaps
  }

  func message(at index: Int) -> Message {
    let backwardCount = count - forwardCount
    let row = rows[index < backwardCount ? count - 1 - index : index - backwardCount]
    return row.message(
      buffer.bytes, rare: row.rareIndex < 0 ? nil : rares[Int(row.rareIndex)], origin)
  }
}

extension SliceRow {
  /// The message of the row, whose bytes lie in the given ones.
  @inline(__always)
  func message(_ bytes: Bytes, rare: Message.Rare?, _ origin: Message.Origin) -> Message {
    // Unsafe: the builder has validated the text.
    let text = unsafe bytes.slice(textOffset, Int(textByteCount)).uncheckedText(isASCII: isASCII)
    let rare = rare ?? (replyByteCount > 0 || isPending ? makeRare(bytes) : nil)
    return Message.stored(
      id: rare?.fields.ownID ?? MessageID(bytes, at: idOffset, byteCount: Int(idByteCount)),
      from: origin, text: text, self, rare: rare)
  }

  @inline(never)
  private func makeRare(_ bytes: Bytes) -> Message.Rare {
    let replyTo =
      replyByteCount == 0 ? nil : MessageID(bytes.slice(replyOffset, Int(replyByteCount)))
    return Message.Rare(RareFields(replyTo: replyTo, localOrder: isPending ? rank : 0))
  }
}
