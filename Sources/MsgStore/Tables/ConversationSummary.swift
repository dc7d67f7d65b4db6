package import PageFile

/// The part of a conversation that changes with every message: counters, marks, the last message.
///
/// See docs/message-format.md, C-1 … C-6.
///
///     size  field
///        1  tag: 3
///     1–2   flags, varint
///        8  created: microseconds since 1970
///     1–10  message count, varint
///     1–10  unread count, varint
///     1–10  unread mention count, varint
///     1–10  next local order, varint
///     1–10  mark ordinal, varint
///      2+n  with flag 1: position of the read mark, its byte count first
///      2+n  with flag 4: position of the read mark told by the server, its byte count first
///        8  with flag 128: deleted up to
///       16  with flag 256: first and last of the newest run of known sequences
///        8  with flag 2: activity, microseconds since 1970
///      2+n  with flag 2: position of the last message, its byte count first
///     1–10  with flag 2: number of its sender, varint
///        1  with flag 2: its status
///        1  with flag 2: shown content: 0 text, 1 a retraction, 2 an attachment
///      1+n  with an attachment: its kind
///      2+n  with an attachment: its file's name, its byte count first
///      2+n  with an attachment: reference of its thumbnail, its byte count first
///      1+n  with flag 2: the beginning of its text, at most 160 bytes, its byte count first
///        n  zeros up to the end
///
/// With tag 2, which the first stores of schema version 2 have, the text ends the record and there
/// are no zeros.
///
/// Flags without a field: 8 pinned, 16 muted, 32 archived, 64 hidden.
///
/// The summary is small and separate from the details, so that a message in a group of thousands
/// writes as little as one between two members. The zeros let it keep its size while the length of
/// the last message's text changes. It then stays in its place in the page, and a commit logs only
/// the bytes that differ.
package struct ConversationSummary: Hashable {
  package static let tag: UInt8 = 3
  private static let firstTag: UInt8 = 2
  /// A limit that no counter reaches in the life of a store.
  ///
  /// Counting on from it cannot overflow.
  private static let maximumCounter: UInt64 = 1 << 60

  /// The flags of a summary: its optional fields and its marks.
  package struct Flags: OptionSet, Hashable, Sendable {
    package let rawValue: UInt16
    package init(rawValue: UInt16) { self.rawValue = rawValue }
    static let mark = Flags(rawValue: 1)
    static let last = Flags(rawValue: 2)
    static let toldMark = Flags(rawValue: 4)
    package static let pinned = Flags(rawValue: 8)
    package static let muted = Flags(rawValue: 16)
    package static let archived = Flags(rawValue: 32)
    /// Deleted until something newer arrives: not in any list, and not found by name.
    package static let hidden = Flags(rawValue: 64)
    static let deletedUpTo = Flags(rawValue: 128)
    static let sequences = Flags(rawValue: 256)

    static let known: UInt64 = 511
    static let plain: Flags = [.pinned, .muted, .archived, .hidden]
  }

  /// The last message, as the list shows it.
  ///
  /// The text may be uncut until the summary is written.
  package struct Last: Hashable {
    package var position: MessagePosition
    package var sender: UInt32
    package var status: MessageStatus
    package var text: String
    package var isDeleted = false
    package var attachment: PreviewAttachment?

    /// Replaces the last message with one that has only a text.
    mutating func replace(with message: StoredMessage, at position: MessagePosition) {
      self.position = position
      sender = message.sender
      status = message.status
      text = message.text
      isDeleted = false
      if case .some = attachment { attachment = nil }
    }

    package init(position: MessagePosition, sender: UInt32, status: MessageStatus, text: String) {
      self.position = position
      self.sender = sender
      self.status = status
      self.text = text
    }
  }

  /// The flags pinned, muted, archived, and hidden.
  package var marks: Flags = []
  /// The time at which the conversation was created.
  ///
  /// The list shows it under this time while it has no messages.
  package var created: Int64
  package var messageCount = 0
  package var unreadCount = 0
  /// The number of unread messages that mention the local member.
  package var mentionCount = 0
  package var nextLocalOrder: Int64 = 0
  /// The ordinal that is incremented whenever something is marked as read.
  package var markOrdinal: UInt64 = 0
  /// The read mark made here.
  ///
  /// It covers everything up to it except messages that came below it afterwards.
  package var mark: MessagePosition?
  /// The read mark told by the server: the local member has read everything up to it.
  package var toldMark: MessagePosition?
  /// The server time up to which messages were deleted with the conversation.
  ///
  /// They stay deleted.
  package var deletedUpTo: Int64?
  /// The newest run of known sequences.
  ///
  /// The older runs are in a tree.
  package var sequences: ClosedRange<Int64>?
  /// The latest time of any message.
  ///
  /// It is meaningful only while there is a last message.
  package var activity: Int64 = 0
  package var last: Last?

  package init(created: Int64) { self.created = created }

  /// The time under which the list shows the conversation.
  var listTime: Int64 { hasLast && !StoreDefect.listedByCreation.isPlanted ? activity : created }

  /// True if there is a last message.
  ///
  /// Comparing it with nil would copy it.
  var hasLast: Bool {
    if case .some = last { return true }
    return false
  }

  /// Returns true if a message with only a text is certain to be the last one: it is acknowledged,
  /// and it follows an acknowledged last message.
  func isFollowed(by message: StoredMessage, at position: MessagePosition) -> Bool {
    guard case .some(let last) = last else { return false }
    return !position.place.isPending && !last.position.place.isPending
      && last.position < position
      && message.traits.marks.isDisjoint(with: [.unsent, .hidden, .attachments])
  }

  private var flags: Flags {
    var flags = marks.intersection(.plain)
    // Comparing these with nil would copy them.
    if case .some = mark { flags.insert(.mark) }
    if hasLast { flags.insert(.last) }
    if case .some = toldMark { flags.insert(.toldMark) }
    if deletedUpTo != nil { flags.insert(.deletedUpTo) }
    if sequences != nil { flags.insert(.sequences) }
    return flags
  }

  /// Decodes a summary.
  ///
  /// Returns nil if the bytes are not a valid summary; never traps.
  package init?(_ bytes: Bytes) {
    var reader = ByteReader(bytes)
    guard let tag = reader.byte(), tag == Self.tag || tag == Self.firstTag,
      let rawFlags = reader.varint(), rawFlags <= Flags.known,
      let created = reader.uint64(),
      let messageCount = reader.varint(), messageCount <= Self.maximumCounter,
      let unreadCount = reader.varint(), unreadCount <= Self.maximumCounter,
      let mentionCount = reader.varint(), mentionCount <= Self.maximumCounter,
      let nextLocalOrder = reader.varint(), nextLocalOrder <= Self.maximumCounter,
      let markOrdinal = reader.varint(), markOrdinal <= Self.maximumCounter
    else { return nil }
    let flags = Flags(rawValue: UInt16(rawFlags))
    marks = flags.intersection(.plain)
    self.created = Int64(bitPattern: created)
    self.messageCount = Int(messageCount)
    self.unreadCount = Int(unreadCount)
    self.mentionCount = Int(mentionCount)
    self.nextLocalOrder = Int64(nextLocalOrder)
    self.markOrdinal = markOrdinal
    guard readMarks(flags, &reader) else { return nil }
    if flags.contains(.last) {
      guard let activity = reader.uint64(),
        let last = Last(&reader, endsWithText: tag == Self.firstTag)
      else { return nil }
      self.activity = Int64(bitPattern: activity)
      self.last = last
    }
    let rest = reader.rest()
    guard rest.firstNonzero(at: 0) == rest.count, tag == Self.tag || rest.count == 0 else {
      return nil
    }
  }

  private mutating func readMarks(_ flags: Flags, _ reader: inout ByteReader) -> Bool {
    if flags.contains(.mark) {
      guard let mark = reader.position() else { return false }
      self.mark = mark
    }
    if flags.contains(.toldMark) {
      guard let mark = reader.position() else { return false }
      toldMark = mark
    }
    if flags.contains(.deletedUpTo) {
      guard let time = reader.uint64() else { return false }
      deletedUpTo = Int64(bitPattern: time)
    }
    if flags.contains(.sequences) {
      guard let first = reader.uint64(), let last = reader.uint64(),
        Int64(bitPattern: first) <= Int64(bitPattern: last)
      else { return false }
      sequences = Int64(bitPattern: first)...Int64(bitPattern: last)
    }
    return true
  }

  /// Cuts the last message's text to the length that a list shows.
  mutating func cutPreview() {
    guard let last, last.text.utf8.count > ConversationPreview.maximumByteCount else { return }
    self.last?.text = ConversationPreview.cut(last.text)
  }

  /// The unit of a summary's byte count.
  ///
  /// Up to the limit, a summary does not shrink.
  private static let roomUnit = 16
  private static let maximumKeptRoom = 512

  /// Appends the summary.
  ///
  /// - Parameter byteCount: The byte count of the summary that it replaces, or 0.
  package func append(to buffer: inout ByteBuffer, inPlaceOf byteCount: Int = 0) {
    let start = buffer.count
    buffer.append(Self.tag)
    buffer.append(varint: UInt64(flags.rawValue))
    buffer.append(time: created)
    buffer.append(varint: UInt64(messageCount))
    buffer.append(varint: UInt64(unreadCount))
    buffer.append(varint: UInt64(mentionCount))
    buffer.append(varint: UInt64(nextLocalOrder))
    buffer.append(varint: markOrdinal)
    if let mark { buffer.append(measured: mark) }
    if let toldMark { buffer.append(measured: toldMark) }
    if let deletedUpTo { buffer.append(time: deletedUpTo) }
    if let sequences {
      buffer.append(time: sequences.lowerBound)
      buffer.append(time: sequences.upperBound)
    }
    if let last {
      buffer.append(time: activity)
      last.append(to: &buffer)
    }
    let written = buffer.count - start
    let room = max(min(byteCount, Self.maximumKeptRoom), written)
    buffer.append(zeros: (room + Self.roomUnit - 1) / Self.roomUnit * Self.roomUnit - written)
  }
}

