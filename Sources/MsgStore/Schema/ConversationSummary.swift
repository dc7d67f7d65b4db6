package import PageFile

/// What changes in a conversation with every message: counters, marks, the last message.
///
/// See docs/message-format.md, C-1 … C-6.
///
///     size  field
///        1  tag: 1
///        1  flags
///        8  created: microseconds since 1970
///     1–10  message count, varint
///     1–10  unread count, varint
///     1–10  next local order, varint
///     1–10  mark ordinal, varint
///      2+n  with flag 1: position of the read mark, its length first
///        8  with flag 2: activity, microseconds since 1970
///      2+n  with flag 2: position of the last message, its length first
///     1–10  with flag 2: number of its sender, varint
///        1  with flag 2: its status
///        n  with flag 2: the beginning of its text up to the end, at most 160 bytes
///
/// It is small and apart from the details, so that a message in a group of thousands writes as
/// little as one between two.
package struct ConversationSummary: Hashable {
  static let tag: UInt8 = 1
  private static let hasMark: UInt8 = 1
  private static let hasLast: UInt8 = 2
  /// No counter gets here in the life of a store, and counting on from here cannot overflow.
  private static let counterMax: UInt64 = 1 << 60

  /// The last message in thread order.
  ///
  /// Its text may be uncut until the summary is written.
  package struct Last: Hashable {
    package var position: Position
    package var sender: UInt32
    package var status: MessageStatus
    package var text: String

    package init(position: Position, sender: UInt32, status: MessageStatus, text: String) {
      self.position = position
      self.sender = sender
      self.status = status
      self.text = text
    }
  }

  /// When the conversation was made; the list shows it under this time while it has no messages.
  package var created: Int64
  package var messageCount = 0
  package var unreadCount = 0
  package var nextLocalOrder: Int64 = 0
  /// Increased whenever something is marked read.
  package var markOrdinal: UInt64 = 0
  /// Everything up to here has been read, but for what came to lie below it afterwards.
  package var mark: Position?
  /// The latest of all times of messages; says something while there is a last message.
  package var activity: Int64 = 0
  package var last: Last?

  package init(created: Int64) { self.created = created }

  /// The time under which the list shows the conversation.
  var listTime: Int64 { last == nil ? created : activity }

  /// Reads a summary.
  ///
  /// Any bytes may be given; nil when they are none.
  package init?(_ bytes: Bytes) {
    var reader = ByteReader(bytes)
    guard reader.byte() == Self.tag, let flags = reader.byte(),
      flags <= Self.hasMark | Self.hasLast, let created = reader.uint64(),
      let messageCount = reader.varint(), messageCount <= Self.counterMax,
      let unreadCount = reader.varint(), unreadCount <= Self.counterMax,
      let nextLocalOrder = reader.varint(), nextLocalOrder <= Self.counterMax,
      let markOrdinal = reader.varint(), markOrdinal <= Self.counterMax
    else { return nil }
    self.created = Int64(bitPattern: created)
    self.messageCount = Int(messageCount)
    self.unreadCount = Int(unreadCount)
    self.nextLocalOrder = Int64(nextLocalOrder)
    self.markOrdinal = markOrdinal
    if flags & Self.hasMark != 0 {
      guard let mark = Self.position(&reader) else { return nil }
      self.mark = mark
    }
    if flags & Self.hasLast != 0 {
      guard let activity = reader.uint64(), let position = Self.position(&reader),
        let sender = reader.varint(), sender <= UInt64(UInt32.max), let code = reader.byte(),
        let status = MessageStatus(rawValue: code)
      else { return nil }
      let text = reader.rest()
      guard text.count <= Preview.byteCountMax, text.isValidUTF8 else { return nil }
      self.activity = Int64(bitPattern: activity)
      // Unsafe: validated just above.
      last = Last(
        position: position, sender: UInt32(sender), status: status,
        text: unsafe text.uncheckedText())
    } else {
      guard reader.isAtEnd else { return nil }
    }
  }

  private static func position(_ reader: inout ByteReader) -> Position? {
    guard let byteCount = reader.uint16() else { return nil }
    return reader.take(Int(byteCount))?.position
  }

  /// Writes the summary.
  package func append(to buffer: inout ByteBuffer) {
    buffer.append(Self.tag)
    buffer.append((mark == nil ? 0 : Self.hasMark) | (last == nil ? 0 : Self.hasLast))
    buffer.append(littleEndian: UInt64(bitPattern: created))
    buffer.append(varint: UInt64(messageCount))
    buffer.append(varint: UInt64(unreadCount))
    buffer.append(varint: UInt64(nextLocalOrder))
    buffer.append(varint: markOrdinal)
    if let mark { Self.append(mark, to: &buffer) }
    if let last {
      buffer.append(littleEndian: UInt64(bitPattern: activity))
      Self.append(last.position, to: &buffer)
      buffer.append(varint: UInt64(last.sender))
      buffer.append(last.status.rawValue)
      buffer.append(Preview.cut(last.text))
    }
  }

  private static func append(_ position: Position, to buffer: inout ByteBuffer) {
    let lengthOffset = buffer.count
    buffer.append(littleEndian: UInt16(0))
    buffer.append(position)
    buffer.mutableBytes.store(UInt16(buffer.count - lengthOffset - 2), at: lengthOffset)
  }
}
