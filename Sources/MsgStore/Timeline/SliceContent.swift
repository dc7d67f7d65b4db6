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
    let row = rows[
      index < backwardCount ? backwardCount - 1 - index + forwardCount : index - backwardCount]
    let bytes = buffer.bytes
    let textBytes = bytes.slice(row.textOffset, Int(row.textByteCount))
    // Unsafe: the builder has validated the text.
    let text = unsafe textBytes.uncheckedText(isASCII: row.isASCII)
    var rare: Message.Rare?
    if row.rareIndex >= 0 {
      rare = rares[Int(row.rareIndex)]
    } else if row.replyByteCount > 0 || row.isPending {
      rare = self.rare(of: row)
    }
    return Message.stored(
      id: rare?.fields.ownID
        ?? MessageID(bytes, at: row.idOffset, byteCount: Int(row.idByteCount)),
      from: origin, text: text, row, rare: rare)
  }

  @inline(never)
  private func rare(of row: SliceRow) -> Message.Rare {
    let replyTo =
      row.replyByteCount == 0
      ? nil : MessageID(buffer.bytes.slice(row.replyOffset, Int(row.replyByteCount)))
    return Message.Rare(RareFields(replyTo: replyTo, localOrder: row.isPending ? row.rank : 0))
  }
}