extension ConversationSummary.Last {
  private static let showsText: UInt8 = 0
  private static let showsDeleted: UInt8 = 1
  private static let showsAttachment: UInt8 = 2

  fileprivate init?(_ reader: inout ByteReader, endsWithText: Bool) {
    guard let position = reader.position(), let sender = reader.varint(),
      sender <= UInt64(UInt32.max), let code = reader.byte(),
      let status = MessageStatus(rawValue: code), let shown = reader.byte(),
      shown <= Self.showsAttachment
    else { return nil }
    var attachment: PreviewAttachment?
    if shown == Self.showsAttachment {
      guard let kind = reader.byte().flatMap(AttachmentKind.init(rawValue:)),
        let name = reader.text(maximumByteCount: PreviewAttachment.maximumFileNameByteCount),
        let thumbnail = reader.text(maximumByteCount: PreviewAttachment.maximumThumbnailByteCount)
      else { return nil }
      attachment = PreviewAttachment(kind: kind, fileName: name, thumbnail: thumbnail)
    }
    let byteCount = endsWithText ? reader.remainingByteCount : reader.byte().map { Int($0) }
    guard let byteCount, byteCount <= ConversationPreview.maximumByteCount,
      let text = reader.take(byteCount),
      text.isText
    else { return nil }
    // Unsafe: validated just above.
    self.init(
      position: position, sender: UInt32(sender), status: status,
      text: unsafe text.uncheckedText())
    isDeleted = shown == Self.showsDeleted
    self.attachment = attachment
  }

