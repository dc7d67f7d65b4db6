package import PageFile

/// The draft of a message.
///
/// It has a cell of its own because it may be long and only the chat's own screen shows it.
///
/// See docs/message-format.md, C-14.
///
///     size  field
///        1  tag: 1
///        1  flags: 1 with a reply, 2 there is a draft
///        8  time
///      1+n  with flag 1: id of the message that it replies to, its byte count first
///        n  its text up to the end
///
/// Without flag 2 the draft was given up at that time, which must be known for as long as an older
/// draft may arrive. The later of two drafts counts; at equal times, the one with the greater
/// bytes.
package struct DraftRecord {
  /// The byte behind the conversation's number in the key.
  package static let keySuffix: UInt8 = 2
  private static let tag: UInt8 = 1
  private static let hasReply: UInt8 = 1
  private static let isThere: UInt8 = 2

  package let time: Int64
  package let replyTo: MessageID?
  /// nil if the draft was given up.
  package let text: String?

  package init(_ text: String?, replyTo: MessageID?, time: Int64) {
    self.text = text
    self.replyTo = text == nil ? nil : replyTo
    self.time = time
  }

  /// Decodes a draft.
  ///
  /// Returns nil if the bytes are not a valid draft; never traps.
  package init?(_ bytes: Bytes) {
    var reader = ByteReader(bytes)
    guard reader.byte() == Self.tag, let flags = reader.byte(), flags <= 3, flags != Self.hasReply,
      let time = reader.uint64()
    else { return nil }
    var replyTo: MessageID?
    if flags & Self.hasReply != 0 {
      guard let byteCount = reader.byte(), byteCount > 0, let id = reader.take(Int(byteCount)),
        id.isValidUTF8
      else { return nil }
      replyTo = MessageID(id)
    }
    let rest = reader.rest()
    guard rest.isValidUTF8, rest.count <= TextCompression.maximumTextByteCount,
      flags & Self.isThere != 0 || rest.count == 0
    else { return nil }
    // Unsafe: validated just above.
    self.init(
      flags & Self.isThere != 0 ? unsafe rest.uncheckedText() : nil, replyTo: replyTo,
      time: Int64(bitPattern: time))
  }

  /// Appends the draft.
  package func append(to buffer: inout ByteBuffer) {
    buffer.append(Self.tag)
    buffer.append((replyTo == nil ? 0 : Self.hasReply) | (text == nil ? 0 : Self.isThere))
    buffer.append(time: time)
    if let replyTo {
      buffer.append(UInt8(replyTo.byteCount))
      buffer.append(replyTo)
    }
    if let text { buffer.append(text) }
  }

  /// Returns true if another draft takes precedence over this one.
  func precedes(_ other: DraftRecord) -> Bool {
    if time != other.time { return time < other.time }
    guard let otherText = other.text else { return false }
    guard let text else { return true }
    if !text.hasSameBytes(as: otherText) { return text.precedesByBytes(otherText) }
    guard let otherReply = other.replyTo else { return false }
    return replyTo.map { $0 < otherReply } ?? true
  }

  static func key(_ conversation: UInt32) -> ByteBuffer {
    var key = KeyEncoding.key(conversation)
    key.append(keySuffix)
    return key
  }
}
