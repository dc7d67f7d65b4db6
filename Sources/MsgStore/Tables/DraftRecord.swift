import PageFile

/// The draft of a message.
///
/// It has a cell of its own because it may be long and only the chat's own screen shows it.
///
/// See docs/message-format.md, C-14.
///
/// Without flag 2 the draft was given up at that time, which must be known for as long as an older
/// draft may arrive. The later of two drafts counts; at equal times, the one with the greater
/// bytes.
package struct DraftRecord: StoredRecord {
  package static let table = Table(Schema.conversations, "draft", keys: 5, mark: keySuffix)
  /// The byte behind the conversation's number in the key.
  package static let keySuffix: UInt8 = 2
  package private(set) var time: Int64 = 0
  package private(set) var replyTo: MessageID?
  /// nil if the draft was given up.
  package private(set) var text: String?

  package init() {}

  package init(_ text: String?, replyTo: MessageID?, time: Int64) {
    self.text = text
    self.replyTo = text == nil ? nil : replyTo
    self.time = time
  }

  package mutating func visit(_ fields: inout (some FieldVisitor & ~Copyable)) {
    fields.tag(1)
    fields.flags(.byte)
    fields.fixed(&time, "time")
    fields.optional(1, &replyTo, or: "") { $0.name(&$1, "id of the message it replies to") }
    fields.optional(2, &text, or: "") {
      $0.bytes(&$1, .rest, in: 0...TextCompression.maximumTextByteCount, "text, UTF-8")
    }
    fields.require(replyTo == nil || text != nil)
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
    KeyEncoding.key(conversation).appending(keySuffix)
  }
}