  fileprivate func append(to buffer: inout ByteBuffer) {
    buffer.append(measured: position)
    buffer.append(varint: UInt64(sender))
    buffer.append(status.rawValue)
    if isDeleted {
      buffer.append(Self.showsDeleted)
    } else if let attachment {
      buffer.append(Self.showsAttachment)
      buffer.append(attachment.kind.rawValue)
      buffer.append(measured: attachment.fileName)
      buffer.append(measured: attachment.thumbnail)
    } else {
      buffer.append(Self.showsText)
    }
    let text = ConversationPreview.cut(text)
    buffer.append(UInt8(text.utf8.count))
    buffer.append(text)
  }
}

extension ByteReader {
  /// Reads a position, prefixed by its byte count.
  mutating func position() -> MessagePosition? {
    guard let byteCount = uint16() else { return nil }
    return take(Int(byteCount))?.position
  }

  /// Reads a text, prefixed by its byte count.
  ///
  /// Returns nil if it is too long or not valid text.
  mutating func text(maximumByteCount: Int) -> String? {
    guard let byteCount = uint16(), byteCount <= maximumByteCount, let text = take(Int(byteCount)),
      text.isText
    else { return nil }
    // Unsafe: validated just above.
    return unsafe text.uncheckedText()
  }
}

extension ByteBuffer {
  /// Appends a position, prefixed by its byte count.
  mutating func append(measured position: MessagePosition) {
    let lengthOffset = count
    append(littleEndian: UInt16(0))
    append(position)
    mutableBytes.store(UInt16(count - lengthOffset - 2), at: lengthOffset)
  }

  /// Appends a text of at most 65,535 bytes, prefixed by its byte count.
  mutating func append(measured text: String) {
    append(littleEndian: UInt16(text.utf8.count))
    append(text)
  }
}
